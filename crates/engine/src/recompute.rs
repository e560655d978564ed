//! Leaves and roots of chunks, computed again from what is stored.
//!
//! *Invariant:* what is read here is hashed and goes nowhere else. Erased rows have the leaf that was kept for them.

use heldset_core::digest::Digest;
use heldset_core::leaf::Leaves;
use heldset_core::merkle::Tree;
use heldset_core::visibility::SplitLabels;
use heldset_store::DatasetKeys;
use heldset_store::documents::ChunkDoc;
use heldset_store::pack::Group;

/// Computes the leaves of one split's rows.
pub(crate) struct Recompute {
    leaves: Leaves,
    /// The canonical bytes of a row, for each label.
    bytes: Vec<Vec<u8>>,
}

impl Recompute {
    /// For rows with these labels. Without keys nothing may be sealed.
    pub(crate) fn new(labels: &SplitLabels, keys: Option<&DatasetKeys>) -> Self {
        let bytes = vec![Vec::new(); labels.labels().len()];
        let leaves = match keys {
            Some(keys) => Leaves::committed(labels.clone(), &keys.commit_key()),
            None => Leaves::content(labels.clone()),
        };
        Recompute { leaves, bytes }
    }

    /// The leaves of a chunk whose rows in the groups start at `first`, in order; nothing if rows are missing.
    pub(crate) fn chunk(&mut self, groups: &[Group], first: usize, doc: &ChunkDoc) -> Option<Vec<Digest>> {
        let labels = self.leaves.labels().labels();
        let places: Vec<Option<&Group>> =
            labels.iter().map(|label| groups.iter().find(|group| group.label() == label)).collect();
        let (own, total) = (groups.first()?, doc.rows + doc.erased.len() as u64);
        let mut leaves = Vec::with_capacity(usize::try_from(total).ok()?);
        let mut row = first;
        for index in 0..total {
            if let Some(leaf) = doc.erased.get(&index) {
                leaves.push(leaf.parse().ok()?);
                continue;
            }
            if row >= own.rows() {
                return None;
            }
            for (bytes, group) in self.bytes.iter_mut().zip(&places) {
                bytes.clear();
                if let Some(group) = group {
                    group.canonical(row, bytes);
                }
            }
            leaves.push(self.leaves.leaf_of_canonical(own.id(row)?, &self.bytes));
            row += 1;
        }
        (row as u64 == first as u64 + doc.rows).then_some(leaves)
    }
}

/// The root of a chunk with these leaves.
pub(crate) fn root_of(leaves: &[Digest]) -> Digest {
    leaves.iter().copied().collect::<Tree>().head()
}
