//! `schema`: registered schemas of a dataset, each a version of its own.
//!
//! *Invariant:* a schema never changes once it is registered. A field that the caller may not see is in no answer: not
//! in a schema, not in what changed, not in what is inferred.

mod compare;
mod hold;
mod infer;
mod register;
mod seen;

pub(crate) use compare::registered;
pub use compare::{Compared, Named, compare, compare_versions};
pub(crate) use hold::Checker;
pub use infer::{infer, infer_files, infer_live, infer_rows};
pub use register::{RegisterRequest, Registered, register};
pub(crate) use seen::Eyes;

use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::schema::{Change, ChangeKind, Schema, change};
use heldset_store::StoreError;
use heldset_store::documents::{Document, prefix};
use heldset_store::registry::SchemaDoc;

use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::session::Session;

/// A schema as somebody sees it.
pub struct Shown {
    /// The dataset.
    pub slug: String,
    /// Its number, from 1.
    pub number: u64,
    /// What can be seen of it.
    pub schema: Schema,
    /// What changed from the one before, as far as it can be seen.
    pub change: Change,
    /// `breaking` or `non_breaking`: as it was computed or claimed for those who see all of it, else as it looks.
    pub change_type: ChangeKind,
    /// What was said of the change; not for those who see only a part of it.
    pub change_summary: Option<String>,
    /// When it was registered.
    pub created_at: String,
    /// Who registered it.
    pub created_by: String,
}

/// Every schema of a dataset, oldest first.
pub fn all(session: &Session, dataset_id: &str) -> Outcome<Vec<SchemaDoc>> {
    let entries = session.store.catalog().scan("schema", &prefix(&[dataset_id]))?;
    let read = entries.iter().map(|(_, bytes)| SchemaDoc::from_bytes(bytes, "catalog: a schema"));
    Ok(read.collect::<Result<_, _>>()?)
}

/// The schema that holds for what is imported next.
pub fn newest(session: &Session, dataset_id: &str) -> Outcome<Option<SchemaDoc>> {
    Ok(all(session, dataset_id)?.pop())
}

/// The schemas of a dataset as the caller sees them, oldest first.
pub fn history(session: &Session, slug: &str) -> Outcome<Vec<Shown>> {
    let dataset = resolve::dataset(&session.store, &resolve::parse(slug)?.slug)?;
    let docs = all(session, &dataset.id)?;
    let mut schemas = Vec::with_capacity(docs.len());
    let mut sees_all = true;
    for doc in &docs {
        let whole = schema_of(&doc.schema)?;
        let seen = Eyes::of(session, &dataset, &whole)?.only(&whole);
        sees_all &= seen.fields().len() == whole.fields().len();
        schemas.push(seen);
    }
    let mut shown: Vec<Shown> = Vec::with_capacity(docs.len());
    for (doc, schema) in docs.into_iter().zip(schemas) {
        let change = match shown.last() {
            Some(before) => change(&before.schema, &schema),
            None => Change { kind: ChangeKind::NonBreaking, fields: Vec::new() },
        };
        // Who does not see every field of every schema is told of what is seen alone.
        let declared = ChangeKind::parse(&doc.change_type).filter(|_| sees_all);
        shown.push(Shown {
            slug: dataset.slug.clone(),
            number: doc.number,
            change_type: declared.unwrap_or(change.kind),
            change,
            schema,
            change_summary: doc.change_summary.filter(|_| sees_all),
            created_at: doc.created_at,
            created_by: doc.created_by,
        });
    }
    Ok(shown)
}

/// One schema of a dataset as the caller sees it: that number, or the newest.
pub fn show(session: &Session, slug: &str, number: Option<u64>) -> Outcome<Shown> {
    let mut shown = history(session, slug)?;
    let Some(newest) = shown.last().map(|shown| shown.number) else {
        let message = format!("dataset `{slug}` has no schema yet");
        let help =
            format!("register one with `heldset schema register {slug} FILE`, or see `heldset schema infer {slug}`");
        return Err(Refusal::usage(Code::E102, message, help));
    };
    let number = number.unwrap_or(newest);
    let at = shown.iter().position(|shown| shown.number == number);
    let at = at.ok_or_else(|| {
        let message = format!("dataset `{slug}` has no schema {number}");
        Refusal::usage(Code::E102, message, format!("the newest is {newest}"))
    })?;
    Ok(shown.swap_remove(at))
}

/// The schema that a text at rest is.
pub(crate) fn schema_of(text: &str) -> Outcome<Schema> {
    let damaged = || StoreError::damaged("catalog: a schema");
    let value = json::read(text).map_err(|_| damaged())?;
    Ok(Schema::read(&value).map_err(|_| damaged())?)
}
