//! Numbers that look random and are the same in every run, and a probe that refuses one step.

use std::io;
use std::sync::{Arc, Mutex};

use heldset_store::{Entropy, NoProbe, Probe};

/// A generator (SplitMix64) as a source of entropy.
pub(crate) struct Seeded(Mutex<u64>);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Seeded(Mutex::new(seed))
    }

    pub(crate) fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes);
        bytes
    }
}

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.next().to_le_bytes()[..piece.len()]);
        }
    }
}

/// Refuses every step of one name.
pub(crate) struct Refuse(pub(crate) &'static str);

impl Probe for Refuse {
    fn step(&self, name: &'static str) -> io::Result<()> {
        if name == self.0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

pub(crate) fn refuse(name: &'static str) -> Arc<dyn Probe> {
    Arc::new(Refuse(name))
}

pub(crate) fn free() -> Arc<dyn Probe> {
    Arc::new(NoProbe)
}
