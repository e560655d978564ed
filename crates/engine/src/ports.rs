//! What a verb needs from outside: the time, and files to read.
//!
//! *Invariant:* time and randomness come in through ports, so that a test can fix them.

use std::io::{self, Read};

use heldset_dialect::{Files, Input};

use crate::refusal::Outcome;

/// The time.
pub trait Clock: Send + Sync {
    /// Now, as `2026-05-01T12:00:00Z`.
    fn now(&self) -> String;
}

/// Files that records are read from; each can be opened again.
pub trait Sources: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of one of them.
    fn name(&self, index: usize) -> String;

    /// Opens one of them, with the files around it.
    fn open(&self, index: usize) -> io::Result<(Input, Box<dyn Files + '_>)>;

    /// The size and the SHA-256 of the bytes of one of them, in hex.
    fn digest(&self, index: usize) -> io::Result<(u64, String)>;
}

/// Files that become a split of files; each can be opened again.
pub trait Tree: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where one of them lies in the split, with `/` between its parts.
    fn path(&self, index: usize) -> &str;

    /// Where one of them is found again, whoever looks from wherever.
    fn place(&self, index: usize) -> String;

    /// Opens one of them.
    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>>;
}

/// The files that a declaration names, by patterns that are relative to it or to its source.
pub trait Shelf {
    /// Where names start, for people.
    fn place(&self) -> String;

    /// What a pattern means, sorted; a folder is named as such.
    fn find(&self, pattern: &str) -> io::Result<Vec<Found>>;

    /// Some files to read records from.
    fn sources(&self, names: &[String]) -> io::Result<Box<dyn Sources + '_>>;

    /// Some files and folders as a split of files.
    fn tree(&self, names: &[String]) -> Outcome<Box<dyn Tree + '_>>;

    /// The SHA-256 of the bytes of a file, in hex.
    fn sha256(&self, name: &str) -> io::Result<String>;
}

/// A file or folder that a pattern means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Its name, as a declaration writes it.
    pub name: String,
    /// Whether it is a folder.
    pub folder: bool,
}
