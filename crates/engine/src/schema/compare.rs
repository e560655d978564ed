//! Comparing two schemas, or the schemas of two versions of datasets.
//!
//! *Invariant:* what the caller may not see on both sides has not changed.

use heldset_core::code::Code;
use heldset_core::schema::{Change, Schema, change};
use heldset_core::visibility::Place;

use super::{Eyes, schema_of, show};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{Resolved, resolve};
use crate::session::Session;
use crate::view::{Look, View};

/// A schema of a dataset: that number, or the newest.
#[derive(Clone, Copy)]
pub struct Named<'n> {
    /// The dataset.
    pub slug: &'n str,
    /// The number.
    pub number: Option<u64>,
}

/// What changes from one to the other.
pub struct Compared {
    /// The one, as people cite it.
    pub a: (String, u64),
    /// The other.
    pub b: (String, u64),
    /// What changes.
    pub change: Change,
}

/// Compares two schemas; with one that is named without a number, the newest and the one before.
pub fn compare(session: &Session, a: Named<'_>, b: Option<Named<'_>>) -> Outcome<Compared> {
    let (a, b) = match (a.number, b) {
        (_, Some(b)) => (show(session, a.slug, a.number)?, show(session, b.slug, b.number)?),
        (Some(_), None) => (show(session, a.slug, a.number)?, show(session, a.slug, None)?),
        (None, None) => {
            let newest = show(session, a.slug, None)?;
            if newest.number == 1 {
                let message = format!("dataset `{}` has one schema, and a comparison needs two", a.slug);
                return Err(Refusal::usage(Code::E102, message, "register another, or see `heldset schema show`"));
            }
            (show(session, a.slug, Some(newest.number - 1))?, newest)
        }
    };
    let change = change(&a.schema, &b.schema);
    Ok(Compared { a: (a.slug, a.number), b: (b.slug, b.number), change })
}

/// Compares what two versions of datasets declare, or show if nothing is declared.
pub fn compare_versions(session: &Session, a: &str, b: &str, place: Option<Place>) -> Outcome<Compared> {
    let (a, b) = (resolve(&session.store, a)?, resolve(&session.store, b)?);
    let cite = |resolved: &Resolved| (resolved.dataset.slug.clone(), resolved.version.number);
    let cites = (cite(&a), cite(&b));
    let (a, b) = match (registered(session, &a)?, registered(session, &b)?) {
        (Some(a), Some(b)) => (a, b),
        _ => (shown(session, a, place)?, shown(session, b, place)?),
    };
    Ok(Compared { a: cites.0, b: cites.1, change: change(&a, &b) })
}

/// The schema that a version was registered under, as far as the caller may know of it.
pub(crate) fn registered(session: &Session, resolved: &Resolved) -> Outcome<Option<Schema>> {
    if resolved.version.schema == "{}" {
        return Ok(None);
    }
    let eyes = Eyes::under(session.viewer, resolved.policy.clone())?;
    Ok(Some(eyes.only(&schema_of(&resolved.version.schema)?)))
}

fn shown(session: &Session, resolved: Resolved, place: Option<Place>) -> Outcome<Schema> {
    let view = View::of(session, resolved, &Look { cite: "", split: None, place, purpose: "schema diff" })?;
    Ok(super::infer::shape_of(&view)?.schema())
}
