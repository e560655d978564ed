//! Merkle trees as RFC 6962 has them: the head of a growing list, and proofs that something is in it.
//!
//! *Invariant:* linear work and logarithmic memory for a head, no recursion. A leaf and an inner node are hashed
//! with different prefixes, so neither stands for the other.

use crate::digest::{Digest, sha256, sha256_of};

/// The head of a tree that grows at its end.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The heads of the full subtrees, largest first: one for each bit that is set in `size`.
    peaks: Vec<Digest>,
    size: u64,
}

/// The way from one leaf up to the head: the sibling at each level where there is one, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inclusion {
    /// Which leaf, from 0.
    pub index: u64,
    /// The siblings.
    pub path: Vec<Digest>,
}

impl Tree {
    /// An empty tree.
    pub fn new() -> Self {
        Tree::default()
    }

    /// The tree that goes on from where another stopped; nothing if a tree of that size has not so many peaks.
    pub fn from_peaks(size: u64, peaks: Vec<Digest>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Tree { peaks, size })
    }

    /// The heads of the full subtrees, largest first: with the size, all that is needed to go on.
    pub fn peaks(&self) -> &[Digest] {
        &self.peaks
    }

    /// Adds an entry, hashed as a leaf.
    pub fn push_entry(&mut self, entry: &[u8]) {
        self.push(leaf_hash(entry));
    }

    /// Adds a leaf that is already hashed.
    pub fn push(&mut self, leaf: Digest) {
        let mut node = leaf;
        for _ in 0..self.size.trailing_ones() {
            let left = self.peaks.pop().expect("each set bit of the size has its peak");
            node = node_of(&left, &node);
        }
        self.peaks.push(node);
        self.size += 1;
    }

    /// How many leaves there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The head; of no leaves, SHA-256 of nothing.
    pub fn head(&self) -> Digest {
        let joined = self.peaks.iter().rev().copied().reduce(|right, left| node_of(&left, &right));
        joined.unwrap_or_else(|| sha256(b""))
    }
}

impl Extend<Digest> for Tree {
    fn extend<I: IntoIterator<Item = Digest>>(&mut self, leaves: I) {
        leaves.into_iter().for_each(|leaf| self.push(leaf));
    }
}

impl FromIterator<Digest> for Tree {
    fn from_iter<I: IntoIterator<Item = Digest>>(leaves: I) -> Self {
        let mut tree = Tree::new();
        tree.extend(leaves);
        tree
    }
}

impl Inclusion {
    /// The proof that the leaf at `index` is among these hashed leaves.
    pub fn of(leaves: &[Digest], index: usize) -> Option<Inclusion> {
        leaves.get(index)?;
        let mut path = Vec::new();
        let (mut level, mut at) = (leaves.to_vec(), index);
        while level.len() > 1 {
            path.extend(level.get(at ^ 1));
            let pairs = level.chunks(2).map(|pair| match pair {
                [left, right] => node_of(left, right),
                alone => alone[0],
            });
            level = pairs.collect();
            at /= 2;
        }
        Some(Inclusion { index: index as u64, path })
    }

    /// Whether this proves that `leaf` is in the tree of `size` leaves that has this head. The size must come from
    /// where the head comes from: it says where the path turns, and a head alone does not bind it.
    pub fn proves(&self, leaf: Digest, size: u64, head: Digest) -> bool {
        self.head_for(leaf, size) == Some(head)
    }

    /// The head that the path leads to, if the path has the shape such a tree gives it.
    pub(crate) fn head_for(&self, leaf: Digest, size: u64) -> Option<Digest> {
        let (mut at, mut last) = (self.index, size.checked_sub(1)?);
        if at > last {
            return None;
        }
        let (mut node, mut path) = (leaf, self.path.iter());
        while last > 0 {
            if at % 2 == 1 {
                node = node_of(path.next()?, &node);
            } else if at < last {
                node = node_of(&node, path.next()?);
            }
            at /= 2;
            last /= 2;
        }
        path.next().is_none().then_some(node)
    }
}

/// The hash of an entry as a leaf.
pub fn leaf_hash(entry: &[u8]) -> Digest {
    sha256_of(&[&[0], entry])
}

fn node_of(left: &Digest, right: &Digest) -> Digest {
    sha256_of(&[&[1], left.as_bytes(), right.as_bytes()])
}
