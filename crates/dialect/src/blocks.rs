//! Rows in blocks: what a container hands to the workers, and how a place in it is found again.

use heldset_core::fault::{Excerpt, Fault, Place, Problem};
use heldset_core::path::Path;
use heldset_core::value::Value;

/// How much of a file is handed to a worker at once.
pub(crate) const BLOCK: usize = 256 << 10;

/// How many rows are handed to a worker at once, so that even a file full of faults is held in parts.
pub(crate) const BLOCK_ROWS: usize = 8192;

/// The largest record.
pub(crate) const MAX_RECORD: usize = 64 << 20;

/// The most fields that a record has, and the most columns that a table has.
pub(crate) const MAX_FIELDS: usize = 16_384;

/// A file cut into blocks of rows, in order.
pub(crate) trait Container: Send {
    /// The rows of a block.
    type Block: Block;

    /// The next block; `None` at the end. A fault ends the reading.
    fn next_block(&mut self) -> Result<Option<Self::Block>, Box<Fault>>;

    /// How many bytes of the file have been read.
    fn bytes_read(&self) -> u64;

    /// Takes back a block that is done with, to use its memory again.
    fn recycle(&mut self, block: Self::Block) {
        drop(block);
    }
}

/// Which fields are looked into; all of them when absent.
pub(crate) type Look<'l> = Option<&'l dyn Fn(&str) -> bool>;

/// Some rows of a file.
pub(crate) trait Block: Send {
    /// The place of the first row among all rows.
    fn first_row(&self) -> u64;

    /// The file the rows are in, when several files are read as one.
    fn file(&self) -> Option<&str> {
        None
    }

    /// How many rows there are.
    fn len(&self) -> usize;

    /// The line a row starts on.
    fn line(&self, row: usize) -> u64;

    /// Makes ready what needs more than cutting; done by the worker.
    fn prepare(&mut self) {}

    /// Hands every row to `visit`, in order. Fields that `look` does not want to see may come with empty contents.
    fn visit<'b>(&'b self, look: Look<'_>, visit: &mut dyn FnMut(usize, Result<Value<'b>, RowError>));

    /// Where the part of a row is that a path names.
    fn locate(&self, row: usize, path: &Path) -> (Option<Place>, Option<Excerpt>);

    /// Where a byte of a row is.
    fn locate_offset(&self, row: usize, offset: usize) -> (Option<Place>, Option<Excerpt>);

    /// Whether a row has a field that is not null.
    fn has(&self, _row: usize, _field: &str) -> bool {
        true
    }

    /// The row as it stood in the file.
    fn source(&self, row: usize) -> Vec<u8>;
}

/// A row that is not a value.
pub(crate) struct RowError {
    /// What is wrong; its path says in which field.
    pub(crate) problem: Box<Problem>,
    /// The byte of the row where it shows; without one the path is looked for.
    pub(crate) offset: Option<usize>,
    /// What else is wrong with the row.
    pub(crate) also: Vec<RowError>,
    /// The fault itself, when its place is known already.
    pub(crate) fault: Option<Box<Fault>>,
}

impl RowError {
    /// One thing that is wrong.
    pub(crate) fn new(problem: Problem, offset: Option<usize>) -> Self {
        RowError { problem: Box::new(problem), offset, also: Vec::new(), fault: None }
    }

    /// Several faults whose places are known already.
    pub(crate) fn known<'f>(faults: impl Iterator<Item = &'f Fault>) -> Option<Self> {
        let mut errors = faults.map(|fault| {
            let problem = Problem::new(fault.code, Path::root(), fault.message.clone());
            RowError { fault: Some(Box::new(fault.clone())), ..RowError::new(problem, None) }
        });
        let first = errors.next()?;
        Some(RowError { also: errors.collect(), ..first })
    }

    /// All that is wrong, with its places.
    pub(crate) fn locate(self, block: &(impl Block + ?Sized), row: usize) -> Vec<Fault> {
        let (place, excerpt) = match self.offset {
            Some(offset) => block.locate_offset(row, offset),
            None => block.locate(row, &self.problem.path),
        };
        let first = match self.fault {
            Some(fault) => *fault,
            None => self.problem.at(place, excerpt),
        };
        let first = first.in_file(block.file());
        std::iter::once(first).chain(self.also.into_iter().flat_map(|error| error.locate(block, row))).collect()
    }
}
