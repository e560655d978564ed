//! The catalogue: an ordered map from names to small documents, changed in conditional batches.
//!
//! *Invariant:* a batch happens whole or not at all, and only if all its expectations hold at that moment. What is
//! read equals what was written, or the damage is reported.

mod memory;
mod prefix;
mod sqlite;
mod sum;

pub use memory::MemoryCatalog;
pub use sqlite::SqliteCatalog;

use std::fmt;

use crate::error::StoreError;

/// The name of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// What kind of entry it is.
    pub space: &'static str,
    /// Its name among those.
    pub key: String,
}

/// Changes that happen together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What must be there, or with `None` must not be there, for anything to happen.
    pub expect: Vec<(Key, Option<Vec<u8>>)>,
    /// What is written, after the removals.
    pub put: Vec<(Key, Vec<u8>)>,
    /// What is removed; what is not there is fine.
    pub delete: Vec<Key>,
    /// Whether it must outlive a power cut once it is acknowledged. If not, it is still whole or absent.
    pub durable: bool,
}

/// An ordered map with atomic conditional batches.
pub trait Catalog: Send + Sync {
    /// The value of one entry.
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError>;

    /// All entries of a space whose names start with `prefix`, in the order of their bytes.
    fn scan(&self, space: &'static str, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError>;

    /// Does all of the batch, or nothing: a conflict when an expectation fails.
    fn commit(&self, batch: &Batch) -> Result<(), StoreError>;

    /// Reads every entry and tells all damage, entries that vanished included.
    fn check(&self) -> Vec<StoreError>;
}

impl Key {
    /// The entry of that name.
    pub fn new(space: &'static str, key: impl Into<String>) -> Self {
        Key { space, key: key.into() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.space, self.key)
    }
}

impl Batch {
    /// A batch that outlives a power cut.
    pub fn durable() -> Self {
        Batch { durable: true, ..Batch::default() }
    }

    /// Demands that an entry is there with this value, or is not there.
    pub fn expect(&mut self, key: Key, value: Option<Vec<u8>>) {
        self.expect.push((key, value));
    }

    /// Writes an entry.
    pub fn put(&mut self, key: Key, value: Vec<u8>) {
        self.put.push((key, value));
    }

    /// Removes an entry.
    pub fn delete(&mut self, key: Key) {
        self.delete.push(key);
    }
}
