//! What the catalogue remembers of its entries: the digest of each, and the sum of them all.
//!
//! *Invariant:* the sum depends on the set of entries alone, not on the order they came in; an entry that vanishes
//! or changes without a batch no longer fits the sum.

use heldset_core::digest::{Digest, tagged};

/// The sum of the digests of all entries, as numbers of 256 bits that wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum([u8; 32]);

/// The digest of one entry. Names of spaces have no zero byte.
pub(super) fn digest_of(space: &str, key: &str, value: &[u8]) -> Digest {
    tagged("entry", &[space.as_bytes(), key.as_bytes(), value])
}

impl Sum {
    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Sum(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn add(&mut self, digest: &[u8; 32]) {
        let mut carry = 0;
        for (own, other) in self.0.iter_mut().zip(digest) {
            let total = u16::from(*own) + u16::from(*other) + carry;
            *own = (total & 0xff) as u8;
            carry = total >> 8;
        }
    }

    pub(super) fn subtract(&mut self, digest: &[u8; 32]) {
        let mut borrow = false;
        for (own, other) in self.0.iter_mut().zip(digest) {
            let (less, first) = own.overflowing_sub(*other);
            let (less, second) = less.overflowing_sub(u8::from(borrow));
            *own = less;
            borrow = first || second;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_added_can_be_taken_away_in_any_order(a: [u8; 32], b: [u8; 32], c: [u8; 32]) {
            let mut sum = Sum::from_bytes(a);
            sum.add(&b);
            sum.add(&c);
            let mut other = Sum::from_bytes(a);
            other.add(&c);
            other.add(&b);
            prop_assert_eq!(sum, other);
            sum.subtract(&b);
            sum.subtract(&c);
            prop_assert_eq!(sum, Sum::from_bytes(a));
        }
    }
}
