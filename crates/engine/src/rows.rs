//! The rows of a split at rest: which chunks it has, where they are, and how to read them.
//!
//! *Invariant:* rows come out in the order of the version, whatever the order at rest.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use heldset_core::digest::Digest;
use heldset_core::visibility::{Grant, Label, SplitLabels};
use heldset_store::documents::{Document, ObjectDoc, PackDoc, SplitDoc, last_part, prefix, roots_key};
use heldset_store::pack::{Group, Source, find_rows, id_hash};
use heldset_store::{DatasetKeys, Store, StoreError};

/// The most rows read at once.
const RUN_ROWS: u64 = 65_536;
/// Bytes of a chunk in a list of chunks: its root and its rows.
const ENTRY: usize = 36;
/// The tag of the format of a list of chunks.
const MAGIC: &[u8] = b"heldset/roots/1\n";

/// A split at rest.
pub struct SplitRows {
    split: String,
    /// The chunks in order: root and rows, erased ones included.
    pub chunks: Vec<(Digest, u64)>,
    /// The packs of the split, those of other versions too.
    pub packs: Vec<(String, PackDoc)>,
    places: HashMap<Digest, Place>,
    /// Indexes of ids that are held.
    indexes: HashMap<usize, Source>,
}

/// Where a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which pack.
    pub pack: usize,
    /// Which chunk of the pack.
    pub chunk: usize,
    /// The first of its rows in the pack.
    pub first: u64,
    /// How many rows of it are there.
    pub rows: u64,
}

/// Rows that are read together: chunks of one pack that follow each other in the version.
pub struct Run {
    /// Which pack.
    pub pack: usize,
    /// Which rows of the pack.
    pub rows: Vec<Range<u64>>,
    /// Which chunks of the version: from the first to the last, of those that were asked for.
    pub chunks: Range<usize>,
}

/// What is needed to read groups: keys, and what may be seen.
pub struct Reading<'r> {
    /// The store.
    pub store: &'r Store,
    /// The dataset's keys; absent, nothing sealed can be read.
    pub keys: Option<&'r DatasetKeys>,
    /// The id of the dataset.
    pub dataset: &'r str,
    /// The labels of the split.
    pub labels: &'r SplitLabels,
    /// What may be seen.
    pub grant: &'r Grant,
}

impl SplitRows {
    /// Finds a split of a version.
    pub fn load(store: &Store, dataset: &str, split: &SplitDoc) -> Result<SplitRows, StoreError> {
        let chunks = SplitRows::chunks_of(store, dataset, split)?;
        let mut rows = SplitRows::known_under(store, dataset, &split.name, &split.label)?;
        rows.chunks = chunks;
        Ok(rows)
    }

    /// The chunks of a split of a version, in order: root and rows, erased ones included.
    pub fn chunks_of(store: &Store, dataset: &str, split: &SplitDoc) -> Result<Vec<(Digest, u64)>, StoreError> {
        let what = format!("catalog: the chunks of split {}", split.name);
        let bytes = store.catalog().get(&roots_key(dataset, &split.name, &split.root))?;
        read_roots(&bytes.ok_or_else(|| StoreError::missing(&what))?).ok_or_else(|| StoreError::damaged(&what))
    }

    /// How many bytes the packs of its chunks have at rest, in the objects of some labels.
    pub fn stored_bytes(&self, counted: impl Fn(&str) -> bool) -> u64 {
        let places = self.chunks.iter().filter_map(|(root, _)| self.places.get(root));
        let packs: BTreeSet<usize> = places.map(|place| place.pack).collect();
        let objects = packs.iter().flat_map(|pack| &self.packs[*pack].1.objects);
        objects.filter(|object| counted(&object.label)).map(|object| object.size).sum()
    }

    /// All chunks that are at rest for a split of that name, of whatever version.
    pub fn known(store: &Store, dataset: &str, split: &str) -> Result<SplitRows, StoreError> {
        SplitRows::at_rest(store, dataset, split, None)
    }

    /// All chunks that are at rest for a split of that name while it had this label. A root does not tell the label
    /// that the ids lie under, so that the same chunk can be at rest under another one.
    pub fn known_under(store: &Store, dataset: &str, split: &str, label: &str) -> Result<SplitRows, StoreError> {
        SplitRows::at_rest(store, dataset, split, Some(label))
    }

    fn at_rest(store: &Store, dataset: &str, split: &str, label: Option<&str>) -> Result<SplitRows, StoreError> {
        let entries = store.catalog().scan("pack", &prefix(&[dataset, split]))?;
        let (packs, places) = (Vec::with_capacity(entries.len()), HashMap::new());
        let mut rows =
            SplitRows { split: split.to_owned(), chunks: Vec::new(), packs, places, indexes: HashMap::new() };
        for (key, bytes) in entries {
            let name = last_part(&key);
            let pack = PackDoc::from_bytes(&bytes, &format!("catalog: pack {name}"))?;
            if label.is_none_or(|label| label == pack.ids.label) {
                rows.add_pack(name, pack)?;
            }
        }
        Ok(rows)
    }

