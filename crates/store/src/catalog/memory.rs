//! The catalogue in memory: the obvious map that the one on disk must equal.
//!
//! *Invariant:* the same answers as on disk, and nothing outlives it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Batch, Catalog, Key};
use crate::error::StoreError;
use crate::probe::{NoProbe, Probe};

/// A catalogue in memory. Clones are handles of the same one.
#[derive(Clone)]
pub struct MemoryCatalog {
    entries: Arc<Mutex<BTreeMap<Key, Vec<u8>>>>,
    probe: Arc<dyn Probe>,
}

impl MemoryCatalog {
    /// An empty catalogue.
    pub fn new() -> Self {
        MemoryCatalog::with_probe(Arc::new(NoProbe))
    }

    /// An empty catalogue that asks before it commits.
    pub fn with_probe(probe: Arc<dyn Probe>) -> Self {
        MemoryCatalog { entries: Arc::default(), probe }
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryCatalog {
    fn default() -> Self {
        MemoryCatalog::new()
    }
}

impl Catalog for MemoryCatalog {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.entries().get(key).cloned())
    }

    fn scan(&self, space: &'static str, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let entries = self.entries();
        let from = entries.range(Key::new(space, prefix)..);
        let found = from.take_while(|(key, _)| key.space == space && key.key.starts_with(prefix));
        Ok(found.map(|(key, value)| (key.key.clone(), value.clone())).collect())
    }

    fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        let mut entries = self.entries();
        if batch.expect.iter().any(|(key, value)| entries.get(key) != value.as_ref()) {
            return Err(StoreError::Conflict);
        }
        self.probe.step("commit").map_err(|error| StoreError::step("commit", error))?;
        for key in &batch.delete {
            entries.remove(key);
        }
        entries.extend(batch.put.iter().cloned());
        Ok(())
    }

    fn check(&self) -> Vec<StoreError> {
        Vec::new()
    }
}
