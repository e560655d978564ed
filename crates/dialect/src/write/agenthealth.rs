//! AgentHealth import files: a list of test cases.
//!
//! *Invariant:* a field that AgentHealth's own names cannot carry is written under its canonical name, which the
//! reader keeps.

use heldset_core::canonical;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};

use super::loss::losses;
use super::rows::{JsonListWriter, RowWriter, Written, in_order};
use crate::agenthealth::AgentHealthMapper;
use crate::map::IdRule;
use crate::report::DatasetInfo;

/// AgentHealth test cases as one JSON list.
pub(crate) struct AgentHealthWriter;

/// The fields that come first, in this order.
const FIRST: &[&str] = &[
    "name",
    "description",
    "category",
    "subcategory",
    "difficulty",
    "input",
    "context",
    "tools",
    "expected_outcomes",
    "expected_trajectory",
    "labels",
    "tags",
];

impl RowWriter for AgentHealthWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        let case = test_case_of(record);
        let mut bytes = Vec::with_capacity(256);
        canonical::write_entries(case.iter(), &mut bytes);
        let losses = losses(record, Value::Object(case), &AgentHealthMapper { id: IdRule::Auto });
        Written { bytes, losses }
    }

    fn head(&self, info: &DatasetInfo) -> Vec<u8> {
        JsonListWriter.head(info)
    }

    fn between(&self) -> &'static str {
        JsonListWriter.between()
    }

    fn tail(&self) -> &'static str {
        JsonListWriter.tail()
    }
}

/// The test case that a record is written as. Of two fields with one name the first stays: the other is a loss.
fn test_case_of<'a>(record: &Record<'a>) -> Object<'a> {
    let fields = &record.fields;
    let mut case = Object::with_capacity(fields.len() + 3);
    case.set("id", Value::from(record.id.as_str().to_owned()));
    let mut add = |name: &str, value: Value<'a>| drop(case.insert(name.to_owned(), value));
    for &name in FIRST {
        let Some(value) = fields.get(name) else {
            if let Some(label) = older_field(name, fields) {
                add(name, label.clone());
            }
            continue;
        };
        match name {
            "input" => add("initialPrompt", value.clone()),
            "context" => add(name, each(value, import_item)),
            "expected_outcomes" => add("expectedOutcomes", value.clone()),
            "expected_trajectory" => add("expectedTrajectory", each(value, import_step)),
            "labels" => add(name, labels_of(value)),
            _ => add(name, value.clone()),
        }
    }
    for (name, value) in in_order(fields).filter(|(name, _)| !FIRST.contains(name)) {
        add(name, value.clone());
    }
    case
}

/// The label that AgentHealth's importer asks for as a field. Read back it is the label again; a `category` would
/// be a field as well, so it is written only for a record that has the field.
fn older_field<'v, 'a>(name: &str, fields: &'v Object<'a>) -> Option<&'v Value<'a>> {
    let labels = fields.get("labels")?.as_object()?;
    let label = labels.get(name).filter(|label| label.as_str().is_some())?;
    matches!(name, "subcategory" | "difficulty").then_some(label)
}

fn each<'a>(list: &Value<'a>, item: fn(&Object<'a>) -> Object<'a>) -> Value<'a> {
    let one = |value: &Value<'a>| match value {
        Value::Object(object) => Value::Object(item(object)),
        other => other.clone(),
    };
    match list {
        Value::Array(items) => Value::Array(items.iter().map(one).collect()),
        other => other.clone(),
    }
}

/// `{source, content}` to `{description, value}`; an item that has more to say stays as it is.
fn import_item<'a>(item: &Object<'a>) -> Object<'a> {
    let text = |name: &str| item.get(name).filter(|value| value.as_str().is_some());
    let (Some(source), Some(content)) = (text("source"), text("content")) else { return item.clone() };
    let mut made = Object::with_capacity(3);
    made.set("description", source.clone());
    made.set("value", content.clone());
    match (item.len(), item.get("metadata").and_then(Value::as_object)) {
        (2, None) => made,
        (3, Some(metadata)) if metadata.len() == 1 && metadata.contains("disposition") => {
            made.set("disposition", metadata.get("disposition").cloned().unwrap_or(Value::Null));
            made
        }
        _ => item.clone(),
    }
}

fn import_step<'a>(step: &Object<'a>) -> Object<'a> {
    if step.contains("requiredTools") {
        return step.clone();
    }
    let entries = step.iter().map(|(name, value)| {
        let name = if name == "required_tools" { "requiredTools" } else { name };
        (name.to_owned().into(), value.clone())
    });
    entries.collect()
}

/// Each label as `"key:value"` where that can be read back, else as `{key, value}`.
fn labels_of<'a>(labels: &Value<'a>) -> Value<'a> {
    let Value::Object(labels) = labels else { return labels.clone() };
    let mut list = Vec::with_capacity(labels.len());
    for (key, value) in labels.iter() {
        match plain_values(key, value) {
            Some(values) => list.extend(values.iter().map(|value| Value::from(format!("{key}:{value}")))),
            None => {
                let mut label = Object::with_capacity(2);
                label.set("key", Value::from(key.to_owned()));
                label.set("value", value.clone());
                list.push(Value::Object(label));
            }
        }
    }
    Value::Array(list)
}

/// The texts of a label whose key and values can stand in one text each.
fn plain_values<'v>(key: &str, value: &'v Value<'_>) -> Option<Vec<&'v str>> {
    if key.is_empty() || key.contains(':') {
        return None;
    }
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(values) if values.len() > 1 => values.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
