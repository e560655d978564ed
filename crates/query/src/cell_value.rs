//! What a statement gives, as values.
//!
//! *Invariant:* nothing is rounded: what no number holds exactly comes out as text.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use heldset_core::json;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};

use crate::sql::Answer;

impl Answer {
    /// The rows, each with a value for every column.
    pub fn rows(&self) -> impl Iterator<Item = Vec<Value<'static>>> + '_ {
        self.batches.iter().flat_map(move |batch| {
            (0..batch.num_rows()).map(move |row| {
                let columns = batch.columns().iter().zip(&self.columns);
                columns.map(|(column, (_, is_json))| cell(column, row, *is_json)).collect()
            })
        })
    }
}

fn cell(array: &ArrayRef, row: usize, is_json: bool) -> Value<'static> {
    if array.is_null(row) || array.data_type() == &DataType::Null {
        return Value::Null;
    }
    macro_rules! integer {
        ($type:ty) => {
            Value::Number(Number::from_i64(i64::from(array.as_primitive::<$type>().value(row))))
        };
    }
    let text = |text: &str| match is_json {
        true => json::read(text).map_or_else(|_| Value::from(text.to_owned()), Value::into_owned),
        false => Value::from(text.to_owned()),
    };
    match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Int8 => integer!(Int8Type),
        DataType::Int16 => integer!(Int16Type),
        DataType::Int32 => integer!(Int32Type),
        DataType::Int64 => integer!(Int64Type),
        DataType::UInt8 => integer!(UInt8Type),
        DataType::UInt16 => integer!(UInt16Type),
        DataType::UInt32 => integer!(UInt32Type),
        DataType::UInt64 => Value::Number(Number::from_u64(array.as_primitive::<UInt64Type>().value(row))),
        DataType::Float32 => double(f64::from(array.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => double(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => text(array.as_string_view().value(row)),
        DataType::List(_) => items(&array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => items(&array.as_list::<i64>().value(row)),
        DataType::Struct(fields) => {
            let inner = array.as_struct();
            let member = |(at, field): (usize, &std::sync::Arc<arrow::datatypes::Field>)| {
                (field.name().clone().into(), cell(inner.column(at), row, false))
            };
            Value::Object(fields.iter().enumerate().map(member).collect::<Object<'static>>())
        }
        _ => shown(array, row),
    }
}

fn items(array: &ArrayRef) -> Value<'static> {
    Value::Array((0..array.len()).map(|row| cell(array, row, false)).collect())
}

fn double(number: f64) -> Value<'static> {
    Number::from_f64(number).map_or_else(|_| Value::from(number.to_string()), Value::Number)
}

/// Decimals as numbers where they are exact, all else as text.
fn shown(array: &ArrayRef, row: usize) -> Value<'static> {
    let formatter = ArrayFormatter::try_new(array, &FormatOptions::default());
    let text = formatter.map(|formatter| formatter.value(row).to_string()).unwrap_or_default();
    let is_decimal = matches!(array.data_type(), DataType::Decimal128(..) | DataType::Decimal256(..));
    let exact = Number::from_literal(&text).ok().filter(|number| is_decimal && number.to_string() == text);
    exact.map_or(Value::from(text), Value::Number)
}
