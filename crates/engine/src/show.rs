//! `show`: what a version is: its splits, labels, digests, and where it comes from.
//!
//! *Invariant:* shows of a split only what the caller may know of it.

use heldset_core::cite::At;
use heldset_core::digest::Digest;
use heldset_core::json;
use heldset_core::manifest::{policy_digest, provenance_digest, records_digest, schema_digest};
use heldset_store::StoreError;
use heldset_store::documents::{SourceDoc, SourcesDoc, SplitDoc};

use crate::commit::core_of;
use crate::dataset::{Described, describe};
use crate::refusal::Outcome;
use crate::resolve::{Resolved, dataset, mapping, parse, resolve, tags};
use crate::session::Session;
use crate::view::visible_splits;

/// A version as it is shown.
pub struct Shown {
    /// The dataset and version.
    pub resolved: Resolved,
    /// The splits that can be seen.
    pub splits: Vec<SplitDoc>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its digests.
    pub digests: Digests,
    /// The files it was read from, for those who see everything in it.
    pub sources: Option<Vec<SourceDoc>>,
    /// The dataset, as it is described.
    pub described: Described,
}

/// The digests of a version, each over something else.
pub struct Digests {
    /// Over the splits with their roots.
    pub records: Digest,
    /// Over the registered schema.
    pub schema: Digest,
    /// Over the resolved policy.
    pub policy: Digest,
    /// Over what is declared about where it comes from.
    pub provenance: Digest,
    /// Over all of these, the parents and the mode.
    pub version: Digest,
}

/// The dataset that is cited, if it has no version yet: there is only its description to show.
pub fn unversioned(session: &Session, cite: &str) -> Outcome<Option<Described>> {
    let cite = parse(cite)?;
    let dataset = dataset(&session.store, &cite.slug)?;
    match (cite.at, dataset.head) {
        (At::Head, 0) => describe(session, &dataset).map(Some),
        _ => Ok(None),
    }
}

/// Shows a version.
pub fn show(session: &Session, cite: &str) -> Outcome<Shown> {
    let resolved = resolve(&session.store, cite)?;
    let core = core_of(&resolved.dataset.slug, &resolved.version)?;
    let schema = json::read(&resolved.version.schema).ok();
    let digests = Digests {
        records: records_digest(&core.splits),
        schema: schema_digest(schema.as_ref()),
        policy: policy_digest(&resolved.policy),
        provenance: provenance_digest(&mapping(&resolved.version.provenance)),
        version: core.digest(),
    };
    let visible = visible_splits(session, &resolved)?;
    let all = visible.len() == resolved.version.splits.len()
        && visible.iter().all(|split| split.labels.labels().iter().all(|label| session.viewer.sees(label)));
    let sources = match &resolved.version.sources {
        SourcesDoc::Open(sources) => Some(sources.clone()),
        SourcesDoc::Sealed(note) if all => match session.store.open_note(&resolved.dataset.id, note) {
            Err(StoreError::NoKey { .. }) => None,
            sources => Some(sources?),
        },
        SourcesDoc::Sealed(_) => None,
    };
    let number = resolved.version.number;
    let tags = tags(&session.store, &resolved.dataset)?;
    let tags = tags.into_iter().filter(|(_, version)| *version == number).map(|(tag, _)| tag).collect();
    let splits = visible.into_iter().map(|split| split.doc).collect();
    let described = describe(session, &resolved.dataset)?;
    Ok(Shown { resolved, splits, tags, digests, sources, described })
}
