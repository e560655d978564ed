//! How much a part of a document amounts to once its aliases are written out.

/// The most values of one document.
pub(super) const MAX_NODES: u64 = 10_000_000;

/// The most text of one document.
const MAX_BYTES: u64 = 8 << 30;

/// How many times as much as is written the aliases may make of it.
pub(super) const MAX_RATIO: u64 = 100;

/// Text that is never too much, however little is written.
const FREE_BYTES: u64 = 64 << 20;

/// Values, bytes of text and levels, aliases written out.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) nodes: u64,
    bytes: u64,
    pub(super) height: usize,
}

impl Weight {
    pub(super) fn scalar(length: usize) -> Self {
        Weight { nodes: 1, bytes: length as u64, height: 0 }
    }

    pub(super) fn container() -> Self {
        Weight { nodes: 1, bytes: 0, height: 1 }
    }

    pub(super) fn add(&mut self, part: Weight) {
        self.nodes = self.nodes.saturating_add(part.nodes);
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.height = self.height.max(part.height + 1);
    }

    pub(super) fn add_bytes(&mut self, length: usize) {
        self.bytes = self.bytes.saturating_add(length as u64);
    }

    /// Why this is too much for any document.
    pub(super) fn beyond_all(&self) -> Option<&'static str> {
        if self.nodes > MAX_NODES {
            return Some("more than ten million values");
        }
        (self.bytes > MAX_BYTES).then_some("more than 8 GiB")
    }

    /// Why this is too much for a document of so many nodes and bytes.
    pub(super) fn beyond(&self, nodes: u64, bytes: u64) -> Option<&'static str> {
        let too_much = self.nodes > nodes * MAX_RATIO || self.bytes > FREE_BYTES.max(bytes * MAX_RATIO);
        too_much.then_some("more than a hundred times what is written")
    }
}
