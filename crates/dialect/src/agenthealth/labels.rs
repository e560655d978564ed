//! Labels: three shapes in the files and three older fields, one mapping in a case.
//!
//! *Invariant:* a label wins over an older field of its name; an older field that says something else stays.

use std::borrow::Cow;

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use crate::map::Notes;

/// Fields that were there before labels.
const OLDER: &[&str] = &["category", "subcategory", "difficulty"];

/// The labels of a list, as they come.
#[derive(Default)]
struct Listed<'a> {
    labels: Vec<(Cow<'a, str>, Vec<Value<'a>>)>,
    tags: Vec<Value<'a>>,
}

/// Makes `labels` a mapping, with the older fields in it, and moves labels without a key to `tags`.
pub(super) fn settle<'a>(case: &mut Object<'a>, notes: &mut Notes<'_>) {
    for name in ["labels", "tags"] {
        if case.contains(name) {
            notes.tally.as_is(name);
        }
    }
    let mut listed = Listed::default();
    let given = match case.remove("labels") {
        Some(Value::Array(items)) => {
            for (index, item) in items.into_iter().enumerate() {
                listed.take(item, &Path::key("labels").then_index(index), notes);
            }
            Some(Value::Object(mapping_of(listed.labels, notes)))
        }
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
            return notes.problem(case::wrong_type(Path::key("labels"), "labels", "a list or a mapping", &other));
        }
        given => given,
    };
    if let Some(labels) = with_older(given, case, notes) {
        case.set("labels", labels);
    }
    add_tags(case, listed.tags, notes);
}

impl<'a> Listed<'a> {
    fn take(&mut self, item: Value<'a>, path: &Path, notes: &mut Notes<'_>) {
        match item {
            Value::String(text) => match split(text) {
                Ok((key, value)) => self.add(key, Value::String(value)),
                Err(tag) => self.tags.push(Value::String(tag)),
            },
            Value::Object(label) => {
                if let Some((key, value)) = pair(label, path, notes) {
                    self.add(key, value);
                }
            }
            other => {
                let problem = case::wrong_type(path.clone(), &path.to_string(), "text or a mapping", &other);
                notes.problem(problem.help("write it as `\"key:value\"` or as `{key, value}`"));
            }
        }
    }

    fn add(&mut self, key: Cow<'a, str>, value: Value<'a>) {
        match self.labels.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => self.labels.push((key, vec![value])),
        }
    }
}

/// The key is what stands before the first colon; a colon at the very start makes no key.
fn split(text: Cow<'_, str>) -> Result<(Cow<'_, str>, Cow<'_, str>), Cow<'_, str>> {
    match (text.find(':'), text) {
        (None | Some(0), text) => Err(text),
        (Some(at), Cow::Borrowed(text)) => Ok((text[..at].into(), text[at + 1..].into())),
        (Some(at), Cow::Owned(text)) => Ok((text[..at].to_owned().into(), text[at + 1..].to_owned().into())),
    }
}

fn pair<'a>(mut label: Object<'a>, path: &Path, notes: &mut Notes<'_>) -> Option<(Cow<'a, str>, Value<'a>)> {
    let help = "a label is `\"key:value\"` or `{key, value}`";
    let mut refuse = |path: Path, message: String| {
        notes.problem(Problem::new(Code::E015, path, message).help(help));
        None
    };
    let Some(key) = label.remove("key") else { return refuse(path.clone(), format!("`{path}` has no `key`")) };
    let Some(value) = label.remove("value") else { return refuse(path.clone(), format!("`{path}` has no `value`")) };
    if let Some((name, _)) = label.entry(0) {
        return refuse(path.then_key(name), format!("a label has no place for `{name}`"));
    }
    match key {
        Value::String(key) => Some((key, value)),
        other => refuse(path.then_key("key"), format!("`{path}.key` must be text, not {}", other.type_name())),
    }
}

/// One value for each key; a repeated key has a list.
fn mapping_of<'a>(labels: Vec<(Cow<'a, str>, Vec<Value<'a>>)>, notes: &mut Notes<'_>) -> Object<'a> {
    let mut mapping = Object::with_capacity(labels.len());
    for (key, mut values) in labels {
        match (values.len(), values.pop()) {
            (1, Some(value)) => mapping.set(key, value),
            (_, last) => {
                notes.tally.legacy.insert("a label key that repeats: its values became a list");
                values.extend(last);
                mapping.set(key, Value::Array(values));
            }
        }
    }
    mapping
}

/// The labels with what the older fields say; `category` stays a field as well.
fn with_older<'a>(given: Option<Value<'a>>, case: &mut Object<'a>, notes: &mut Notes<'_>) -> Option<Value<'a>> {
    let is_null = given.as_ref().is_some_and(Value::is_null);
    let mut labels = match given {
        Some(Value::Object(labels)) => Some(labels),
        _ => None,
    };
    for &name in OLDER {
        let Some(value) = case.get(name).filter(|value| is_label(name, value)) else { continue };
        let known = labels.get_or_insert_default();
        match known.get(name) {
            Some(label) if label != value => continue,
            Some(_) => {}
            None => known.set(name, value.clone()),
        }
        notes.tally.mapped(name, "labels");
        notes.tally.legacy.insert("`category`, `subcategory` and `difficulty`: they became labels");
        if name != "category" {
            case.remove(name);
        }
    }
    labels.map(Value::Object).or_else(|| is_null.then_some(Value::Null))
}

/// A `category` of the wrong type is a fault of that field.
fn is_label(name: &str, value: &Value<'_>) -> bool {
    !value.is_null() && (name != "category" || value.as_str().is_some())
}

/// Adds labels without a key to the tags, unless they are there; tags of the wrong type are a fault of that field.
fn add_tags<'a>(case: &mut Object<'a>, keyless: Vec<Value<'a>>, notes: &mut Notes<'_>) {
    if keyless.is_empty() {
        return;
    }
    notes.tally.mapped("labels", "tags");
    if case.get("tags").is_none_or(Value::is_null) {
        case.set("tags", Value::Array(Vec::new()));
    }
    if let Some(Value::Array(tags)) = case.get_mut("tags") {
        for tag in keyless {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
    }
}
