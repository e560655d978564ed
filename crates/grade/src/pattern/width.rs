//! How many characters a part of a pattern can match.
//!
//! *Invariant:* the least is never more than the most.

/// From at least to at most so many characters; the most there are stands for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width {
    low: u64,
    high: u64,
}

impl Width {
    pub(super) const NONE: Width = Width { low: 0, high: 0 };
    pub(super) const ONE: Width = Width { low: 1, high: 1 };

    /// This, then that.
    pub(super) fn then(self, next: Width) -> Width {
        Width { low: self.low.saturating_add(next.low), high: self.high.saturating_add(next.high) }
    }

    /// This or that.
    pub(super) fn or(self, other: Option<Width>) -> Width {
        other.map_or(self, |other| Width { low: self.low.min(other.low), high: self.high.max(other.high) })
    }

    /// This, repeated.
    pub(super) fn times(self, low: u32, high: Option<u32>) -> Width {
        let most = match high {
            Some(high) => self.high.saturating_mul(u64::from(high)),
            None if self.high == 0 => 0,
            None => u64::MAX,
        };
        Width { low: self.low.saturating_mul(u64::from(low)), high: most }
    }

    pub(super) fn is_fixed(self) -> bool {
        self.low == self.high
    }
}
