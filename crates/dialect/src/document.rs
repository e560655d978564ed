//! A file that is one document: an envelope around a list of rows.
//!
//! *Invariant:* a document is at most 64 MiB, because it is held as a whole.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::fault::{Excerpt, Fault, Place, Problem};
use heldset_core::json;
use heldset_core::path::Path;
use heldset_core::value::Value;

use crate::blocks::{BLOCK_ROWS, Block, Container, Look, RowError};
use crate::format::Format;
use crate::lab::FieldMap;
use crate::map::Mapper;
use crate::place::{excerpt_of, place_of};
use crate::report::DatasetInfo;
use crate::rows::json_array::elements;
use crate::rows::json_block::{JsonBlock, invalid_utf8, row_error};
use crate::yaml::Yaml;

/// The largest document.
pub(crate) const MAX_DOCUMENT: u64 = 64 << 20;

/// What a dialect finds in a document.
pub(crate) enum Plan {
    /// The rows are the list at a path of this document.
    Rows {
        /// Where the list is.
        list: Path,
        /// How its elements become records.
        mapper: Box<dyn Mapper>,
        /// What the envelope says.
        info: DatasetInfo,
    },
    /// The document itself is the one row.
    One {
        /// How it becomes a record.
        mapper: Box<dyn Mapper>,
    },
    /// The rows are in another file.
    Elsewhere {
        /// Which, relative to this one.
        path: String,
        /// Where this document names it.
        at: Path,
        /// What the envelope says.
        info: DatasetInfo,
        /// Which of its fields are which, when its rows are not of this dialect.
        fields: Option<FieldMap>,
    },
}

/// A document that has been read as text.
pub(crate) enum Document {
    Json(String),
    Yaml(Yaml),
}

/// A document that somebody wrote by hand, in YAML or JSON, as one value.
pub fn read_document(bytes: &[u8]) -> Result<Value<'static>, Box<Fault>> {
    let as_json = bytes.trim_ascii_start().starts_with(b"{").then(|| Document::parse(bytes.to_vec(), false));
    let document = match as_json {
        Some(Ok(document)) if document.faults(None).is_empty() => document,
        _ => Document::parse(bytes.to_vec(), true)?,
    };
    match document.faults(None).into_iter().next() {
        Some(fault) => Err(Box::new(fault)),
        None => Ok(document.root().into_owned()),
    }
}

impl Document {
    /// Reads all of it.
    pub(crate) fn load(mut reader: impl Read, is_yaml: bool) -> Result<Self, LoadError> {
        let mut bytes = Vec::new();
        (&mut reader).take(MAX_DOCUMENT + 1).read_to_end(&mut bytes).map_err(LoadError::Io)?;
        if bytes.len() as u64 > MAX_DOCUMENT {
            let problem = Problem::new(Code::E008, Path::root(), "the document is larger than 64 MiB");
            return Err(LoadError::Fault(Box::new(problem.help("write one record per line, as JSONL").of_file())));
        }
        let kept = if is_yaml { Vec::new() } else { bytes.clone() };
        Document::parse(bytes, is_yaml).map_err(|fault| match Salvaged::from(&kept) {
            Some(salvaged) => LoadError::Broken(fault, Box::new(salvaged)),
            None => LoadError::Fault(fault),
        })
    }

