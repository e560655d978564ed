//! Keys in memory, for tests.
//!
//! *Invariant:* the same answers as on disk.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ed25519_dalek::SigningKey;

use super::{DatasetKeys, Keys};
use crate::error::StoreError;

/// Keys in memory. Clones are handles of the same ones.
#[derive(Clone, Default)]
pub struct MemoryKeys {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    datasets: BTreeMap<String, DatasetKeys>,
    audit: Option<SigningKey>,
}

impl MemoryKeys {
    /// No keys yet.
    pub fn new() -> Self {
        MemoryKeys::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys for MemoryKeys {
    fn load(&self, dataset: &str) -> Result<Option<DatasetKeys>, StoreError> {
        Ok(self.state().datasets.get(dataset).cloned())
    }

    fn save(&self, dataset: &str, keys: &DatasetKeys) -> Result<(), StoreError> {
        self.state().datasets.insert(dataset.to_owned(), keys.clone());
        Ok(())
    }

    fn forget(&self, dataset: &str) -> Result<bool, StoreError> {
        Ok(self.state().datasets.remove(dataset).is_some())
    }

    fn list(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.state().datasets.keys().cloned().collect())
    }

    fn audit(&self) -> Result<Option<SigningKey>, StoreError> {
        Ok(self.state().audit.clone())
    }

    fn save_audit(&self, key: &SigningKey) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.audit.is_some() {
            return Err(StoreError::Conflict);
        }
        state.audit = Some(key.clone());
        Ok(())
    }
}
