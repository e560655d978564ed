//! A JSON Schema with its own references written out, so that its fields can be read and compared.
//!
//! *Invariant:* ends whatever refers to what: after so many parts, references stay as they are.

use crate::value::{Object, Value};

/// How many parts are written out.
const BUDGET: usize = 20_000;
/// How deep references may lead.
const DEPTH: usize = 24;
/// What says nothing about which values are fit.
const NOTES: &[&str] = &[
    "title",
    "description",
    "$comment",
    "examples",
    "example",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
    "$id",
    "$anchor",
    "$vocabulary",
];

/// The schema with its references written out, and whether some stayed.
pub(super) fn expand(schema: &Value<'_>) -> (Value<'static>, bool) {
    let mut expanding = Expanding { root: schema, left: BUDGET, stayed: false };
    let expanded = expanding.value(schema, 0);
    (expanded, expanding.stayed)
}

/// The members that say which values are fit.
pub(super) fn without_notes(object: &Object<'_>) -> Object<'static> {
    let kept = object.iter().filter(|(name, _)| !NOTES.contains(name) && !name.starts_with("x-"));
    kept.map(|(name, value)| (name.to_owned().into(), value.clone().into_owned())).collect()
}

/// A part of a schema without notes, all the way down. What names fields is not taken for a keyword.
pub(super) fn bare(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Object(object) => {
            let members = without_notes(object).into_iter().map(|(name, value)| {
                let value = match (name.as_ref(), &value) {
                    ("enum" | "const" | "required", _) => value,
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                        Value::Object(named),
                    ) => Value::Object(named.iter().map(|(name, part)| (name.to_owned().into(), bare(part))).collect()),
                    _ => bare(&value),
                };
                (name, value)
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        other => other.clone().into_owned(),
    }
}

struct Expanding<'s, 'v> {
    root: &'s Value<'v>,
    left: usize,
    stayed: bool,
}

impl Expanding<'_, '_> {
    fn value(&mut self, value: &Value<'_>, depth: usize) -> Value<'static> {
        let spent = self.left == 0;
        self.left = self.left.saturating_sub(1);
        match value {
            Value::Object(object) if !spent => Value::Object(self.object(object, depth)),
            Value::Array(items) if !spent => Value::Array(items.iter().map(|item| self.value(item, depth)).collect()),
            other => {
                self.stayed |= spent;
                other.clone().into_owned()
            }
        }
    }

    fn object(&mut self, object: &Object<'_>, depth: usize) -> Object<'static> {
        let mut found = Object::new();
        for (name, value) in object.iter() {
            let value =
                if name == "enum" || name == "const" { value.clone().into_owned() } else { self.value(value, depth) };
            found.set(name.to_owned(), value);
        }
        let target = object.get("$ref").and_then(Value::as_str).map(str::to_owned);
        if let Some(target) = target {
            match find(self.root, &target) {
                Some(Value::Object(part)) if depth < DEPTH && self.left > 0 => {
                    found.remove("$ref");
                    let part = part.clone();
                    self.merge(&mut found, &part, depth);
                }
                _ => self.stayed = true,
            }
        }
        // Some generators wrap a reference like this to add a note to it.
        if let Some(Value::Array(parts)) = found.get("allOf")
            && let [Value::Object(part)] = parts.as_slice()
        {
            let part = part.clone();
            found.remove("allOf");
            part.into_iter().for_each(|(name, value)| drop(found.insert(name, value)));
        }
        found
    }

    fn merge(&mut self, found: &mut Object<'static>, part: &Object<'_>, depth: usize) {
        let part = self.object(part, depth + 1);
        part.into_iter().for_each(|(name, value)| drop(found.insert(name, value)));
    }
}

/// The part that a reference within the document means.
fn find<'r, 'v>(root: &'r Value<'v>, reference: &str) -> Option<&'r Value<'v>> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(root, |value, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match value {
            Value::Object(object) => object.get(&step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        }
    })
}
