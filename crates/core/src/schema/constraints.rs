//! What a JSON Schema asks beyond types: whether it asks for more than before.
//!
//! *Invariant:* what is not understood counts as asking for more.

use std::cmp::Ordering;

use crate::value::{Object, Value};

/// What is too small for them is refused.
const LOWER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/// What is too large for them is refused.
const UPPER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Without them, nothing is refused that was fit before.
const DROPPABLE: &[&str] = &[
    "pattern",
    "format",
    "multipleOf",
    "const",
    "uniqueItems",
    "enum",
    "elements_not_null",
    "propertyNames",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "contentEncoding",
    "contentMediaType",
    "allOf",
    "type",
    "anyOf",
    "oneOf",
    "$ref",
];

/// The keywords that differ, each with whether values that were fit may be refused now.
pub(super) fn compare(old: &Object<'_>, new: &Object<'_>) -> Vec<(String, bool)> {
    let names = old.iter().chain(new.iter().filter(|(name, _)| !old.contains(name))).map(|(name, _)| name);
    let differing = names.filter(|name| old.get(name) != new.get(name));
    differing.map(|name| (name.to_owned(), is_narrower(name, old.get(name), new.get(name)))).collect()
}

fn is_narrower(name: &str, old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> bool {
    let Some(new) = new else { return !(LOWER.contains(&name) || UPPER.contains(&name) || DROPPABLE.contains(&name)) };
    match (name, old, new) {
        ("items", Some(Value::Object(old)), Value::Object(new)) => {
            compare(old, new).iter().any(|(_, narrower)| *narrower)
        }
        ("items", None, Value::Object(new)) => compare(&Object::new(), new).iter().any(|(_, narrower)| *narrower),
        ("uniqueItems", _, Value::Bool(false)) => false,
        ("enum" | "type", Some(Value::Array(old)), Value::Array(new)) => !old.iter().all(|value| new.contains(value)),
        (_, Some(Value::Number(old)), Value::Number(new)) => {
            let order = old.as_f64().partial_cmp(&new.as_f64());
            match name {
                name if LOWER.contains(&name) => order != Some(Ordering::Greater),
                name if UPPER.contains(&name) => order != Some(Ordering::Less),
                _ => true,
            }
        }
        _ => true,
    }
}