    /// The same split with packs that are not in the catalogue yet, and with these chunks.
    pub fn add(
        &mut self,
        packs: impl IntoIterator<Item = PackDoc>,
        chunks: Vec<(Digest, u64)>,
    ) -> Result<(), StoreError> {
        self.chunks = chunks;
        packs.into_iter().try_for_each(|pack| self.add_pack("new", pack))
    }

    fn add_pack(&mut self, name: &str, pack: PackDoc) -> Result<(), StoreError> {
        let mut first = 0;
        for (chunk, doc) in pack.chunks.iter().enumerate() {
            let root = doc.root.parse().map_err(|_| StoreError::damaged(format!("catalog: pack {name}")))?;
            self.places.insert(root, Place { pack: self.packs.len(), chunk, first, rows: doc.rows });
            first += doc.rows;
        }
        self.packs.push((name.to_owned(), pack));
        Ok(())
    }

    /// Where a chunk is, if it is at rest.
    pub fn place(&self, root: &Digest) -> Option<Place> {
        self.places.get(root).copied()
    }

    /// Whether a record of a chunk was erased.
    pub fn is_erased(&self, root: &Digest) -> bool {
        self.place(root).is_some_and(|place| !self.packs[place.pack].1.chunks[place.chunk].erased.is_empty())
    }

    /// The leaves of all records that were erased.
    pub fn erased_leaves(&self) -> std::collections::HashSet<Digest> {
        let chunks = self.packs.iter().flat_map(|(_, pack)| &pack.chunks);
        chunks.flat_map(|chunk| chunk.erased.values()).filter_map(|leaf| leaf.parse().ok()).collect()
    }

    /// The chunks as the catalogue keeps them.
    pub fn roots_bytes(chunks: &[(Digest, u64)]) -> Vec<u8> {
        let mut out = Vec::with_capacity(MAGIC.len() + chunks.len() * ENTRY);
        out.extend_from_slice(MAGIC);
        for (root, rows) in chunks {
            out.extend_from_slice(root.as_bytes());
            out.extend_from_slice(&(u32::try_from(*rows).unwrap_or(u32::MAX)).to_be_bytes());
        }
        out
    }

    /// The chunks of the version, gathered into runs.
    pub fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.runs_of(0..self.chunks.len())
    }

    /// Some chunks of the version, in ascending order, gathered into runs.
    pub fn runs_of(&self, chunks: impl IntoIterator<Item = usize>) -> Result<Vec<Run>, StoreError> {
        let mut runs: Vec<Run> = Vec::new();
        for index in chunks {
            let place = self.place_of(index)?;
            let range = place.first..place.first + place.rows;
            match runs.last_mut().filter(|run| run.takes(&place)) {
                Some(run) => {
                    run.chunks.end = index + 1;
                    match run.rows.last_mut().filter(|last| last.end == range.start) {
                        Some(last) => last.end = range.end,
                        None => run.rows.push(range),
                    }
                }
                None => runs.push(Run { pack: place.pack, rows: vec![range], chunks: index..index + 1 }),
            }
        }
        Ok(runs)
    }

    /// Where a chunk of the version is.
    pub fn place_of(&self, index: usize) -> Result<Place, StoreError> {
        let root = &self.chunks[index].0;
        self.place(root).ok_or_else(|| StoreError::missing(format!("chunk {} of split {}", root.hex(), self.split)))
    }

    /// Where records with this id are in the packs: pack and row. Ids are compared. Packs of versions in which the
    /// split had another label hold their ids under that one, and are left out.
    pub fn find(&self, reading: &Reading<'_>, id: &str) -> Result<Vec<(usize, u64)>, StoreError> {
        let mut found = Vec::new();
        let own = reading.labels.own().name();
        for (index, _) in self.packs.iter().enumerate().filter(|(_, (_, pack))| pack.ids.label == own) {
            found.extend(self.find_in(reading, index, id)?.into_iter().map(|row| (index, row)));
        }
        Ok(found)
    }

    /// Holds the indexes of ids from now on: worth it for more than a few ids.
    pub fn hold_indexes(&mut self, reading: &Reading<'_>) -> Result<(), StoreError> {
        let own = reading.labels.own().name();
        for (index, (_, pack)) in self.packs.iter().enumerate().filter(|(_, (_, pack))| pack.ids.label == own) {
            let source = reading.store.source(&pack.ids, reading.dataset, reading.keys, true)?;
            self.indexes.insert(index, source);
        }
        Ok(())
    }

    /// The rows of one pack with this id. Ids are compared.
    pub fn find_in(&self, reading: &Reading<'_>, pack: usize, id: &str) -> Result<Vec<u64>, StoreError> {
        let whole = self.indexes.get(&pack).cloned();
        let pack = &self.packs[pack].1;
        let source = match whole {
            Some(source) => source,
            None => reading.store.source(&pack.ids, reading.dataset, reading.keys, false)?,
        };
        let mut found = Vec::new();
        for row in find_rows(&source, id_hash(id))? {
            let range = u64::from(row)..u64::from(row) + 1;
            let own = reading.own_group(pack, std::slice::from_ref(&range), true)?;
            if own.id(0) == Some(id) {
                found.push(u64::from(row));
            }
        }
        Ok(found)
    }

    /// The chunk of a pack that a row is in: its number in the pack and its first row.
    pub fn chunk_at(&self, pack: usize, row: u64) -> Option<(usize, u64)> {
        let mut first = 0;
        for (index, chunk) in self.packs[pack].1.chunks.iter().enumerate() {
            if row < first + chunk.rows {
                return Some((index, first));
            }
            first += chunk.rows;
        }
        None
    }

    /// Which chunk of the version a record with this id is in, and which row of the pack it is.
    pub fn locate(&self, reading: &Reading<'_>, id: &str) -> Result<Option<(usize, Place, u64)>, StoreError> {
        for (pack, row) in self.find(reading, id)? {
            let Some((chunk, _)) = self.chunk_at(pack, row) else { continue };
            let doc = &self.packs[pack].1.chunks[chunk];
            let found = doc.root.parse().map_err(|_| StoreError::damaged("catalog: the root of a chunk"))?;
            if let Some(index) = self.chunks.iter().position(|(root, _)| *root == found) {
                let place = self.place_of(index)?;
                if (place.pack, place.chunk) == (pack, chunk) {
                    return Ok(Some((index, place, row)));
                }
            }
        }
        Ok(None)
    }
}

