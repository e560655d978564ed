//! Which versions have which chunks of a split, and by which labels they read them.
//!
//! *Invariant:* a chunk that versions share reads the same by the labels of each of them.

use std::collections::{BTreeSet, HashMap};

use heldset_core::visibility::SplitLabels;
use heldset_store::Store;
use heldset_store::documents::{ChunkDoc, PackDoc, VersionDoc};

use crate::refusal::Outcome;
use crate::resolve;
use crate::rows::SplitRows;

/// The chunks of one split, over all versions.
#[derive(Default)]
pub(crate) struct Uses {
    labels: Vec<SplitLabels>,
    /// By root in hex: the labels, and the numbers of the versions.
    chunks: HashMap<String, (usize, BTreeSet<u64>)>,
}

impl Uses {
    /// Reads the lists of chunks of a split in all these versions.
    pub(crate) fn of(store: &Store, dataset: &str, split: &str, versions: &[VersionDoc]) -> Outcome<Uses> {
        let mut uses = Uses::default();
        let mut lists: HashMap<String, Vec<String>> = HashMap::new();
        for version in versions {
            let Some(doc) = resolve::split(version, split).filter(|doc| !doc.files) else { continue };
            let labels = resolve::policy_of(version)?.in_split(split)?;
            let at = uses.labels.iter().position(|known| *known == labels).unwrap_or_else(|| {
                uses.labels.push(labels);
                uses.labels.len() - 1
            });
            if !lists.contains_key(&doc.root) {
                let chunks = SplitRows::chunks_of(store, dataset, doc)?;
                lists.insert(doc.root.clone(), chunks.iter().map(|(root, _)| root.hex()).collect());
            }
            for root in lists.get(&doc.root).into_iter().flatten() {
                let (_, numbers) = uses.chunks.entry(root.clone()).or_insert_with(|| (at, BTreeSet::new()));
                numbers.insert(version.number);
            }
        }
        Ok(uses)
    }

    /// Whether any version has a chunk.
    pub(crate) fn has(&self, chunk: &ChunkDoc) -> bool {
        self.chunks.contains_key(&chunk.root)
    }

    /// The labels that a chunk is read by.
    pub(crate) fn labels_of(&self, chunk: &ChunkDoc) -> Option<&SplitLabels> {
        self.chunks.get(&chunk.root).map(|(at, _)| &self.labels[*at])
    }

    /// The labels of some version that reads a chunk of this pack.
    pub(crate) fn labels_of_pack(&self, pack: &PackDoc) -> Option<&SplitLabels> {
        pack.chunks.iter().find_map(|chunk| self.labels_of(chunk))
    }

    /// The numbers of the versions that have a chunk.
    pub(crate) fn versions_of(&self, chunk: &ChunkDoc) -> BTreeSet<u64> {
        self.chunks.get(&chunk.root).map(|(_, numbers)| numbers.clone()).unwrap_or_default()
    }
}

/// The names of the splits of records that any of these versions has.
pub(crate) fn record_splits(versions: &[VersionDoc]) -> BTreeSet<String> {
    let splits = versions.iter().flat_map(|version| &version.splits);
    splits.filter(|split| !split.files).map(|split| split.name.clone()).collect()
}
