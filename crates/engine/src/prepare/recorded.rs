//! What is on record of a preparation: its rules, and the ids that it left out.
//!
//! *Invariant:* rules and ids may name what is sealed, so they are sealed; only the owner has them opened.

use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::prepare::Preparation;
use heldset_core::value::{Object, Value};
use heldset_store::documents::Document;
use heldset_store::registry::PreparationDoc;

use super::Dropped;
use crate::refusal::{Outcome, Refusal};
use crate::session::Session;

/// A preparation on record.
pub struct Recorded {
    /// The document.
    pub doc: PreparationDoc,
    /// The rules and what was left out: `{from, rules, dropped}`.
    pub record: Value<'static>,
}

/// What is on record of a preparation.
pub fn recorded(session: &Session, id: &str) -> Outcome<Recorded> {
    session.must_own("prepare --show")?;
    let mut known = Vec::new();
    for (key, bytes) in session.store.catalog().scan("preparation", "")? {
        let doc = PreparationDoc::from_bytes(&bytes, "catalog: a preparation")?;
        if doc.id == id {
            let dataset = key.split('\n').next().unwrap_or_default();
            let record = opened(session, dataset, &doc)?;
            return Ok(Recorded { doc, record });
        }
        known.push(doc.id);
    }
    Err(Refusal::unknown(format!("there is no preparation `{id}`"), id, known.iter().map(String::as_str)))
}

fn opened(session: &Session, dataset: &str, doc: &PreparationDoc) -> Outcome<Value<'static>> {
    let text: String = session.store.open_note(dataset, &doc.record)?;
    let damaged = || Refusal::integrity(Code::E130, format!("the record of preparation `{}` is damaged", doc.id), "");
    json::read(&text).map(Value::into_owned).map_err(|_| damaged())
}

/// The preparation that made a version, if it is on record and can be opened.
pub(crate) fn preparation_of(session: &Session, dataset: &str, id: &str) -> Option<Preparation> {
    let bytes = session.store.catalog().get(&heldset_store::registry::preparation_key(dataset, id)).ok()??;
    let doc = PreparationDoc::from_bytes(&bytes, "catalog: a preparation").ok()?;
    let record = opened(session, dataset, &doc).ok()?;
    heldset_core::prepare::read(record.as_object()?.get("rules")?).ok()
}

/// What is recorded of a preparation.
pub(super) fn record_of(from: &[String], rules: Value<'static>, dropped: &[Dropped]) -> Value<'static> {
    let dropped = dropped.iter().map(|dropped| {
        let mut object = Object::new();
        object.set("split", Value::from(dropped.split.clone()));
        object.set("id", Value::from(dropped.id.clone()));
        match &dropped.duplicate_of {
            Some(id) => object.set("duplicate_of", Value::from(id.clone())),
            None => object.set("filtered", Value::Bool(true)),
        }
        Value::Object(object)
    });
    let mut record = Object::new();
    record.set("from", Value::Array(from.iter().cloned().map(Value::from).collect()));
    record.set("dropped", Value::Array(dropped.collect()));
    record.set("rules", rules);
    Value::Object(record)
}
