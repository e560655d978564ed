//! Unique ids, remembered in sixteen bytes each.
//!
//! *Invariant:* ids of up to eleven bytes are compared themselves, longer ones by 88 bits of their SHA-256: no file
//! can be made to collide.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;
use sha2::{Digest, Sha256};

/// What is remembered of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdKey([u32; 3]);

impl std::hash::Hash for IdKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let words = u64::from(self.0[0]) << 32 | u64::from(self.0[1]);
        let mixed = (words ^ u64::from(self.0[2]).rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state.write_u64(mixed ^ (mixed >> 32));
    }
}

impl IdKey {
    /// The last byte tells short ids, by their length, from the digests of long ones.
    pub(crate) fn of(id: &str) -> Self {
        let mut bytes = [0; 12];
        match bytes.get_mut(..id.len()) {
            Some(place) if id.len() < 12 => {
                place.copy_from_slice(id.as_bytes());
                bytes[11] = id.len() as u8;
            }
            _ => {
                bytes.copy_from_slice(&Sha256::digest(id.as_bytes())[..12]);
                bytes[11] = 0xff;
            }
        }
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_ids_have_different_keys() {
        let ids = ["", "a", "a\0", "aa", "elevenbytes", "twelve-bytes", "thirteen-byte", "thirteen-bytf", "é", "e"];
        for (index, id) in ids.iter().enumerate() {
            assert!(ids[..index].iter().all(|other| IdKey::of(other) != IdKey::of(id)), "{id}");
            assert_eq!(IdKey::of(id), IdKey::of(id));
        }
    }
}