impl Run {
    fn takes(&self, place: &Place) -> bool {
        let total: u64 = self.rows.iter().map(|range| range.end - range.start).sum();
        let after = self.rows.last().is_some_and(|last| last.end <= place.first);
        self.pack == place.pack && after && total + place.rows <= RUN_ROWS
    }

    /// How many rows it has.
    pub fn len(&self) -> u64 {
        self.rows.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Reading<'_> {
    /// The groups of rows of a pack that may be seen, the one with the ids first.
    pub fn groups(&self, pack: &PackDoc, rows: &[Range<u64>]) -> Result<Vec<Group>, StoreError> {
        let mut groups = vec![self.own_group(pack, rows, false)?];
        for label in self.labels.labels().iter().filter(|label| *label != self.labels.own() && self.grant.covers(label))
        {
            if let Some(object) = pack.objects.iter().find(|object| object.label == label.name()) {
                let whole = self.whole(pack, rows);
                let sealed =
                    self.store.group(object, self.dataset, self.keys, label, if whole { &[] } else { rows }, false)?;
                groups.push(sealed.open(self.grant).map_err(StoreError::internal)?);
            }
        }
        Ok(groups)
    }

    /// The objects of a pack that may be seen, the one with the ids first.
    pub fn objects<'p>(&self, pack: &'p PackDoc) -> Result<Vec<&'p ObjectDoc>, StoreError> {
        let of = |label: &Label| pack.objects.iter().find(|object| object.label == label.name());
        let own = self.labels.own();
        let mut objects = vec![of(own).ok_or_else(|| StoreError::missing("the ids of a pack"))?];
        let others = self.labels.labels().iter().filter(|label| *label != own && self.grant.covers(label));
        objects.extend(others.filter_map(of));
        Ok(objects)
    }

    /// The group with the ids.
    pub fn own_group(&self, pack: &PackDoc, rows: &[Range<u64>], ids_only: bool) -> Result<Group, StoreError> {
        let own = self.labels.own();
        let object = pack.objects.iter().find(|object| object.label == own.name());
        let object = object.ok_or_else(|| StoreError::missing("the ids of a pack"))?;
        let rows = if self.whole(pack, rows) { &[] } else { rows };
        let sealed = self.store.group(object, self.dataset, self.keys, own, rows, ids_only)?;
        sealed.open(self.grant).map_err(StoreError::internal)
    }

    fn whole(&self, pack: &PackDoc, rows: &[Range<u64>]) -> bool {
        matches!(rows, [all] if all.start == 0 && all.end == pack.rows)
    }
}

fn read_roots(bytes: &[u8]) -> Option<Vec<(Digest, u64)>> {
    let entries = bytes.strip_prefix(MAGIC)?;
    if entries.len() % ENTRY != 0 {
        return None;
    }
    let read = |entry: &[u8]| {
        let (root, rows) = entry.split_at(32);
        Some((Digest::from_bytes(root.try_into().ok()?), u64::from(u32::from_be_bytes(rows.try_into().ok()?))))
    };
    entries.chunks_exact(ENTRY).map(read).collect()
}
