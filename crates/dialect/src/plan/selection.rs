//! Which records a plan selects.
//!
//! *Invariant:* a selection that could only be empty is refused as it is read.

use heldset_core::filter::Filter;
use heldset_core::path::Path;
use heldset_core::plan::{Sample, Selection};
use heldset_core::value::{Object, Value};

use super::reader::Reader;

const KEYS: &[&str] = &["split", "filter", "group", "labels", "tags", "ids", "limit", "sample", "shard", "failed_from"];

/// The selection under `select`.
pub(super) fn read(reader: &mut Reader<'_>, object: &Object<'_>, at: &Path) -> Selection {
    let Some(select) = reader.mapping(object, at, "select") else { return Selection::default() };
    let at = at.then_key("select");
    reader.keys(select, &at, KEYS, &[]);
    let mut selection = Selection {
        split: reader.text(select, &at, "split"),
        labels: reader.mapping(select, &at, "labels").map(|labels| labels.clone().into_owned()),
        ids: reader.texts(select, &at, "ids"),
        failed_from: reader.text(select, &at, "failed_from"),
        shard: shard(reader, select, &at),
        sample: sample(reader, select, &at),
        ..Selection::default()
    };
    narrowed(reader, select, &at, &mut selection);
    tags(reader, select, &at, &mut selection);
    selection
}

/// Filter, group and limit, which a dataset of mas-lab carries too.
pub(super) fn narrowed(reader: &mut Reader<'_>, object: &Object<'_>, at: &Path, selection: &mut Selection) {
    if let Some(value) = object.get("filter").filter(|value| !value.is_null()) {
        match Filter::from_value(value, &at.then_key("filter")) {
            Ok(filter) => {
                let before = selection.filter.take();
                selection.filter = Some(match before {
                    Some(before) => Filter::And(vec![before, filter]),
                    None => filter,
                });
            }
            Err(problem) => reader.problem(problem),
        }
    }
    selection.group = reader.text(object, at, "group").or(selection.group.take());
    selection.limit = reader.positive(object, at, "limit").or(selection.limit);
}

fn tags(reader: &mut Reader<'_>, select: &Object<'_>, at: &Path, selection: &mut Selection) {
    match select.get("tags") {
        Some(Value::Object(tags)) => {
            let at = at.then_key("tags");
            reader.keys(tags, &at, &["all", "any", "none"], &[]);
            selection.tags_all = reader.texts(tags, &at, "all");
            selection.tags_any = reader.texts(tags, &at, "any");
            selection.tags_none = reader.texts(tags, &at, "none");
        }
        _ => selection.tags_all = reader.texts(select, at, "tags"),
    }
}

fn sample(reader: &mut Reader<'_>, select: &Object<'_>, at: &Path) -> Option<Sample> {
    if let Some(Value::Number(_)) = select.get("sample") {
        let n = reader.positive(select, at, "sample")?;
        return Some(Sample { n, seed: 0, stratify_by: None });
    }
    let sample = reader.mapping(select, at, "sample")?;
    let at = at.then_key("sample");
    reader.keys(sample, &at, &["n", "seed", "stratify_by"], &[]);
    if !sample.contains("n") {
        reader.invalid(at.clone(), format!("`{at}` has no `n`"), "say how many, as in `{n: 20, seed: 1}`");
    }
    let seed = reader.count(sample, &at, "seed").unwrap_or(0);
    let stratify_by = reader.text(sample, &at, "stratify_by");
    Some(Sample { n: reader.positive(sample, &at, "n")?, seed, stratify_by })
}

fn shard(reader: &mut Reader<'_>, select: &Object<'_>, at: &Path) -> Option<(u64, u64)> {
    let text = reader.text(select, at, "shard")?;
    let parts = parse_shard(&text);
    if parts.is_none() {
        let at = at.then_key("shard");
        reader.invalid(at.clone(), format!("`{at}` cannot be `{text}`"), "write one part of several, as in `1/4`");
    }
    parts
}

/// `i/n` with `1 ≤ i ≤ n`.
fn parse_shard(text: &str) -> Option<(u64, u64)> {
    let (part, parts) = text.split_once('/')?;
    let (part, parts) = (part.trim().parse().ok()?, parts.trim().parse().ok()?);
    (1 <= part && part <= parts).then_some((part, parts))
}
