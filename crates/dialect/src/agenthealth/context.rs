//! Context items: three shapes in the files, one in a case.
//!
//! *Invariant:* an item that has `content` stays as it is; no `type` is made up.

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use crate::map::Notes;

/// Adds the context of a test case.
pub(super) fn put<'a>(fields: &mut Object<'a>, value: Value<'a>, notes: &mut Notes<'_>) {
    notes.tally.as_is("context");
    let items = match value {
        Value::Array(items) => items,
        Value::Null => return fields.set("context", Value::Null),
        other => return notes.problem(case::wrong_type(Path::key("context"), "context", "a list", &other)),
    };
    let mut made = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let path = Path::key("context").then_index(index);
        match item {
            Value::Object(item) => made.push(Value::Object(item_of(item, &path, notes))),
            other => notes.problem(case::wrong_type(path.clone(), &path.to_string(), "a mapping", &other)),
        }
    }
    fields.set("context", Value::Array(made));
}

fn item_of<'a>(item: Object<'a>, path: &Path, notes: &mut Notes<'_>) -> Object<'a> {
    for name in ["type", "source", "description"] {
        if let Some(other) = item.get(name).filter(|value| !value.is_null() && value.as_str().is_none()) {
            notes.problem(wrong_member(path, name, "text", other));
        }
    }
    if let Some(other) = item.get("metadata").filter(|value| !value.is_null() && value.as_object().is_none()) {
        notes.problem(wrong_member(path, "metadata", "a mapping", other));
    }
    match (item.get("content"), item.get("value")) {
        (Some(Value::Null), None | Some(Value::Null)) => {
            notes.problem(wrong_member(path, "content", "text or JSON", &Value::Null));
        }
        (None, Some(Value::Null)) => notes.problem(wrong_member(path, "value", "text", &Value::Null)),
        (None, None) => notes.problem(
            Problem::new(Code::E015, path.clone(), format!("`{path}` has neither `value` nor `content`"))
                .help("write it as `{description, value}` or as `{type, source, content}`"),
        ),
        (Some(_), _) => {}
        (None, Some(_)) => return from_import(item, path, notes),
    }
    item
}

/// `{description, value, disposition}` to `{source, content, metadata}`; all else of the item stays.
fn from_import<'a>(item: Object<'a>, path: &Path, notes: &mut Notes<'_>) -> Object<'a> {
    notes.tally.mapped("context[].value", "context[].content");
    let has_source = item.contains("source");
    let mut made = Object::with_capacity(item.len());
    let mut disposition = None;
    for (name, value) in item {
        match name.as_ref() {
            "value" => made.set("content", value),
            "description" if !has_source => made.set("source", value),
            "disposition" => disposition = Some(value),
            _ => made.set(name, value),
        }
    }
    if let Some(disposition) = disposition {
        put_disposition(&mut made, disposition, path, notes);
    }
    made
}

fn put_disposition<'a>(item: &mut Object<'a>, disposition: Value<'a>, path: &Path, notes: &mut Notes<'_>) {
    if !matches!(item.get("metadata"), Some(Value::Object(_))) {
        item.set("metadata", Value::Object(Object::new()));
    }
    let Some(Value::Object(metadata)) = item.get_mut("metadata") else { return };
    if metadata.insert("disposition", disposition).is_err() {
        let message = format!("`{path}.disposition` gives a second value for `metadata.disposition`");
        notes.problem(Problem::new(Code::E018, path.then_key("disposition"), message).help("keep one of the two"));
    }
}

fn wrong_member(path: &Path, name: &str, expected: &str, found: &Value<'_>) -> Problem {
    case::wrong_type(path.then_key(name), &format!("{path}.{name}"), expected, found)
}
