//! Functions of SQL that look into JSON: `json_text(column, 'a.b')` and `json_number(column, 'a.b')`.
//!
//! *Invariant:* a path means what it means in a filter.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, StringArray};
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::prelude::SessionContext;
use heldset_core::filter::{Names, find};
use heldset_core::value::{Object, Value};
use heldset_core::{canonical, json};

/// Makes the functions known.
pub(crate) fn register(context: &SessionContext) {
    let arguments = || vec![DataType::Utf8, DataType::Utf8];
    let texts =
        |values: &[ColumnarValue]| apply(values, |found| Arc::new(found.iter().map(text_of).collect::<StringArray>()));
    let numbers = |values: &[ColumnarValue]| {
        apply(values, |found| Arc::new(found.iter().map(number_of).collect::<Float64Array>()))
    };
    context.register_udf(create_udf("json_text", arguments(), DataType::Utf8, Volatility::Immutable, Arc::new(texts)));
    context.register_udf(create_udf(
        "json_number",
        arguments(),
        DataType::Float64,
        Volatility::Immutable,
        Arc::new(numbers),
    ));
}

fn apply(values: &[ColumnarValue], array_of: impl Fn(&[Value<'static>]) -> ArrayRef) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(values)?;
    let texts = |array: &ArrayRef| array.as_string_opt::<i32>().cloned();
    let (Some(documents), Some(paths)) = (arrays.first().and_then(texts), arrays.get(1).and_then(texts)) else {
        return Err(DataFusionError::Execution("json_text and json_number take a text and a path".to_owned()));
    };
    let found = (0..documents.len()).map(|row| {
        if documents.is_null(row) || paths.is_null(row) {
            return Value::Null;
        }
        let Ok(value) = json::read(documents.value(row)) else { return Value::Null };
        let mut whole = Object::with_capacity(1);
        whole.set("it", value);
        let path = format!("it.{}", paths.value(row));
        find(&whole, &path, Names::Exact).cloned().unwrap_or(Value::Null).into_owned()
    });
    Ok(ColumnarValue::Array(array_of(&found.collect::<Vec<_>>())))
}

fn text_of(value: &Value<'static>) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.to_string()),
        value => String::from_utf8(canonical::bytes(value)).ok(),
    }
}

fn number_of(value: &Value<'static>) -> Option<f64> {
    if let Value::Number(number) = value { Some(number.as_f64()) } else { None }
}
