//! What the verbs read and write, in memory: sources, trees of files, folders that are laid out.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};

use heldset_core::digest::sha256;
use heldset_core::fault::Fault;
use heldset_dialect::{Body, Files, Input};
use heldset_engine::Listener;
use heldset_engine::mount::Layout;
use heldset_engine::ports::{Sources, Tree};

use crate::reading::MemoryFiles;

/// One file of records.
pub struct MemorySources {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Sources for MemorySources {
    fn len(&self) -> usize {
        1
    }

    fn name(&self, _index: usize) -> String {
        self.name.clone()
    }

    fn open(&self, _index: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        let body = Body::Seekable(Box::new(Cursor::new(self.bytes.clone())));
        Ok((Input { name: self.name.clone(), body }, Box::new(MemoryFiles::default())))
    }

    fn digest(&self, _index: usize) -> io::Result<(u64, String)> {
        Ok((self.bytes.len() as u64, sha256(&self.bytes).hex()))
    }
}

/// Files by path.
pub struct MemoryTree(pub Vec<(String, Vec<u8>)>);

impl Tree for MemoryTree {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn path(&self, index: usize) -> &str {
        &self.0[index].0
    }

    fn place(&self, index: usize) -> String {
        self.0[index].0.clone()
    }

    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.0[index].1.as_slice()))
    }
}

/// A folder that is laid out in memory.
#[derive(Debug, Default)]
pub struct MemoryLayout(pub BTreeMap<String, Vec<u8>>);

impl Layout for MemoryLayout {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn Write + '_>> {
        Ok(Box::new(self.0.entry(path.to_owned()).or_default()))
    }
}

/// Keeps the faults it is told of, and nothing else.
#[derive(Debug, Default)]
pub struct Quiet(pub Vec<Fault>);

impl Listener for Quiet {
    fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        self.0.push(fault.clone());
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) {}
}
