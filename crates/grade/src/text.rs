//! Text as graders compare it: the white space of Python, and the text of a JSON value.
//!
//! *Invariant:* one value has one text.

use heldset_core::canonical;
use heldset_core::json;
use heldset_core::value::{Object, Value};

/// What Python takes for white space: all that Unicode does, and four separators of ASCII.
pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// The text without white space around it, as Python strips it.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Lower case by the rules of Unicode, the final sigma included, as Python does it.
pub(crate) fn lower(text: &str) -> String {
    text.to_lowercase()
}

/// Text as it is, all else as canonical JSON.
pub(crate) fn text_of(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_string(),
        value => String::from_utf8_lossy(&canonical::bytes(value)).into_owned(),
    }
}

/// The value that a text spells, or the text itself, without white space around it.
pub(crate) fn json_of(text: &str) -> Value<'static> {
    let text = strip(text);
    json::read(text).map_or_else(|_| Value::from(text.to_owned()), Value::into_owned)
}

/// The number, if the value is one.
pub(crate) fn number_of(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.as_f64()),
        _ => None,
    }
}

/// What a dotted path leads to: a key of that whole name first, else step by step; a number is a place in a list.
pub(crate) fn lookup<'v, 'a>(fields: &'v Object<'a>, path: &str) -> Option<&'v Value<'a>> {
    if let Some(value) = fields.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    rest.split('.').try_fold(fields.get(first)?, |value, step| match value {
        Value::Object(object) => object.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A finite number as a value; what is not finite is null.
pub(crate) fn number(number: f64) -> Value<'static> {
    heldset_core::number::Number::from_f64(number).map_or(Value::Null, Value::Number)
}
