//! `history`: the versions of a dataset.

use heldset_store::documents::VersionDoc;

use crate::refusal::Outcome;
use crate::resolve::{Resolved, dataset, parse, policy_of, tags, versions};
use crate::session::Session;
use crate::view::visible_splits;

/// A version in a history.
pub struct Entry {
    /// The version.
    pub version: VersionDoc,
    /// How many of its rows can be seen.
    pub rows: u64,
    /// Its tags.
    pub tags: Vec<String>,
}

/// Lists the versions, oldest first.
pub fn history(session: &Session, slug: &str) -> Outcome<Vec<Entry>> {
    let dataset = dataset(&session.store, &parse(slug)?.slug)?;
    let tags = tags(&session.store, &dataset)?;
    let mut entries = Vec::new();
    for version in versions(&session.store, &dataset)? {
        let policy = policy_of(&version)?;
        let resolved = Resolved { dataset: dataset.clone(), version, policy };
        let rows = visible_splits(session, &resolved)?.iter().map(|split| split.doc.rows).sum();
        let number = resolved.version.number;
        let tags = tags.iter().filter(|(_, version)| *version == number).map(|(tag, _)| tag.clone()).collect();
        entries.push(Entry { version: resolved.version, rows, tags });
    }
    Ok(entries)
}
