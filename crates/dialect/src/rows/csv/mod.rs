//! CSV and TSV: strict quoting, physical lines, cells as they were typed.
//!
//! *Invariant:* a quote inside an unquoted cell is text; a quoted cell ends only at a delimiter or a line's end.

mod block;
mod cut;

use std::collections::HashSet;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Place, Problem};
use heldset_core::path::Path;
use heldset_core::record::name_problem;
use heldset_core::schema::FieldType;

use super::Source;
use crate::blocks::{BLOCK, BLOCK_ROWS, Container, MAX_FIELDS};
use crate::place::excerpt_of;
pub(crate) use block::{CsvBlock, cell_value};
use cut::{Cut, Cutter};

/// How the cells of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// As typed.
    Text,
    /// A JSON list when it has the form `[…]`, else as typed.
    Bracketed,
    /// JSON of any kind.
    Json,
    /// JSON of a declared type.
    Typed(FieldType),
}

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) names: Vec<String>,
    pub(crate) kinds: Vec<CellKind>,
    /// The header line as it stands in the file.
    pub(crate) line: String,
    /// Where each name stands in that line.
    spans: Vec<(usize, usize)>,
}

/// A CSV file whose header has been read.
pub(crate) struct Csv {
    source: Source,
    delimiter: u8,
    header: Arc<Header>,
}

impl Csv {
    /// Reads the header; `kind` says how each column's cells are read.
    pub(crate) fn open(
        mut source: Source,
        delimiter: u8,
        kinds: &dyn Fn(&[String]) -> Vec<CellKind>,
    ) -> Result<Self, Box<Fault>> {
        source.fill()?;
        let (bytes, cutter) = loop {
            let mut cutter = Cutter::new(delimiter, source.line);
            cutter.cut(&source.pending, source.ended, 1);
            if let Some(&end) = cutter.ends.last() {
                break (source.cut(end), cutter);
            }
            if source.ended {
                return Err(unclosed(&source.pending, &cutter));
            }
            source.check_record(source.pending.len())?;
            source.fill()?;
        };
        source.line = cutter.line;
        let mut block = CsvBlock::new(bytes, cutter, Arc::new(Header::empty()), 0);
        let names = block.header_names()?;
        let line = block.text_of(0);
        let header = Header { names, kinds: Vec::new(), line, spans: block.spans_of(0) };
        header.check()?;
        let header = Arc::new(Header { kinds: kinds(&header.names), ..header });
        Ok(Csv { source, delimiter, header })
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.header.names
    }

    /// The header line as it stands in the file.
    pub(crate) fn header(&self) -> &str {
        &self.header.line
    }
}

impl Container for Csv {
    type Block = CsvBlock;

    fn next_block(&mut self) -> Result<Option<CsvBlock>, Box<Fault>> {
        loop {
            while !self.source.ended && self.source.pending.len() < BLOCK {
                self.source.fill()?;
            }
            if self.source.pending.is_empty() && self.source.ended {
                return Ok(None);
            }
            let mut cutter = Cutter::new(self.delimiter, self.source.line);
            let cut = cutter.cut(&self.source.pending, self.source.ended, BLOCK_ROWS);
            let Some(&end) = cutter.ends.last() else {
                if cut == Cut::Unclosed || self.source.ended {
                    return Err(unclosed(&self.source.pending, &cutter));
                }
                self.source.check_record(self.source.pending.len())?;
                for _ in 0..=(self.source.pending.len() / BLOCK).min(32) {
                    self.source.fill()?;
                }
                continue;
            };
            let bytes = self.source.cut(end);
            self.source.line = cutter.line;
            let block = CsvBlock::new(bytes, cutter, Arc::clone(&self.header), self.source.rows);
            self.source.rows += block.row_count() as u64;
            return Ok(Some(block));
        }
    }

    fn bytes_read(&self) -> u64 {
        self.source.read
    }

    fn recycle(&mut self, block: CsvBlock) {
        self.source.recycle(block.into_bytes());
    }
}

impl Header {
    fn empty() -> Self {
        Header { names: Vec::new(), kinds: Vec::new(), line: String::new(), spans: Vec::new() }
    }

    fn check(&self) -> Result<(), Box<Fault>> {
        if self.names.len() > MAX_FIELDS {
            let message = format!("there are more than {MAX_FIELDS} columns");
            return Err(self.fault(Code::E008, message, 0));
        }
        let mut seen = HashSet::new();
        for (index, name) in self.names.iter().enumerate() {
            let wrong = if name.is_empty() {
                Some((Code::E031, format!("column {} has no name", index + 1)))
            } else if !seen.insert(name) {
                Some((Code::E031, format!("two columns are named `{name}`")))
            } else {
                name_problem(name).map(|why| (Code::E033, format!("the column name `{}` {why}", name.escape_debug())))
            };
            if let Some((code, message)) = wrong {
                return Err(self.fault(code, message, index));
            }
        }
        Ok(())
    }

    /// A fault of the column at `index`.
    fn fault(&self, code: Code, message: String, index: usize) -> Box<Fault> {
        let problem = Problem::new(code, Path::root(), message).help("give every column a name of its own");
        let (start, end) = self.spans.get(index).copied().unwrap_or((0, self.line.len()));
        let place = crate::place::place_of(&self.line, Place { line: 1, column: 1 }, start);
        Box::new(problem.at(Some(place), Some(excerpt_of(&self.line, start, end))))
    }
}

fn unclosed(bytes: &[u8], cutter: &Cutter) -> Box<Fault> {
    let text = String::from_utf8_lossy(bytes);
    let at = cutter.opened.min(text.len());
    let problem = Problem::new(Code::E028, Path::root(), "a quoted cell is not closed before the end of the file")
        .help("close it with `\"`; a quote inside a quoted cell is written twice");
    let place = crate::place::place_of(&text, Place { line: cutter.first_line, column: 1 }, at);
    Box::new(problem.at(Some(place), Some(excerpt_of(&text, at, at + 1))))
}
