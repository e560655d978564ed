//! Chunks of a split: where they end, their roots, the root of the split, and proofs through both.
//!
//! *Invariant:* boundaries depend on the leaves alone, so equal content has equal chunks whatever its history,
//! and an edit touches few of them.

use crate::digest::Digest;
use crate::merkle::{Inclusion, Tree, leaf_hash};

/// The most records a chunk can have.
pub const MAX_CHUNK_ROWS: u64 = 8192;

/// A run of records whose leaves have one root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The row of its first record, from 0.
    pub first_row: u64,
    /// How many records it has.
    pub rows: u64,
    /// The tree head over its leaves.
    pub root: Digest,
}

/// What a split comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitSum {
    /// How many records there are.
    pub rows: u64,
    /// How many chunks.
    pub chunks: u64,
    /// The tree head over the chunk roots.
    pub root: Digest,
}

/// Cuts a stream of leaves into chunks and keeps the root of the split.
#[derive(Clone, Debug, Default)]
pub struct Chunker {
    open: Tree,
    closed: Tree,
    rows: u64,
}

/// The proof that a record is in a split: up its chunk, then up the split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordProof {
    /// The way from the leaf to the root of its chunk.
    pub in_chunk: Inclusion,
    /// How many records the chunk has.
    pub chunk_rows: u64,
    /// The way from the chunk to the root of the split.
    pub in_split: Inclusion,
    /// How many chunks the split has.
    pub chunks: u64,
}

impl Chunker {
    /// A split without records.
    pub fn new() -> Self {
        Chunker::default()
    }

    /// Adds the leaf of the next record; gives the chunk that it ends, if it ends one.
    pub fn push(&mut self, leaf: Digest) -> Option<Chunk> {
        self.open.push(leaf);
        self.rows += 1;
        (ends_chunk(&leaf) || self.open.size() == MAX_CHUNK_ROWS).then(|| self.close())
    }

    /// Adds a whole chunk whose root is known; refused while another one is open, for it would not begin here.
    pub fn push_chunk(&mut self, root: Digest, rows: u64) -> bool {
        if self.open.size() > 0 {
            return false;
        }
        self.rows += rows;
        self.closed.push(leaf_hash(root.as_bytes()));
        true
    }

    /// Whether a chunk is open.
    pub fn is_open(&self) -> bool {
        self.open.size() > 0
    }

    /// Ends the split; gives the last chunk, if one was still open, and the sum.
    pub fn finish(mut self) -> (Option<Chunk>, SplitSum) {
        let last = (self.open.size() > 0).then(|| self.close());
        (last, SplitSum { rows: self.rows, chunks: self.closed.size(), root: self.closed.head() })
    }

    fn close(&mut self) -> Chunk {
        let tree = std::mem::take(&mut self.open);
        let root = tree.head();
        self.closed.push(leaf_hash(root.as_bytes()));
        Chunk { first_row: self.rows - tree.size(), rows: tree.size(), root }
    }
}

impl RecordProof {
    /// The proof for the record at `index` of a chunk: from the leaves of that chunk, and the roots of all chunks of
    /// the split, of which it is the one at `chunk`.
    pub fn of(leaves: &[Digest], index: usize, chunk_roots: &[Digest], chunk: usize) -> Option<RecordProof> {
        let entries: Vec<_> = chunk_roots.iter().map(|root| leaf_hash(root.as_bytes())).collect();
        Some(RecordProof {
            in_chunk: Inclusion::of(leaves, index)?,
            chunk_rows: leaves.len() as u64,
            in_split: Inclusion::of(&entries, chunk)?,
            chunks: entries.len() as u64,
        })
    }

    /// Whether this proves that a record with this leaf is in the split with this root. It proves membership; the
    /// row it claims is only as good as its counts, which the root does not bind.
    pub fn proves(&self, leaf: Digest, split_root: Digest) -> bool {
        let fits = self.chunk_rows <= MAX_CHUNK_ROWS;
        let chunk_root = self.in_chunk.head_for(leaf, self.chunk_rows).filter(|_| fits);
        chunk_root.is_some_and(|root| self.in_split.proves(leaf_hash(root.as_bytes()), self.chunks, split_root))
    }
}

/// Whether a chunk ends after this leaf.
pub fn ends_chunk(leaf: &Digest) -> bool {
    let bytes = leaf.as_bytes();
    u16::from_be_bytes([bytes[30], bytes[31]]) & 0x3ff == 0
}

/// The root of a split from the roots of its chunks, in order.
pub fn split_root(chunk_roots: impl IntoIterator<Item = Digest>) -> Digest {
    chunk_roots.into_iter().map(|root| leaf_hash(root.as_bytes())).collect::<Tree>().head()
}
