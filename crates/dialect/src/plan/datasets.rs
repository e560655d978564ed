//! Which dataset a plan runs.
//!
//! *Invariant:* a dataset is a file beside the plan or a citation that can be one; never both.

use heldset_core::cite::Cite;
use heldset_core::path::Path;
use heldset_core::plan::{DatasetRef, Selection};
use heldset_core::value::{Object, Value};

use super::dialects::Dialect;
use super::reader::Reader;
use super::selection;

/// What files of records end in.
const ENDINGS: &[&str] =
    &["jsonl", "ndjson", "json", "csv", "tsv", "yaml", "yml", "parquet", "arrow", "feather", "ipc", "gz", "zst"];
const KEYS: &[&str] = &["path", "ref", "name", "split", "filter", "group", "limit"];
const HELP: &str = "write a path, as in `dataset: cases.jsonl`, or a citation, as in `dataset: {ref: trips@3}`";

/// The dataset under `dataset`; what it says of the selection goes there.
pub(super) fn read(
    reader: &mut Reader<'_>,
    root: &Object<'_>,
    at: &Path,
    dialect: Dialect,
    select: &mut Selection,
) -> Option<DatasetRef> {
    let inner = at.then_key("dataset");
    let dataset = match root.get("dataset") {
        None | Some(Value::Null) => {
            reader.invalid(at.clone(), "the plan has no `dataset`", HELP);
            return None;
        }
        Some(Value::Object(dataset)) => dataset,
        Some(Value::String(text)) => return bare(reader, text, &inner),
        Some(other) => {
            reader.wrong(&inner, "a path, a citation or a mapping", other);
            return None;
        }
    };
    let ignored: &[&str] = if dialect == Dialect::Lab { &["app", "locator", "format", "version"] } else { &[] };
    reader.keys(dataset, &inner, KEYS, ignored);
    select.split = reader.text(dataset, &inner, "split").or(select.split.take());
    selection::narrowed(reader, dataset, &inner, select);
    let mut found = Vec::new();
    for key in ["path", "ref", "name"] {
        if let Some(text) = reader.text(dataset, &inner, key) {
            found.push((key, text));
        }
    }
    match &found[..] {
        [("path", path)] => file(reader, path, &inner.then_key("path")),
        [("ref", cite)] => cited(reader, cite, &inner.then_key("ref")),
        [(_, name)] => named(reader, name, &inner.then_key("name")),
        [] => {
            reader.invalid(inner.clone(), "the dataset has neither `path` nor `ref`", HELP);
            None
        }
        _ => {
            reader.invalid(
                inner.clone(),
                "the dataset is named in several ways",
                "keep one of `path`, `ref` and `name`",
            );
            None
        }
    }
}

/// A file by its path.
pub(super) fn file(reader: &mut Reader<'_>, path: &str, at: &Path) -> Option<DatasetRef> {
    if path.contains("://") {
        let help = "connectors come with a later version; bring the file here and name it by its path";
        reader.invalid(
            at.clone(),
            format!("`{path}` is read through a connector, and this version has none yet"),
            help,
        );
        return None;
    }
    reader.named(path);
    Some(DatasetRef::Path(path.to_owned()))
}

/// A text alone: a path when it looks like one or is one, else a citation.
fn bare(reader: &mut Reader<'_>, text: &str, at: &Path) -> Option<DatasetRef> {
    let ending = text.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let looks_like_path = text.contains('/') || ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()));
    if looks_like_path || reader.files.load(reader.name, text).is_ok() {
        return file(reader, text, at);
    }
    cited(reader, text, at)
}

fn cited(reader: &mut Reader<'_>, cite: &str, at: &Path) -> Option<DatasetRef> {
    match cite.parse::<Cite>() {
        Ok(_) => Some(DatasetRef::Cite(cite.to_owned())),
        Err(error) => {
            reader.invalid(at.clone(), format!("`{cite}` is neither a file nor a citation: {error}"), HELP);
            None
        }
    }
}

/// A file of that name under `datasets/`, else a dataset in the store.
fn named(reader: &mut Reader<'_>, name: &str, at: &Path) -> Option<DatasetRef> {
    for ending in ["yaml", "yml", "json", "jsonl"] {
        let path = format!("datasets/{name}.{ending}");
        if reader.files.load(reader.name, &path).is_ok() {
            return file(reader, &path, at);
        }
    }
    if name.parse::<Cite>().is_err() {
        let message =
            format!("there is no `datasets/{name}.yaml` beside the plan, and `{name}` names no dataset of a store");
        reader.invalid(at.clone(), message, "name the file with `path`");
        return None;
    }
    Some(DatasetRef::Cite(name.to_owned()))
}
