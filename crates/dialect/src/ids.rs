//! Unique ids, remembered in sixteen bytes each.
//!
//! *Invariant:* ids are compared by the first 96 bits of their SHA-256: no file can be made to collide.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;
use sha2::{Digest, Sha256};

/// What is remembered of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdKey([u32; 3]);

impl std::hash::Hash for IdKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.0[0]) << 32 | u64::from(self.0[1]));
    }
}

impl IdKey {
    pub(crate) fn of(id: &str) -> Self {
        let digest = Sha256::digest(id.as_bytes());
        let word = |at: usize| u32::from_le_bytes([digest[at], digest[at + 1], digest[at + 2], digest[at + 3]]);
        IdKey([word(0), word(4), word(8)])
    }
}

/// The ids met so far, each with the line it was first on.
#[derive(Default)]
pub(crate) struct Ids {
    lines: HashMap<IdKey, u32, BuildHasherDefault<AlreadyHashed>>,
}

impl Ids {
    /// Remembers an id; answers the line it was already on.
    pub(crate) fn insert(&mut self, key: IdKey, line: u64) -> Option<u64> {
        match self.lines.entry(key) {
            hashbrown::hash_map::Entry::Occupied(first) => Some(u64::from(*first.get())),
            hashbrown::hash_map::Entry::Vacant(place) => {
                place.insert(u32::try_from(line).unwrap_or(u32::MAX));
                None
            }
        }
    }

    /// The line an id is on.
    pub(crate) fn line_of(&self, key: IdKey) -> Option<u64> {
        self.lines.get(&key).map(|line| u64::from(*line))
    }
}

/// The key is a hash already.
#[derive(Default)]
pub(crate) struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {}

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}
