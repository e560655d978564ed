//! Rows that are JSON texts: lines of a JSONL file, or elements of a list.

use std::ops::Range;

use heldset_core::code::Code;
use heldset_core::fault::{Excerpt, Place, Problem};
use heldset_core::json::{self, JsonError, JsonProblem};
use heldset_core::number::NumberError;
use heldset_core::path::Path;
use heldset_core::value::Value;

use crate::blocks::{Block, Look, RowError};
use crate::place::{excerpt_of, place_of};

/// Some JSON rows with their bytes.
pub(crate) struct JsonBlock {
    pub(crate) bytes: Vec<u8>,
    pub(crate) rows: Vec<RowSpan>,
    pub(crate) first_row: u64,
}

/// The bytes of a row and where they start in the file.
#[derive(Clone, Copy)]
pub(crate) struct RowSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) place: Place,
}

impl JsonBlock {
    /// Some of the rows, with their bytes only.
    pub(crate) fn part(&self, rows: Range<usize>) -> JsonBlock {
        let first_row = self.first_row + rows.start as u64;
        let rows = &self.rows[rows];
        let (from, to) = (rows.first().map_or(0, |row| row.start), rows.last().map_or(0, |row| row.end));
        let moved = |row: &RowSpan| RowSpan { start: row.start - from, end: row.end - from, place: row.place };
        JsonBlock { bytes: self.bytes[from..to].to_vec(), rows: rows.iter().map(moved).collect(), first_row }
    }

    fn bytes_of(&self, row: usize) -> &[u8] {
        let span = self.rows[row];
        &self.bytes[span.start..span.end]
    }

    fn mark(&self, row: usize, start: usize, end: usize) -> (Option<Place>, Option<Excerpt>) {
        let text = String::from_utf8_lossy(self.bytes_of(row));
        (Some(place_of(&text, self.rows[row].place, start)), Some(excerpt_of(&text, start, end)))
    }
}

impl Block for JsonBlock {
    fn first_row(&self) -> u64 {
        self.first_row
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn line(&self, row: usize) -> u64 {
        self.rows[row].place.line
    }

    fn visit<'b>(&'b self, look: Look<'_>, visit: &mut dyn FnMut(usize, Result<Value<'b>, RowError>)) {
        let whole = simdutf8::basic::from_utf8(&self.bytes).ok();
        for (row, span) in self.rows.iter().enumerate() {
            let text = match whole {
                Some(text) => Ok(&text[span.start..span.end]),
                None => std::str::from_utf8(self.bytes_of(row)).map_err(|error| invalid_utf8(error.valid_up_to())),
            };
            let read = |text| match look {
                Some(look) => json::read_shallow(text, look),
                None => json::read(text),
            };
            visit(row, text.and_then(|text| read(text).map_err(row_error)));
        }
    }

    fn locate(&self, row: usize, path: &Path) -> (Option<Place>, Option<Excerpt>) {
        let text = String::from_utf8_lossy(self.bytes_of(row));
        match json::locate(&text, path) {
            Some(span) => self.mark(row, span.start, span.end),
            None => self.mark(row, 0, 1),
        }
    }

    fn locate_offset(&self, row: usize, offset: usize) -> (Option<Place>, Option<Excerpt>) {
        self.mark(row, offset, offset + 1)
    }

    fn has(&self, row: usize, field: &str) -> bool {
        let text = String::from_utf8_lossy(self.bytes_of(row));
        let value = json::read(&text).ok();
        value.as_ref().and_then(Value::as_object).and_then(|row| row.get(field)).is_some_and(|value| !value.is_null())
    }

    fn source(&self, row: usize) -> Vec<u8> {
        self.bytes_of(row).to_vec()
    }
}

/// Text that is not UTF-8 from some byte on.
pub(crate) fn invalid_utf8(offset: usize) -> RowError {
    let problem = Problem::new(Code::E001, Path::root(), "this is not UTF-8").help("save the file as UTF-8");
    RowError::new(problem, Some(offset))
}

/// A row that is not strict JSON.
pub(crate) fn row_error(error: JsonError) -> RowError {
    {
        let offset = Some(error.offset);
        RowError::new(json_problem(error), offset)
    }
}

/// What a JSON error is called, and what to do about it.
pub(crate) fn json_problem(error: JsonError) -> Problem {
    let message = error.to_string();
    let (code, help) = match error.problem {
        JsonProblem::Syntax { found, .. } if matches!(found.as_str(), "`N`" | "`I`") => {
            (Code::E002, Some("NaN and Infinity are not JSON: write them as text, or leave the field out"))
        }
        JsonProblem::Syntax { found, .. } if matches!(found.as_str(), "`#`" | "`/`") => {
            (Code::E002, Some("comments are not JSON: remove them"))
        }
        JsonProblem::Syntax { .. } => (Code::E002, None),
        JsonProblem::DuplicateKey(_) => (Code::E003, Some("keep one of the two: which one wins would be a guess")),
        JsonProblem::Number(NumberError::Inexact) => {
            (Code::E004, Some("write it as text, in quotes: as a number it would be rounded"))
        }
        JsonProblem::Number(_) => (Code::E005, Some("write it as text, in quotes")),
        JsonProblem::LoneSurrogate => (Code::E006, Some("write both halves of the pair, or the character itself")),
        JsonProblem::TooDeep => (Code::E007, Some("flatten the value, or store it as text")),
    };
    let problem = Problem::new(code, error.path, message);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}
