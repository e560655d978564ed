//! The leaf of a record: one digest over its id and over one digest for each label its fields have.
//!
//! *Invariant:* a leaf depends on the record, the split and the effective labels alone, never on the order of
//! fields. Every record of a split commits to the same sealed labels, so that presence says nothing.

use crate::canonical;
use crate::digest::{CommitKey, Digest, RowKey, sha256_of, tagged};
use crate::record::Record;
use crate::value::Object;
use crate::visibility::SplitLabels;

/// Makes the leaves of the records of one split, one after the other, reusing its buffers.
pub struct Leaves {
    labels: SplitLabels,
    key: Option<CommitKey>,
    layout: Layout,
    /// One slot for each label.
    groups: Vec<Option<Digest>>,
    bytes: Vec<u8>,
}

/// The fields of the latest record, so that a record with the same names needs no sorting.
#[derive(Default)]
struct Layout {
    names: Vec<String>,
    /// Which label each field has, and which field it is, by label and then by canonical key order.
    order: Vec<(usize, usize)>,
}

impl Leaves {
    /// Leaves whose sealed groups are commitments under the dataset's key: the identity of the records.
    pub fn committed(labels: SplitLabels, key: &CommitKey) -> Self {
        Leaves::new(labels, Some(key.clone()))
    }

    /// Leaves with every group hashed openly. They say whether two datasets with different keys hold the same;
    /// where a label is sealed they can be tested against guesses, so they are for evaluators and never stored.
    /// In a split without sealed labels they are the same as the committed ones.
    pub fn content(labels: SplitLabels) -> Self {
        Leaves::new(labels, None)
    }

    fn new(labels: SplitLabels, key: Option<CommitKey>) -> Self {
        let groups = vec![None; labels.labels().len()];
        Leaves { labels, key, layout: Layout::default(), groups, bytes: Vec::new() }
    }

    /// The labels the leaves are made by.
    pub fn labels(&self) -> &SplitLabels {
        &self.labels
    }

    /// The leaf of a record.
    pub fn leaf(&mut self, record: &Record<'_>) -> Digest {
        self.hash_groups(record);
        let labels = self.labels.labels().iter().zip(&self.groups);
        let groups = labels.filter_map(|(label, digest)| Some((label.name(), (*digest)?)));
        leaf_of(record.id.as_str(), groups, &mut self.bytes)
    }

    /// The digest of each group of a record, by label in canonical key order.
    pub fn groups(&mut self, record: &Record<'_>) -> impl Iterator<Item = (&str, Digest)> {
        self.hash_groups(record);
        let labels = self.labels.labels().iter().zip(&self.groups);
        labels.filter_map(|(label, digest)| Some((label.name(), (*digest)?)))
    }

    /// The leaf of a record whose groups are canonical bytes already, one for each of [`labels`](Self::labels); an
    /// empty text stands for a group without fields.
    pub fn leaf_of_canonical(&mut self, id: &str, groups: &[Vec<u8>]) -> Digest {
        let has_sealed = self.labels.sealed().next().is_some();
        let row_key = self.key.as_ref().filter(|_| has_sealed).map(|key| key.row_key(self.labels.split(), id));
        for ((label, bytes), slot) in self.labels.labels().iter().zip(groups).zip(&mut self.groups) {
            let fields = if bytes.is_empty() { b"{}".as_slice() } else { bytes };
            *slot = (!bytes.is_empty() || !label.is_open())
                .then(|| group_digest(label.name(), fields, row_key.as_ref().filter(|_| !label.is_open())));
        }
        let labels = self.labels.labels().iter().zip(&self.groups);
        leaf_of(id, labels.filter_map(|(label, digest)| Some((label.name(), (*digest)?))), &mut self.bytes)
    }

    fn hash_groups(&mut self, record: &Record<'_>) {
        self.layout.follow(&record.fields, &self.labels);
        let sealed = |key: &CommitKey| key.row_key(self.labels.split(), record.id.as_str());
        let has_sealed = self.labels.sealed().next().is_some();
        let row_key = self.key.as_ref().filter(|_| has_sealed).map(sealed);
        let mut rest = self.layout.order.as_slice();
        for (index, label) in self.labels.labels().iter().enumerate() {
            let count = rest.partition_point(|(group, _)| *group <= index);
            let (group, after) = rest.split_at(count);
            rest = after;
            self.groups[index] = (!group.is_empty() || !label.is_open()).then(|| {
                self.bytes.clear();
                let entries = group.iter().filter_map(|(_, field)| record.fields.entry(*field));
                canonical::write_entries(entries, &mut self.bytes);
                group_digest(label.name(), &self.bytes, row_key.as_ref().filter(|_| !label.is_open()))
            });
        }
    }
}

impl Layout {
    fn follow(&mut self, fields: &Object<'_>, labels: &SplitLabels) {
        if self.names.iter().map(String::as_str).eq(fields.iter().map(|(name, _)| name)) {
            return;
        }
        self.names = fields.iter().map(|(name, _)| name.to_owned()).collect();
        self.order.clear();
        self.order.extend(self.names.iter().enumerate().map(|(field, name)| (labels.index_of(name), field)));
        let names = &self.names;
        self.order.sort_by(|(group_a, a), (group_b, b)| {
            group_a.cmp(group_b).then_with(|| canonical::key_order(&names[*a], &names[*b]))
        });
    }
}

/// The leaf that an id and the digests of its groups make, for one who does not hold every group.
pub fn leaf_of_groups(id: &str, groups: &[(&str, Digest)]) -> Digest {
    let mut groups = groups.to_vec();
    groups.sort_by(|(a, _), (b, _)| canonical::key_order(a, b));
    leaf_of(id, groups.into_iter(), &mut Vec::new())
}

/// The digest of the group of one label: the canonical bytes of its fields, hashed openly or under a row's key.
pub fn group_digest(label: &str, fields: &[u8], row_key: Option<&RowKey>) -> Digest {
    let parts = [label.as_bytes(), fields];
    row_key.map_or_else(|| tagged("group", &parts), |key| key.commit("group", &parts))
}

/// `SHA-256(0x00 || JCS({"groups": …, "id": …}))`, with the groups already in canonical order.
fn leaf_of<'l>(id: &str, groups: impl Iterator<Item = (&'l str, Digest)>, bytes: &mut Vec<u8>) -> Digest {
    bytes.clear();
    bytes.extend_from_slice(b"{\"groups\":{");
    for (index, (label, digest)) in groups.enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        canonical::write_text(label, bytes);
        bytes.extend_from_slice(b":\"");
        digest.write_hex(bytes);
        bytes.push(b'"');
    }
    bytes.extend_from_slice(b"},\"id\":");
    canonical::write_text(id, bytes);
    bytes.push(b'}');
    sha256_of(&[&[0], bytes])
}
