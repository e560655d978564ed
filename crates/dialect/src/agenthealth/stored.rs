//! How AgentHealth stores a test case: one document per version, named `<id>-v<version>`.

use heldset_core::value::{Object, Value};

/// Which version of its test case a document is.
pub(super) fn version_of(fields: &Object<'_>) -> Option<u64> {
    let number = |name: &str| match fields.get(name) {
        Some(Value::Number(number)) => number.as_i64().and_then(|number| u64::try_from(number).ok()),
        _ => None,
    };
    number("version").or_else(|| number("currentVersion"))
}

/// Gives a test case without an id the one in the name of its document.
pub(crate) fn take_document_id(row: &mut Value<'_>, document: &str) {
    let Value::Object(fields) = row else { return };
    if fields.get("id").is_some_and(|id| !id.is_null()) {
        return;
    }
    let id = match version_of(fields) {
        Some(version) => document.strip_suffix(&format!("-v{version}")).unwrap_or(document),
        None => document,
    };
    fields.set("id", Value::from(id.to_owned()));
}
