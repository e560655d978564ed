//! Objects that must go: noted in the batch that stops naming them, removed after it, so that a crash in between
//! leaves nothing behind for good.
//!
//! *Invariant:* an object that any document still names is not removed. The caller holds the store alone.

use heldset_store::catalog::Batch;
use heldset_store::documents::drop_key;
use heldset_store::{Address, Store, StoreError};

use crate::refusal::Outcome;
use crate::scrub::named;
use crate::session::Session;

/// Notes in a batch that objects must go.
pub(crate) fn note<'a>(batch: &mut Batch, addresses: impl Iterator<Item = &'a str>) {
    batch.put.extend(addresses.map(|address| (drop_key(address), Vec::new())));
}

/// How many objects are noted.
pub(crate) fn pending(store: &Store) -> Result<u64, StoreError> {
    Ok(store.catalog().scan("drop", "")?.len() as u64)
}

/// Refuses to go on with a catalogue that may have lost an entry: what it named would be removed.
pub(crate) fn certain(store: &Store) -> Result<(), StoreError> {
    store.catalog().check().into_iter().next().map_or(Ok(()), Err)
}

/// Removes what is noted.
pub(crate) fn finish(session: &Session) -> Outcome<()> {
    let store = &session.store;
    let noted = store.catalog().scan("drop", "")?;
    if noted.is_empty() {
        return Ok(());
    }
    let mut problems = Vec::new();
    let named = named(store, &mut problems)?;
    if let Some(damage) = problems.first() {
        // What is named cannot be known, so nothing is removed.
        return Err(StoreError::damaged(damage.path.as_str()).into());
    }
    let mut batch = Batch { durable: true, ..Batch::default() };
    for (key, _) in noted {
        let address: Address = key.parse().map_err(|_| StoreError::damaged("catalog: drop"))?;
        if !named.contains_key(&address) {
            store.objects().delete(&address)?;
        }
        batch.delete.push(drop_key(&key));
    }
    Ok(store.commit(&batch)?)
}