    /// Reads a document from bytes at hand.
    pub(crate) fn parse(mut bytes: Vec<u8>, is_yaml: bool) -> Result<Self, Box<Fault>> {
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            mark(&text, *invalid_utf8(at).problem, at)
        })?;
        if is_yaml {
            return Yaml::read(text).map(Document::Yaml);
        }
        match json::read(&text) {
            Ok(_) => {}
            Err(error) => {
                let at = error.offset;
                return Err(mark(&text, *row_error(error).problem, at));
            }
        }
        Ok(Document::Json(text))
    }

    /// What it holds.
    pub(crate) fn root(&self) -> Value<'_> {
        match self {
            Document::Json(text) => json::read(text).expect("the text was read when it was loaded"),
            Document::Yaml(yaml) => yaml.value(&Path::root()).unwrap_or(Value::Null),
        }
    }

    /// A number, a boolean or a null exactly as it is written: `1.0` is more than the number 1.
    pub(crate) fn literal(&self, path: &Path) -> Option<&str> {
        match self {
            Document::Yaml(yaml) => yaml.plain(path),
            Document::Json(text) => json::locate(text, path).and_then(|span| text.get(span.start..span.end)),
        }
    }

    /// The fault that a problem with this document is.
    pub(crate) fn fault(&self, problem: Problem) -> Box<Fault> {
        let (place, excerpt) = self.locate(&problem.path);
        Box::new(problem.at(place, excerpt))
    }

    fn locate(&self, path: &Path) -> (Option<Place>, Option<Excerpt>) {
        match self {
            Document::Yaml(yaml) => yaml.locate(path),
            Document::Json(text) => {
                let span = json::locate(text, path).unwrap_or(json::Span { start: 0, end: 1 });
                let start = Place { line: 1, column: 1 };
                (Some(place_of(text, start, span.start)), Some(excerpt_of(text, span.start, span.end)))
            }
        }
    }

    /// The faults that were met while it was read, outside of the list at `list`; all of them without a list.
    pub(crate) fn faults(&self, list: Option<&Path>) -> Vec<Fault> {
        match (self, list) {
            (Document::Yaml(yaml), Some(list)) => yaml.faults(list, false).cloned().collect(),
            (Document::Yaml(yaml), None) => yaml.faults(&Path::root(), true).cloned().collect(),
            (Document::Json(_), _) => Vec::new(),
        }
    }

    /// The elements of the list at `list`, as rows in several blocks.
    pub(crate) fn into_rows(self, list: &Path) -> DocumentRows {
        DocumentRows { whole: Some(self.into_block(list)), next: 0 }
    }

    /// The elements of the list at `list`, as rows in one block.
    pub(crate) fn into_block(self, list: &Path) -> DocumentBlock {
        match self {
            Document::Json(text) => {
                let span = json::locate(&text, list).unwrap_or(json::Span { start: 0, end: 0 });
                let rows = elements(&text, span.start, span.end);
                DocumentBlock::Json(JsonBlock { rows, bytes: text.into_bytes(), first_row: 0 })
            }
            Document::Yaml(yaml) => {
                let rows = 0..yaml.len(list);
                DocumentBlock::Yaml(Arc::new(yaml), list.clone(), rows)
            }
        }
    }

    /// The document itself as the one row.
    pub(crate) fn into_row(self) -> DocumentBlock {
        DocumentBlock::One(self)
    }
}

/// Why a document could not be loaded.
pub(crate) enum LoadError {
    Io(std::io::Error),
    Fault(Box<Fault>),
    /// Broken, but its list of rows can still be read one by one, so that every fault is told.
    Broken(Box<Fault>, Box<Salvaged>),
}

/// The rows of a broken JSON document.
pub(crate) struct Salvaged {
    /// What the name of the list says they are.
    pub(crate) format: Format,
    pub(crate) rows: DocumentRows,
    /// The first and the last line of the list.
    pub(crate) lines: (u64, u64),
}

impl Salvaged {
    /// Looks for the list by its name alone.
    fn from(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).ok()?;
        let named = [("\"items\"", Format::Lab), ("\"testCases\"", Format::AgentHealth)];
        let (start, format) = named.into_iter().find_map(|(name, format)| Some((list_named(text, name)?, format)))?;
        let rows = elements(text, start, text.len());
        let lines = (rows.first()?.place.line, rows.last()?.place.line + 1);
        let block = DocumentBlock::Json(JsonBlock { rows, bytes: text.as_bytes().to_vec(), first_row: 0 });
        Some(Salvaged { format, rows: block.into(), lines })
    }
}

/// Where the list starts that a key of this name holds.
fn list_named(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).find_map(|(at, _)| {
        let after = text[at + name.len()..].trim_start().strip_prefix(':')?.trim_start();
        (after.starts_with('[') && !text[..at].ends_with('\\')).then(|| text.len() - after.len())
    })
}

/// The rows of a document, a block at a time.
pub(crate) struct DocumentRows {
    whole: Option<DocumentBlock>,
    next: usize,
}

/// Rows inside a document.
pub(crate) enum DocumentBlock {
    Json(JsonBlock),
    Yaml(Arc<Yaml>, Path, Range<usize>),
    One(Document),
}

