//! Reading a JSON Schema: its properties are fields, and the whole is kept as it was given.
//!
//! *Invariant:* nothing that a JSON Schema asks for is lost from sight: it is in the fields or in `rest`.

use super::expand::{bare, expand, without_notes};
use super::property::Property;
use super::read::fit;
use super::{Field, Schema, Type};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::value::{Object, Value};

/// Any of these makes a mapping a JSON Schema.
const KEYWORDS: &[&str] = &[
    "$schema",
    "$ref",
    "$defs",
    "$id",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
];
/// The names of types in a JSON Schema.
const TYPES: &[&str] = &["string", "integer", "number", "boolean", "object", "array", "null"];

/// Whether a mapping is meant as a JSON Schema.
pub(super) fn looks_like(object: &Object<'_>) -> bool {
    KEYWORDS.iter().any(|keyword| object.contains(keyword))
}

/// Reads a JSON Schema of records.
pub(super) fn read(value: &Value<'_>) -> Result<Schema, Vec<Problem>> {
    let (expanded, stayed) = expand(value);
    let root = expanded.as_object().expect("a mapping stays a mapping");
    let mut problems = Vec::new();
    match root.get("type") {
        None => {}
        Some(Value::String(kind)) if kind == "object" => {}
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind.as_str() == Some("object")) => {}
        Some(_) => {
            let message = "records are mappings, and this schema is for another type";
            let help = "write `\"type\": \"object\"` and the fields under `properties`";
            problems.push(Problem::new(Code::E037, Path::key("type"), message).help(help));
        }
    }
    check_object(value.as_object().unwrap_or(&Object::new()), &Path::root(), &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut schema = object_schema(root);
    if !stayed {
        schema.rest.remove("$defs");
        schema.rest.remove("definitions");
    }
    Ok(Schema { given: Some(value.clone().into_owned()), ..schema })
}

/// The fields that a schema of a mapping declares.
pub(super) fn object_schema(object: &Object<'_>) -> Schema {
    let mut rest = without_notes(object);
    rest.remove("type");
    let properties = rest.remove("properties");
    let required = rest.remove("required");
    let closed = rest.get("additionalProperties") == Some(&Value::Bool(false));
    if matches!(rest.get("additionalProperties"), Some(Value::Bool(_))) {
        rest.remove("additionalProperties");
    }
    let required: Vec<String> = match &required {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let mut fields: Vec<Field> = Vec::new();
    if let Some(Value::Object(properties)) = &properties {
        let field = |(name, part): (&str, &Value<'_>)| field_of(name, part, required.iter().any(|known| known == name));
        fields.extend(properties.iter().map(field));
    }
    for name in required {
        if fields.iter().all(|field| field.name != name) {
            fields.push(Field { nullable: true, ..Field::new(name, Type::Json, true) });
        }
    }
    let rest = rest.into_iter().map(|(name, value)| (name, bare(&value))).collect();
    Schema { fields, closed, rest, given: None }
}

fn field_of(name: &str, part: &Value<'_>, required: bool) -> Field {
    let note = |key: &str| part.as_object().and_then(|part| part.get(key)).and_then(Value::as_str).map(str::to_owned);
    let Property { kind, nullable, rest, inner } = Property::read(part);
    Field {
        name: name.to_owned(),
        kind,
        description: note("description"),
        required,
        visibility: note("x-visibility"),
        nullable,
        rest,
        inner: inner.map(Box::new),
    }
}

/// The schema with only some of its properties, and nothing that might name another.
pub(super) fn only(given: &Value<'static>, fields: &[Field]) -> Value<'static> {
    let (expanded, _) = expand(given);
    let Value::Object(root) = expanded else { return expanded };
    let seen = |name: &str| fields.iter().any(|field| field.name == name);
    let mut object = Object::new();
    for (name, value) in root {
        let value = match (name.as_ref(), value) {
            ("properties", Value::Object(properties)) => {
                Value::Object(properties.into_iter().filter(|(name, _)| seen(name)).collect())
            }
            ("required", Value::Array(names)) => {
                let names: Vec<_> = names.into_iter().filter(|name| name.as_str().is_some_and(seen)).collect();
                // Nothing left is as if nothing was ever said.
                if names.is_empty() {
                    continue;
                }
                Value::Array(names)
            }
            ("$schema" | "type", value) | ("additionalProperties", value @ Value::Bool(_)) => value,
            _ => continue,
        };
        object.set(name, value);
    }
    Value::Object(object)
}

/// What can be seen to be wrong with a part of a JSON Schema for a mapping.
fn check_object(object: &Object<'_>, path: &Path, problems: &mut Vec<Problem>) {
    let mut wrong = |path: Path, message: String, help: &str| {
        problems.push(Problem::new(Code::E037, path, message).help(help));
    };
    match object.get("required") {
        Some(Value::Array(names)) if names.iter().all(|name| name.as_str().is_some()) => {}
        None => {}
        Some(_) => {
            let help = "write `\"required\": [\"id\", \"score\"]` beside `properties`";
            wrong(path.then_key("required"), "`required` is a list of names".to_owned(), help);
        }
    }
    let properties = match object.get("properties") {
        None => return,
        Some(Value::Object(properties)) => properties,
        Some(other) => {
            let message = format!("`properties` is a mapping, not {}", other.type_name());
            return wrong(path.then_key("properties"), message, "write `{\"score\": {\"type\": \"number\"}}`");
        }
    };
    let path = path.then_key("properties");
    for (name, part) in properties.iter() {
        let path = path.then_key(name);
        if let Some(why) = fit(name) {
            let message = format!("the field name `{}` {why}", name.escape_debug());
            problems.push(Problem::new(Code::E037, path.clone(), message).help("choose another name"));
        }
        match part {
            Value::Bool(_) => {}
            Value::Object(part) => {
                if name == "id" && part.contains("x-visibility") {
                    let message = "the `id` always has the label of its split";
                    let place = path.then_key("x-visibility");
                    problems.push(Problem::new(Code::E037, place, message).help("leave `x-visibility` out"));
                }
                check_type(part, &path, problems);
                check_object(part, &path, problems);
                if let Some(Value::Object(items)) = part.get("items") {
                    check_type(items, &path.then_key("items"), problems);
                    check_object(items, &path.then_key("items"), problems);
                }
            }
            other => {
                let message = format!("a property is a mapping, not {}", other.type_name());
                problems.push(Problem::new(Code::E037, path, message).help("write `{\"type\": \"number\"}`"));
            }
        }
    }
}

fn check_type(part: &Object<'_>, path: &Path, problems: &mut Vec<Problem>) {
    let named: Vec<&str> = match part.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    for name in named.into_iter().filter(|name| !TYPES.contains(name)) {
        let near = match name {
            "timestamp" => Some("string` with `\"format\": \"date-time\""),
            "json" => Some("object"),
            "list" => Some("array"),
            name => nearest(name, TYPES.iter().copied()),
        };
        let help = near.map_or_else(
            || format!("use one of {}", crate::case::quoted(TYPES)),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("unknown type `{name}`");
        problems.push(Problem::new(Code::E037, path.then_key("type"), message).help(help));
    }
}
