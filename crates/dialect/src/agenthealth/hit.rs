//! Rows of a search dump: a test case inside what the index says about it.

use heldset_core::value::{Object, Value};

use super::stored::take_document_id;

/// What a hit may hold beside names that start with `_`.
const ABOUT: &[&str] = &["sort", "fields", "highlight"];

/// The test case inside a hit, or the row as it is; and whether it was a hit.
pub(super) fn open(row: Value<'_>) -> (Value<'_>, bool) {
    let Value::Object(mut hit) = row else { return (row, false) };
    if !is_hit(&hit) {
        return (Value::Object(hit), false);
    }
    let mut case = hit.remove("_source").unwrap_or(Value::Null);
    if let Some(document) = hit.get("_id").and_then(Value::as_str) {
        take_document_id(&mut case, document);
    }
    (case, true)
}

fn is_hit(row: &Object<'_>) -> bool {
    matches!(row.get("_source"), Some(Value::Object(_)))
        && row.iter().all(|(name, _)| name.starts_with('_') || ABOUT.contains(&name))
}
