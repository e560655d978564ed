//! Parquet and Arrow IPC: columns to rows.
//!
//! Rows of columns stand on no line: the place of a fault is the row, counted from 1, as its line, with column 1 and
//! without an excerpt.
//!
//! *Invariant:* a damaged file is a fault, never a panic; a column of a type that is not read is refused before the
//! first row.

mod block;
mod broken;
mod cells;
mod footer;
mod ipc;
mod parquet;
mod times;

use arrow::record_batch::RecordBatch;
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;

use crate::blocks::Container;
use crate::files::ReadSeek;
use block::ColumnBlock;
use broken::{Broken, guarded};
use ipc::{IpcFile, IpcStream};
use parquet::ParquetFile;

/// How many rows a block has at most.
const ROWS: usize = 8192;

/// The key in a field's metadata that says how its text is meant, and the one meaning there is.
pub(crate) const TYPE_KEY: &str = "heldset:type";
pub(crate) const TYPE_JSON: &str = "json";

/// Which columnar container a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Parquet,
    ArrowFile,
    ArrowStream,
}

/// A columnar file, batch after batch.
pub(crate) struct Columns {
    kind: Kind,
    batches: Batches,
    /// What is left of a batch that has more rows than a block.
    rest: Option<RecordBatch>,
    rows: u64,
}

enum Batches {
    Parquet(ParquetFile),
    File(IpcFile),
    Stream(IpcStream),
}

/// Opens a columnar file and checks that all its columns can be read.
pub(crate) fn open(file: Box<dyn ReadSeek>, kind: Kind) -> Result<Columns, Box<Fault>> {
    let opened = guarded(kind, || {
        let (batches, schema, rest) = match kind {
            Kind::Parquet => {
                let (file, schema) = ParquetFile::open(file)?;
                (Batches::Parquet(file), schema, None)
            }
            Kind::ArrowFile => {
                let (file, schema) = IpcFile::open(file)?;
                (Batches::File(file), schema, None)
            }
            Kind::ArrowStream => {
                let (stream, schema, first) = IpcStream::open(file)?;
                (Batches::Stream(stream), schema, first)
            }
        };
        let fits = block::check(&RecordBatch::new_empty(schema));
        Ok(fits.map(|()| Columns { kind, batches, rest, rows: 0 }))
    })?;
    opened.map_err(|problem| Box::new(problem.of_file()))
}

impl Container for Columns {
    type Block = ColumnBlock;

    fn next_block(&mut self) -> Result<Option<ColumnBlock>, Box<Fault>> {
        let mut next = self.rest.take();
        while next.as_ref().is_none_or(|batch| batch.num_rows() == 0) {
            next = guarded(self.kind, || self.batches.next())?;
            if next.is_none() {
                return Ok(None);
            }
        }
        let Some(mut batch) = next else { return Ok(None) };
        if batch.num_rows() > ROWS {
            self.rest = Some(batch.slice(ROWS, batch.num_rows() - ROWS));
            batch = batch.slice(0, ROWS);
        }
        let block = ColumnBlock { first_row: self.rows, batch };
        self.rows += block.batch.num_rows() as u64;
        Ok(Some(block))
    }

    fn bytes_read(&self) -> u64 {
        match &self.batches {
            Batches::Parquet(file) => file.bytes_read(),
            Batches::File(file) => file.bytes_read(),
            Batches::Stream(stream) => stream.bytes_read(),
        }
    }
}

impl Batches {
    fn next(&mut self) -> Result<Option<RecordBatch>, Broken> {
        match self {
            Batches::Parquet(file) => file.next(),
            Batches::File(file) => file.next(),
            Batches::Stream(stream) => stream.next(),
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Parquet => "Parquet file",
            Kind::ArrowFile => "Arrow file",
            Kind::ArrowStream => "Arrow stream",
        }
    }
}

/// A column that is not read, named with its type.
fn unreadable(path: Path, kind: impl std::fmt::Display) -> Problem {
    let message = format!("column `{path}` has the type {kind}, which is not read");
    Problem::new(Code::E034, path, message).help("convert the column to text, numbers, lists or mappings first")
}
