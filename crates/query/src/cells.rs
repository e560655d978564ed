//! The cells of one column in one part.
//!
//! *Invariant:* null means that the row has no such value.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Float64Type, Int64Type};
use heldset_core::json;
use heldset_core::number::Number;
use heldset_core::query::Kind;
use heldset_core::value::Value;

/// The cells of a column.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Text.
    Text(StringArray),
    /// Values of any kind, as JSON.
    Json(StringArray),
    /// Integers.
    Integer(Int64Array),
    /// Numbers.
    Number(Float64Array),
    /// True and false.
    Boolean(BooleanArray),
}

impl Cells {
    /// The cells that an array of this kind holds.
    pub fn of(kind: Kind, array: &ArrayRef) -> Option<Cells> {
        Some(match kind {
            Kind::Text => Cells::Text(array.as_string_opt::<i32>()?.clone()),
            Kind::Json => Cells::Json(array.as_string_opt::<i32>()?.clone()),
            Kind::Integer => Cells::Integer(array.as_primitive_opt::<Int64Type>()?.clone()),
            Kind::Number => Cells::Number(array.as_primitive_opt::<Float64Type>()?.clone()),
            Kind::Boolean => Cells::Boolean(array.as_boolean_opt()?.clone()),
        })
    }

    /// The kind of the cells.
    pub fn kind(&self) -> Kind {
        match self {
            Cells::Text(_) => Kind::Text,
            Cells::Json(_) => Kind::Json,
            Cells::Integer(_) => Kind::Integer,
            Cells::Number(_) => Kind::Number,
            Cells::Boolean(_) => Kind::Boolean,
        }
    }

    pub(crate) fn array(&self) -> ArrayRef {
        match self {
            Cells::Text(cells) | Cells::Json(cells) => std::sync::Arc::new(cells.clone()),
            Cells::Integer(cells) => std::sync::Arc::new(cells.clone()),
            Cells::Number(cells) => std::sync::Arc::new(cells.clone()),
            Cells::Boolean(cells) => std::sync::Arc::new(cells.clone()),
        }
    }

    pub(crate) fn nulls(&self) -> Option<NullBuffer> {
        self.array().nulls().cloned()
    }

    pub(crate) fn size(&self) -> usize {
        self.array().get_array_memory_size()
    }

    /// The value of a row; null where there is none.
    pub(crate) fn value(&self, row: usize) -> Value<'_> {
        let absent = match self {
            Cells::Text(cells) | Cells::Json(cells) => cells.is_null(row),
            Cells::Integer(cells) => cells.is_null(row),
            Cells::Number(cells) => cells.is_null(row),
            Cells::Boolean(cells) => cells.is_null(row),
        };
        if absent {
            return Value::Null;
        }
        match self {
            Cells::Text(cells) => Value::from(cells.value(row)),
            Cells::Json(cells) => json::read(cells.value(row)).unwrap_or(Value::Null),
            Cells::Integer(cells) => Value::from(cells.value(row)),
            Cells::Number(cells) => Number::from_f64(cells.value(row)).map_or(Value::Null, Value::Number),
            Cells::Boolean(cells) => Value::Bool(cells.value(row)),
        }
    }
}

/// Values as cells of one kind, if one kind holds them all.
pub(crate) fn uniform(values: &[Value<'_>]) -> Option<Cells> {
    let mut kind: Option<Kind> = None;
    for value in values {
        let found = match value {
            Value::Null => continue,
            Value::String(_) => Kind::Text,
            Value::Bool(_) => Kind::Boolean,
            Value::Number(number) if number.as_i64().is_some() => Kind::Integer,
            Value::Number(number) if number.as_u64().is_none() => Kind::Number,
            _ => return None,
        };
        kind = Some(kind.map_or(found, |kind| kind.with(found)));
    }
    let text = |value: &'_ Value<'_>| value.as_str().map(str::to_owned);
    Some(match kind.unwrap_or(Kind::Text) {
        Kind::Text => Cells::Text(values.iter().map(text).collect()),
        Kind::Boolean => {
            let flag = |value: &Value<'_>| if let Value::Bool(flag) = value { Some(*flag) } else { None };
            Cells::Boolean(values.iter().map(flag).collect())
        }
        Kind::Integer => Cells::Integer(values.iter().map(integer).collect()),
        Kind::Number => {
            let exact = |value: &Value<'_>| integer(value).is_none_or(|integer| integer.unsigned_abs() <= 1 << 53);
            if !values.iter().all(exact) {
                return None;
            }
            let number =
                |value: &Value<'_>| if let Value::Number(number) = value { Some(number.as_f64()) } else { None };
            Cells::Number(values.iter().map(number).collect())
        }
        Kind::Json => return None,
    })
}

fn integer(value: &Value<'_>) -> Option<i64> {
    if let Value::Number(number) = value { number.as_i64() } else { None }
}
