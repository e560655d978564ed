//! Writing the audit log: an append-only list under an RFC 6962 tree, kept in the catalogue.
//!
//! *Invariant:* an entry and the new head are written in one batch, so the log has no gap and no fork; what an entry
//! announces happens after the entry is written.

use heldset_core::merkle::{Tree, leaf_hash};
use heldset_store::catalog::Batch;
use heldset_store::documents::{AuditDoc, AuditHeadDoc, Document, audit_head_key, audit_key};
use heldset_store::{Store, StoreError};

use crate::session::Session;

/// How often a batch is tried again because somebody else was faster.
const TRIES: usize = 200;

/// The batch, with an entry of the log in it.
pub(crate) fn logged(store: &Store, entry: &AuditDoc, batch: Batch) -> Result<Batch, StoreError> {
    let Batch { mut expect, mut put, delete, durable } = batch;
    let before = store.catalog().get(&audit_head_key())?;
    let head = match &before {
        Some(bytes) => AuditHeadDoc::from_bytes(bytes, "catalog: the head of the audit log")?,
        None => AuditHeadDoc::default(),
    };
    let bytes = entry.to_bytes()?;
    let mut tree = tree_of(&head)?;
    tree.push(leaf_hash(&bytes));
    expect.push((audit_head_key(), before));
    put.push((audit_key(head.size), bytes));
    put.push((audit_head_key(), head_of(&tree).to_bytes()?));
    Ok(Batch { expect, put, delete, durable })
}

/// Writes an entry alone.
pub(crate) fn append(session: &Session, entry: &AuditDoc, durable: bool) -> Result<(), StoreError> {
    commit(session, || logged(&session.store, entry, Batch { durable, ..Batch::default() }))
}

/// An entry about upkeep: of the whole store when there is no dataset.
pub(crate) fn upkeep_entry(session: &Session, purpose: &str, dataset: &str, note: String) -> AuditDoc {
    AuditDoc {
        time: session.clock.now(),
        who: session.user.clone(),
        audience: session.viewer.name().to_owned(),
        place: session.viewer.place().name().to_owned(),
        purpose: purpose.to_owned(),
        dataset: dataset.to_owned(),
        version: String::new(),
        splits: Vec::new(),
        labels: Vec::new(),
        rows: 0,
        allowed: true,
        note: Some(note),
    }
}

/// Commits a batch that is made anew for each try, until nobody else was faster.
pub(crate) fn commit<E: From<StoreError>>(
    session: &Session,
    mut batch: impl FnMut() -> Result<Batch, E>,
) -> Result<(), E> {
    for _ in 1..TRIES {
        match session.store.commit(&batch()?) {
            Err(StoreError::Conflict) => {}
            done => return Ok(done?),
        }
    }
    Ok(session.store.commit(&batch()?)?)
}

/// The tree that a head stands for.
pub(crate) fn tree_of(head: &AuditHeadDoc) -> Result<Tree, StoreError> {
    let damaged = || StoreError::damaged("catalog: the head of the audit log");
    let peaks = head.peaks.iter().map(|peak| peak.parse().map_err(|_| damaged())).collect::<Result<Vec<_>, _>>()?;
    Tree::from_peaks(head.size, peaks).ok_or_else(damaged)
}

/// The head of a tree.
pub(crate) fn head_of(tree: &Tree) -> AuditHeadDoc {
    AuditHeadDoc { size: tree.size(), peaks: tree.peaks().iter().map(|peak| peak.hex()).collect() }
}
