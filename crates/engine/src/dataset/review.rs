//! `dataset review`: that a principal looked at a version and stands by it.

use heldset_store::catalog::Batch;
use heldset_store::documents::{Document, prefix};
use heldset_store::registry::{PrincipalDoc, ReviewDoc, review_key};

use crate::refusal::{Outcome, Refusal};
use crate::resolve::{Resolved, resolve};
use crate::session::Session;
use crate::{log, principal};

/// A review that was written.
pub struct Reviewed {
    /// The dataset and version.
    pub resolved: Resolved,
    /// Who reviewed it now.
    pub principal: PrincipalDoc,
    /// Everybody who has.
    pub reviews: Vec<ReviewDoc>,
}

/// Writes down that the caller reviewed a version; doing so again replaces what was said.
pub fn review(session: &Session, cite: &str, message: Option<&str>) -> Outcome<Reviewed> {
    session.must_manage("dataset review")?;
    let resolved = resolve(&session.store, cite)?;
    let principal = principal::current(session)?;
    let (id, number) = (&resolved.dataset.id, resolved.version.number);
    let doc = ReviewDoc {
        principal: principal.id.clone(),
        name: principal.name.clone(),
        time: session.clock.now(),
        message: message.map(str::to_owned),
    };
    log::commit(session, || {
        let mut batch = Batch::durable();
        batch.put(review_key(id, number, &principal.id), doc.to_bytes()?);
        let note = format!("version {number} is reviewed by {}", principal.name);
        let entry = log::upkeep_entry(session, "dataset review", &resolved.dataset.slug, note);
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
    })?;
    let reviews = reviews(session, id, number)?;
    Ok(Reviewed { resolved, principal, reviews })
}

/// Everybody who reviewed a version.
pub(super) fn reviews(session: &Session, dataset: &str, version: u64) -> Outcome<Vec<ReviewDoc>> {
    let entries = session.store.catalog().scan("review", &prefix(&[dataset, &format!("{version:010}")]))?;
    let read = entries.iter().map(|(_, bytes)| ReviewDoc::from_bytes(bytes, "catalog: a review"));
    Ok(read.collect::<Result<_, _>>()?)
}
