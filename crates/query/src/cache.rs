//! Columns that were decoded, kept for the next query within a limit of memory.
//!
//! *Invariant:* holds no more bytes than its limit, apart from what queries hold themselves; what is asked for least
//! lately goes first. A key names bytes that never change, so nothing here is ever stale.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::QueryError;
use crate::values::Values;

/// What is kept of a part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// The values of a field, by its path.
    Field(String),
    /// What a field is sorted by.
    Key(String),
    /// What no typed column holds.
    Rests,
}

type Key = (Arc<str>, What);

/// Of how many columns it is remembered that they were asked for.
const MOST_ASKED: usize = 65_536;

/// Decoded columns.
pub struct Cache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: HashMap<Key, (Arc<Values>, u64)>,
    /// How often a few rows of something were asked for that is not kept.
    asked: HashMap<Key, u32>,
    bytes: usize,
    clock: u64,
}

impl Cache {
    /// A cache of at most so many bytes.
    pub fn new(limit: usize) -> Self {
        Cache { limit, state: Mutex::default() }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    pub(crate) fn get_or(
        &self,
        part: &str,
        what: What,
        make: impl FnOnce() -> Result<Values, QueryError>,
    ) -> Result<Arc<Values>, QueryError> {
        let key = (Arc::from(part), what);
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.clock += 1;
            let now = state.clock;
            if let Some((values, used)) = state.kept.get_mut(&key) {
                *used = now;
                return Ok(values.clone());
            }
        }
        let values = Arc::new(make()?);
        self.keep(key, &values);
        Ok(values)
    }

    /// What is kept, if it is; else whether it was asked for before, and is worth keeping now.
    pub(crate) fn peek(&self, part: &str, what: What) -> Result<Arc<Values>, bool> {
        let key = (Arc::from(part), what);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((values, _)) = state.kept.get(&key) {
            return Ok(values.clone());
        }
        if state.asked.len() >= MOST_ASKED {
            state.asked.clear();
        }
        let asked = state.asked.entry(key).or_insert(0);
        *asked += 1;
        Err(*asked > 1)
    }

    fn keep(&self, key: Key, values: &Arc<Values>) {
        let size = values.size();
        if size > self.limit {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.clock;
        if let Some((before, _)) = state.kept.insert(key, (values.clone(), now)) {
            state.bytes -= before.size();
        }
        state.bytes += size;
        while state.bytes > self.limit {
            let oldest = state.kept.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            if let Some((gone, _)) = state.kept.remove(&oldest) {
                state.bytes -= gone.size();
            }
        }
    }
}
