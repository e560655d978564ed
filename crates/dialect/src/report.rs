//! What a reading did: how many rows, which fields, which files.
//!
//! *Invariant:* read = kept + older + refused.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use crate::files::Loaded;
use crate::format::Format;

/// Up to here fields are looked for one by one.
const MANY_FIELDS: usize = 32;

/// The counts of one reading.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which dialect was read.
    pub format: Format,
    /// Rows met.
    pub read: u64,
    /// Rows that became records.
    pub kept: u64,
    /// Rows that are older versions of a record.
    pub older: u64,
    /// Rows that became nothing.
    pub refused: u64,
    /// Fields that have another name now: from, to, how often.
    pub mapped: BTreeMap<(String, String), u64>,
    /// Fields that kept their name, and how often.
    pub as_is: BTreeMap<String, u64>,
    /// Rows whose id is their place.
    pub ids_given: u64,
    /// Faults told, of rows and of the file.
    pub faults: u64,
    /// Older or unusual shapes met.
    pub legacy: BTreeSet<&'static str>,
    /// Files that were read because the dataset names them.
    pub files: Vec<FileUse>,
    /// What the file says about the dataset as a whole.
    pub dataset: DatasetInfo,
}

/// A file that was read because the dataset names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileUse {
    /// Its name.
    pub name: String,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
}

/// What a file says about the dataset as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatasetInfo {
    /// Its name; the file's stem when it gives none.
    pub name: Option<String>,
    /// Its version, which becomes a tag.
    pub version: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// All else it says.
    pub more: heldset_core::value::Object<'static>,
}

impl FileUse {
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let digest = Sha256::digest(&loaded.bytes);
        FileUse { name: loaded.name.clone(), sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect() }
    }
}

impl DatasetInfo {
    /// What this says, and where it says nothing, what `inner` says.
    pub(crate) fn over(mut self, inner: DatasetInfo) -> Self {
        self.name = self.name.or(inner.name);
        self.version = self.version.or(inner.version);
        self.description = self.description.or(inner.description);
        for (name, value) in inner.more {
            if !self.more.contains(&name) {
                self.more.set(name, value);
            }
        }
        self
    }
}

impl Report {
    /// Nothing read yet.
    pub fn new(format: Format) -> Self {
        Report {
            format,
            read: 0,
            kept: 0,
            older: 0,
            refused: 0,
            mapped: BTreeMap::new(),
            as_is: BTreeMap::new(),
            ids_given: 0,
            faults: 0,
            legacy: BTreeSet::new(),
            files: Vec::new(),
            dataset: DatasetInfo::default(),
        }
    }

    pub(crate) fn add(&mut self, tally: Tally) {
        for field in tally.fields {
            match field.to {
                None => *self.as_is.entry(field.from).or_default() += field.count,
                Some(to) => *self.mapped.entry((field.from, to.to_owned())).or_default() += field.count,
            }
        }
        self.ids_given += tally.ids_given;
        self.legacy.extend(tally.legacy);
        for file in tally.files {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }
}

/// The counts of one block of rows.
#[derive(Default)]
pub(crate) struct Tally {
    fields: Vec<FieldCount>,
    /// Where each field is counted, once there are many.
    index: HashMap<(String, Option<&'static str>), usize>,
    cursor: usize,
    pub(crate) ids_given: u64,
    pub(crate) legacy: BTreeSet<&'static str>,
    pub(crate) files: Vec<FileUse>,
}

struct FieldCount {
    from: String,
    to: Option<&'static str>,
    count: u64,
}

impl Tally {
    /// Counts a field that kept its name.
    pub(crate) fn as_is(&mut self, name: &str) {
        self.count(name, None);
    }

    /// Counts a field that has another name now.
    pub(crate) fn mapped(&mut self, from: &str, to: &'static str) {
        self.count(from, Some(to));
    }

    /// Rows of one file mostly have the same fields in the same order, so the next one is tried first.
    #[inline]
    fn count(&mut self, from: &str, to: Option<&'static str>) {
        let next = if self.cursor < self.fields.len() { self.cursor } else { 0 };
        let at = match self.fields.get(next) {
            Some(field) if field.from == from && field.to == to => next,
            _ => self.find(from, to),
        };
        self.fields[at].count += 1;
        self.cursor = at + 1;
    }

    fn find(&mut self, from: &str, to: Option<&'static str>) -> usize {
        let known = match self.fields.len() < MANY_FIELDS {
            true => self.fields.iter().position(|field| field.from == from && field.to == to),
            false => self.index.get(&(from.to_owned(), to)).copied(),
        };
        known.unwrap_or_else(|| {
            let at = self.fields.len();
            self.index.insert((from.to_owned(), to), at);
            self.fields.push(FieldCount { from: from.to_owned(), to, count: 0 });
            at
        })
    }
}
