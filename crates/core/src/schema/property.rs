//! One property of a JSON Schema as a field: its type, whether it may be null, and what more is asked of it.
//!
//! *Invariant:* what the type does not say stays in `rest`.

use super::expand::{bare, without_notes};
use super::json_schema::object_schema;
use super::{Schema, Type};
use crate::value::{Object, Value};

/// What a part of a JSON Schema says of a value.
pub(super) struct Property {
    pub(super) kind: Type,
    pub(super) nullable: bool,
    pub(super) rest: Object<'static>,
    /// The fields inside it, of a mapping or of the mappings in a list.
    pub(super) inner: Option<Schema>,
}

/// In `rest`: that no element of a list may be null.
const NO_NULLS: &str = "elements_not_null";

impl Property {
    /// Reads a part whose references are written out.
    pub(super) fn read(part: &Value<'_>) -> Property {
        match part {
            Value::Object(object) => read(without_notes(object)),
            Value::Bool(false) => {
                let rest = std::iter::once(("not".into(), Value::Object(Object::new()))).collect();
                Property { kind: Type::Json, nullable: false, rest, inner: None }
            }
            _ => Property { kind: Type::Json, nullable: true, rest: Object::new(), inner: None },
        }
    }
}

fn read(mut part: Object<'static>) -> Property {
    if let Some(property) = choice(&mut part) {
        return property;
    }
    let is_null = part.get("type").and_then(Value::as_str) == Some("null");
    let (kinds, mut nullable) = kinds_of(&mut part);
    if let Some(Value::Array(values)) = part.get("enum") {
        nullable &= values.contains(&Value::Null);
    }
    let mut inner = None;
    let kind = match kinds.as_slice() {
        ["string"] => text_type(&mut part),
        ["integer"] => Type::Integer,
        ["number"] => Type::Number,
        ["boolean"] => Type::Boolean,
        ["array"] => {
            let (element, fields) = element(&mut part);
            inner = fields;
            Type::List(element.map(Box::new))
        }
        ["object"] => {
            inner = fields_inside(&mut part);
            Type::Json
        }
        _ => Type::Json,
    };
    if kinds.len() > 1 && kind == Type::Json && !all_types(&kinds) {
        part.set("type", Value::Array(kinds.iter().map(|kind| Value::from(*kind)).collect()));
    }
    // That it is a mapping, or null alone, our types cannot say.
    if kinds == ["object"] || is_null {
        part.set("type", if is_null { "null" } else { "object" }.into());
    }
    let rest = part.into_iter().map(|(name, value)| (name, bare(&value))).collect();
    Property { kind, nullable, rest, inner }
}

/// The types that are named, without null, in order; and whether null is among them. What is not named is guessed by
/// the values that are listed.
fn kinds_of(part: &mut Object<'static>) -> (Vec<&'static str>, bool) {
    const KNOWN: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];
    let known = |name: &str| KNOWN.iter().copied().find(|known| *known == name);
    let (mut kinds, nullable): (Vec<&'static str>, bool) = match part.remove("type") {
        Some(Value::String(name)) => (known(&name).into_iter().collect(), name == "null"),
        Some(Value::Array(names)) => {
            let texts: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            (texts.iter().filter_map(|name| known(name)).collect(), texts.contains(&"null"))
        }
        _ => match part.get("enum") {
            Some(Value::Array(values)) if values.iter().all(|value| value.as_str().is_some() || value.is_null()) => {
                (vec!["string"], true)
            }
            _ if part.contains("properties") => (vec!["object"], true),
            _ => (Vec::new(), true),
        },
    };
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.contains(&"number") {
        kinds.retain(|kind| *kind != "integer");
    }
    (kinds, nullable)
}

fn all_types(kinds: &[&str]) -> bool {
    kinds == ["array", "boolean", "number", "object", "string"]
}

fn text_type(part: &mut Object<'static>) -> Type {
    if let Some(Value::Array(values)) = part.get("enum") {
        let texts: Vec<String> = values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if !texts.is_empty() && values.iter().all(|value| value.as_str().is_some() || value.is_null()) {
            part.remove("enum");
            return Type::Enum(texts);
        }
    }
    if part.get("format").and_then(Value::as_str) == Some("date-time") {
        part.remove("format");
        return Type::Timestamp;
    }
    Type::String
}

fn fields_inside(part: &mut Object<'static>) -> Option<Schema> {
    if !part.contains("properties") && !part.contains("required") {
        return None;
    }
    let names = ["properties", "required", "additionalProperties"];
    let inside = names.iter().filter_map(|name| Some(((*name).into(), part.get(name)?.clone()))).collect();
    names.iter().for_each(|name| drop(part.remove(name)));
    Some(object_schema(&inside))
}

/// The type of the elements of a list, and the fields inside them.
fn element(part: &mut Object<'static>) -> (Option<Type>, Option<Schema>) {
    if part.contains("prefixItems") {
        return (None, None);
    }
    let Some(items) = part.remove("items") else { return (None, None) };
    let Property { kind, nullable, rest, inner } = Property::read(&items);
    if !rest.is_empty() {
        part.set("items", Value::Object(rest));
    }
    if !nullable {
        part.set(NO_NULLS, Value::Bool(true));
    }
    (Some(kind), inner)
}

/// A choice of several parts. One of them or null is that one, which may be null.
fn choice(part: &mut Object<'static>) -> Option<Property> {
    if part.contains("type") {
        return None;
    }
    let name = ["anyOf", "oneOf"].into_iter().find(|name| matches!(part.get(name), Some(Value::Array(_))))?;
    let Some(Value::Array(parts)) = part.get(name) else { return None };
    let is_null = |part: &&Value<'_>| {
        part.as_object().is_some_and(|part| part.get("type").and_then(Value::as_str) == Some("null"))
    };
    let null = parts.iter().any(|part| is_null(&part));
    let others: Vec<&Value<'_>> = parts.iter().filter(|part| !is_null(part)).collect();
    let read: Vec<Property> = others.iter().map(|part| Property::read(part)).collect();
    let nullable = null || read.iter().any(|property| property.nullable);
    if read.len() == 1 {
        let property = read.into_iter().next()?;
        part.remove(name);
        let mut rest = property.rest;
        for (name, value) in std::mem::take(part) {
            let value = bare(&value);
            drop(rest.insert(name, value));
        }
        return Some(Property { nullable, rest, ..property });
    }
    let kind = match read.split_first() {
        Some((first, others)) if others.iter().all(|other| other.kind == first.kind) => first.kind.clone(),
        _ => Type::Json,
    };
    let rest = std::mem::take(part).into_iter().map(|(name, value)| (name, bare(&value))).collect();
    Some(Property { kind, nullable, rest, inner: None })
}
