//! Randomness and time that are the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use heldset_engine::ports::Clock;
use heldset_store::Entropy;

/// A generator (SplitMix64) as a source of entropy and of choices.
pub struct Seeded(AtomicU64);

impl Seeded {
    /// The generator that starts from this seed.
    pub fn new(seed: u64) -> Self {
        Seeded(AtomicU64::new(seed))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or_default()
    }

    /// One of these.
    pub fn one<'o, T>(&self, of: &'o [T]) -> &'o T {
        &of[self.below(of.len())]
    }
}

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.next().to_le_bytes()[..piece.len()]);
        }
    }
}

/// A clock that stands still.
pub struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> String {
        "2026-05-01T12:00:00Z".to_owned()
    }
}
