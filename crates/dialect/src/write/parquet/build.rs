//! Columns that grow value by value.

use std::io;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, UInt64Builder};
use heldset_core::canonical;
use heldset_core::value::Value;

use crate::write::layout::unobserved;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    Text,
    Integer,
    Unsigned,
    Double,
    Boolean,
    Texts,
    /// Anything, as canonical JSON.
    Json,
}

/// A column that grows.
pub(super) enum Builder {
    Text(StringBuilder),
    Integer(Int64Builder),
    Unsigned(UInt64Builder),
    Double(Float64Builder),
    Boolean(BooleanBuilder),
    Texts(ListBuilder<StringBuilder>),
    Json(StringBuilder),
}

impl Builder {
    pub(super) fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Text => Builder::Text(StringBuilder::new()),
            ColumnType::Integer => Builder::Integer(Int64Builder::new()),
            ColumnType::Unsigned => Builder::Unsigned(UInt64Builder::new()),
            ColumnType::Double => Builder::Double(Float64Builder::new()),
            ColumnType::Boolean => Builder::Boolean(BooleanBuilder::new()),
            ColumnType::Texts => Builder::Texts(ListBuilder::new(StringBuilder::new())),
            ColumnType::Json => Builder::Json(StringBuilder::new()),
        }
    }

    /// Adds the cell of a row and tells how many bytes it takes.
    pub(super) fn append(&mut self, value: Option<&Value<'_>>, name: &str) -> io::Result<usize> {
        let Some(value) = value else {
            self.append_absent();
            return Ok(1);
        };
        match (self, value) {
            (Builder::Text(texts), Value::String(text)) => {
                texts.append_value(text);
                return Ok(text.len());
            }
            (Builder::Json(texts), value) => {
                let bytes = canonical::bytes(value);
                texts.append_value(String::from_utf8_lossy(&bytes));
                return Ok(bytes.len());
            }
            (Builder::Texts(lists), Value::Array(items)) => return append_list(lists, items, name),
            (Builder::Boolean(flags), Value::Bool(flag)) => flags.append_value(*flag),
            (Builder::Double(numbers), Value::Number(number)) => numbers.append_value(number.as_f64()),
            (Builder::Integer(numbers), Value::Number(number)) => {
                numbers.append_value(number.as_i64().ok_or_else(|| unobserved(name))?);
            }
            (Builder::Unsigned(numbers), Value::Number(number)) => {
                numbers.append_value(number.as_u64().ok_or_else(|| unobserved(name))?);
            }
            _ => return Err(unobserved(name)),
        }
        Ok(8)
    }

    fn append_absent(&mut self) {
        match self {
            Builder::Text(texts) | Builder::Json(texts) => texts.append_null(),
            Builder::Integer(numbers) => numbers.append_null(),
            Builder::Unsigned(numbers) => numbers.append_null(),
            Builder::Double(numbers) => numbers.append_null(),
            Builder::Boolean(flags) => flags.append_null(),
            Builder::Texts(lists) => lists.append_null(),
        }
    }

    /// The rows so far as an array; the next ones start anew.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(texts) | Builder::Json(texts) => Arc::new(texts.finish()),
            Builder::Integer(numbers) => Arc::new(numbers.finish()),
            Builder::Unsigned(numbers) => Arc::new(numbers.finish()),
            Builder::Double(numbers) => Arc::new(numbers.finish()),
            Builder::Boolean(flags) => Arc::new(flags.finish()),
            Builder::Texts(lists) => Arc::new(lists.finish()),
        }
    }
}

fn append_list(lists: &mut ListBuilder<StringBuilder>, items: &[Value<'_>], name: &str) -> io::Result<usize> {
    let mut bytes = 8;
    for item in items {
        let text = item.as_str().ok_or_else(|| unobserved(name))?;
        bytes += text.len();
        lists.values().append_value(text);
    }
    lists.append(true);
    Ok(bytes)
}