impl From<DocumentBlock> for DocumentRows {
    fn from(block: DocumentBlock) -> Self {
        DocumentRows { whole: Some(block), next: 0 }
    }
}

impl Container for DocumentRows {
    type Block = DocumentBlock;

    fn next_block(&mut self) -> Result<Option<DocumentBlock>, Box<Fault>> {
        let Some(whole) = &self.whole else { return Ok(None) };
        let rows = self.next..(self.next + BLOCK_ROWS).min(whole.len());
        if rows.start == 0 && rows.end == whole.len() {
            return Ok(self.whole.take());
        }
        self.next = rows.end;
        Ok(if rows.is_empty() { None } else { whole.part(rows) })
    }

    fn bytes_read(&self) -> u64 {
        0
    }
}

impl DocumentBlock {
    /// Some of the rows.
    fn part(&self, rows: Range<usize>) -> Option<DocumentBlock> {
        match self {
            DocumentBlock::Yaml(yaml, list, _) => Some(DocumentBlock::Yaml(Arc::clone(yaml), list.clone(), rows)),
            DocumentBlock::Json(block) => Some(DocumentBlock::Json(block.part(rows))),
            DocumentBlock::One(_) => None,
        }
    }
}

impl Block for DocumentBlock {
    fn first_row(&self) -> u64 {
        match self {
            DocumentBlock::Json(block) => block.first_row(),
            DocumentBlock::Yaml(_, _, rows) => rows.start as u64,
            DocumentBlock::One(_) => 0,
        }
    }

    fn len(&self) -> usize {
        match self {
            DocumentBlock::Json(block) => block.len(),
            DocumentBlock::Yaml(_, _, rows) => rows.len(),
            DocumentBlock::One(_) => 1,
        }
    }

    fn line(&self, row: usize) -> u64 {
        match self {
            DocumentBlock::Json(block) => block.line(row),
            DocumentBlock::Yaml(yaml, list, rows) => yaml.line(&list.then_index(rows.start + row)),
            DocumentBlock::One(document) => document.locate(&Path::root()).0.map_or(1, |place| place.line),
        }
    }

    fn visit<'b>(&'b self, look: Look<'_>, visit: &mut dyn FnMut(usize, Result<Value<'b>, RowError>)) {
        match self {
            DocumentBlock::Json(block) => block.visit(look, visit),
            DocumentBlock::Yaml(yaml, list, rows) => {
                for row in 0..rows.len() {
                    let at = list.then_index(rows.start + row);
                    match RowError::known(yaml.faults(&at, true)) {
                        Some(error) => visit(row, Err(error)),
                        None => visit(row, Ok(yaml.value(&at).unwrap_or(Value::Null))),
                    }
                }
            }
            DocumentBlock::One(document) => visit(0, Ok(document.root())),
        }
    }

    fn locate(&self, row: usize, path: &Path) -> (Option<Place>, Option<Excerpt>) {
        match self {
            DocumentBlock::Json(block) => block.locate(row, path),
            DocumentBlock::Yaml(yaml, list, rows) => yaml.locate(&path.under(&list.then_index(rows.start + row))),
            DocumentBlock::One(document) => document.locate(path),
        }
    }

    fn locate_offset(&self, row: usize, offset: usize) -> (Option<Place>, Option<Excerpt>) {
        match self {
            DocumentBlock::Json(block) => block.locate_offset(row, offset),
            DocumentBlock::Yaml(yaml, list, rows) => yaml.locate(&list.then_index(rows.start + row)),
            DocumentBlock::One(document) => document.locate(&Path::root()),
        }
    }

    fn source(&self, row: usize) -> Vec<u8> {
        match self {
            DocumentBlock::Json(block) => block.source(row),
            DocumentBlock::Yaml(yaml, list, rows) => yaml
                .value(&list.then_index(rows.start + row))
                .map(|value| heldset_core::canonical::bytes(&value))
                .unwrap_or_default(),
            DocumentBlock::One(document) => heldset_core::canonical::bytes(&document.root()),
        }
    }
}

fn mark(text: &str, problem: Problem, offset: usize) -> Box<Fault> {
    let place = place_of(text, Place { line: 1, column: 1 }, offset);
    Box::new(problem.at(Some(place), Some(excerpt_of(text, offset, offset + 1))))
}
