//! mas-lab manifests, of the first generation.
//!
//! *Invariant:* every field has the name under which the reader takes it for that field.

use heldset_core::record::Record;
use heldset_core::value::{Object, Value};

use super::loss::losses;
use super::rows::{RowWriter, Written, in_order};
use super::yaml_text::{new_line, write_entries, write_text};
use crate::lab::LabMapper;
use crate::map::IdRule;
use crate::report::DatasetInfo;

/// How far the fields of an item are indented.
const INDENT: usize = 6;

/// A lab manifest.
pub(crate) struct LabWriter;

impl RowWriter for LabWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        let item = item_of(record);
        let mut text = "    - ".to_owned();
        write_entries(item.iter(), INDENT, &mut text);
        let losses = losses(record, Value::Object(item), &LabMapper::new(IdRule::Auto));
        Written { bytes: text.into_bytes(), losses }
    }

    fn head(&self, info: &DatasetInfo) -> Vec<u8> {
        let mut text = "apiVersion: lab/v1\nkind: Dataset\nmetadata:".to_owned();
        let named = [("name", &info.name), ("version", &info.version), ("description", &info.description)];
        let mut bare = true;
        for (key, value) in named.iter().filter_map(|(key, value)| value.as_ref().map(|value| (key, value))) {
            new_line(2, &mut text);
            text.push_str(key);
            text.push_str(": ");
            write_text(value, &mut text);
            bare = false;
        }
        if !info.more.is_empty() {
            new_line(2, &mut text);
            write_entries(info.more.iter(), 2, &mut text);
            bare = false;
        }
        if bare {
            text.push_str(" {}");
        }
        text.push_str("\nspec:\n  items:\n");
        text.into_bytes()
    }

    fn between(&self) -> &'static str {
        "\n"
    }

    fn tail(&self) -> &'static str {
        "\n"
    }
}

/// The item that a record is written as.
fn item_of<'a>(record: &Record<'a>) -> Object<'a> {
    let mut entries = Vec::with_capacity(record.fields.len() + 1);
    entries.push(("id".into(), Value::from(record.id.as_str().to_owned())));
    for (name, value) in in_order(&record.fields) {
        let name = match name {
            "input" if !record.fields.contains("prompt") => "prompt",
            "expected_output" if !record.fields.contains("expected_answer") => "expected_answer",
            other => other,
        };
        entries.push((name.to_owned().into(), value.clone()));
    }
    Object::from_unique(entries)
}
