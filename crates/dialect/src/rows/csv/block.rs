//! CSV rows as values, and the way back from a value to the bytes it was typed as.

use std::borrow::Cow;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::fault::{Excerpt, Fault, Place, Problem};
use heldset_core::json;
use heldset_core::path::{Path, Step};
use heldset_core::value::{Object, Value};

use super::cut::{Cell, Cutter, Row, undouble};
use super::{CellKind, Header};
use crate::blocks::{Block, Look, RowError};
use crate::place::{excerpt_of, place_of};
use crate::rows::json_block::{invalid_utf8, json_problem};

/// Some CSV rows with their bytes.
pub(crate) struct CsvBlock {
    bytes: Vec<u8>,
    /// The text of cells in which quotes are doubled, undoubled.
    undoubled: Vec<u8>,
    cells: Vec<Cell>,
    rows: Vec<Row>,
    header: Arc<Header>,
    first_row: u64,
}

impl CsvBlock {
    pub(super) fn new(bytes: Vec<u8>, cutter: Cutter, header: Arc<Header>, first_row: u64) -> Self {
        let Cutter { cells, rows, .. } = cutter;
        CsvBlock { bytes, undoubled: Vec::new(), cells, rows, header, first_row }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn header_names(&mut self) -> Result<Vec<String>, Box<Fault>> {
        self.prepare();
        let Some(row) = self.rows.first().copied() else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for index in row.first_cell..row.first_cell + row.cells {
            match std::str::from_utf8(self.cell_bytes(index as usize)) {
                Ok(name) => names.push(name.to_owned()),
                Err(error) => {
                    let error = self.shifted(&row, index as usize, invalid_utf8(error.valid_up_to()));
                    let (place, excerpt) = self.locate_offset(0, error.offset.unwrap_or(0));
                    return Err(Box::new(error.problem.at(place, excerpt)));
                }
            }
        }
        Ok(names)
    }

    /// Where the cells of a row stand in its text.
    pub(super) fn spans_of(&self, row: usize) -> Vec<(usize, usize)> {
        let Some(row) = self.rows.get(row) else { return Vec::new() };
        let cells = self.cells.iter().skip(row.first_cell as usize).take(row.cells as usize);
        cells.map(|cell| ((cell.start - row.start) as usize, (cell.end - row.start) as usize)).collect()
    }

    pub(super) fn text_of(&self, row: usize) -> String {
        self.rows.get(row).map_or_else(String::new, |row| {
            String::from_utf8_lossy(&self.bytes[row.start as usize..row.end as usize]).into_owned()
        })
    }

    fn cell_bytes(&self, index: usize) -> &[u8] {
        let cell = self.cells[index];
        match cell.escaped {
            true => &self.undoubled[cell.undoubled.0 as usize..cell.undoubled.1 as usize],
            false => &self.bytes[cell.start as usize..cell.end as usize],
        }
    }

    /// The row as a mapping, with texts from `whole` and `undoubled` when both are UTF-8.
    fn row_value<'b>(
        &'b self,
        row: &Row,
        texts: Option<(&'b str, &'b str)>,
        look: Look<'_>,
    ) -> Result<Value<'b>, RowError> {
        if let Some(stray) = row.stray {
            return Err(self
                .error(row, Code::E028, "text follows the closing quote of a cell", stray - row.start)
                .with_help("a quote inside a quoted cell is written twice"));
        }
        if row.cells as usize > self.header.names.len() {
            let extra = self.cells[row.first_cell as usize + self.header.names.len()];
            let message = format!(
                "the row has {}{} cells, the header {}",
                if row.more { "more than " } else { "" },
                row.cells,
                self.header.names.len()
            );
            return Err(self
                .error(row, Code::E029, message, self.raw_start(&extra) - row.start)
                .with_help("put a cell that contains a delimiter in quotes, or name the column in the header"));
        }
        let mut object = Object::with_capacity(row.cells as usize);
        let mut wrong: Option<RowError> = None;
        for (column, index) in (row.first_cell as usize..(row.first_cell + row.cells) as usize).enumerate() {
            let text = self.cell_text(index, texts).map_err(|offset| self.shifted(row, index, invalid_utf8(offset)))?;
            if text.is_empty() {
                continue;
            }
            let name: &'b str = &self.header.names[column];
            let value = match self.header.kinds[column] {
                CellKind::Text => Ok(Value::from(text)),
                kind => cell_value(kind, text, name, look.is_none_or(|look| look(name))),
            };
            match value {
                Ok(value) => object.push_unique(Cow::Borrowed(name), value),
                Err(error) => {
                    let error = self.shifted(row, index, error);
                    match &mut wrong {
                        Some(first) => first.also.push(error),
                        None => wrong = Some(error),
                    }
                }
            }
        }
        wrong.map_or(Ok(Value::Object(object)), Err)
    }

    fn cell_text<'b>(&'b self, index: usize, texts: Option<(&'b str, &'b str)>) -> Result<&'b str, usize> {
        let Some((whole, undoubled)) = texts else {
            return std::str::from_utf8(self.cell_bytes(index)).map_err(|error| error.valid_up_to());
        };
        let cell = self.cells[index];
        Ok(match cell.escaped {
            true => &undoubled[cell.undoubled.0 as usize..cell.undoubled.1 as usize],
            false => &whole[cell.start as usize..cell.end as usize],
        })
    }

    fn error(&self, _row: &Row, code: Code, message: impl Into<String>, offset: u32) -> RowError {
        RowError::new(Problem::new(code, Path::root(), message), Some(offset as usize))
    }

    /// An error inside a cell, with its offset counted from the start of the row.
    fn shifted(&self, row: &Row, index: usize, error: RowError) -> RowError {
        let offset = error.offset.map(|inside| self.raw_offset(index, inside) - row.start as usize);
        RowError { offset, ..error }
    }

    fn raw_start(&self, cell: &Cell) -> u32 {
        let quoted = cell.start > 0 && self.bytes.get(cell.start as usize - 1) == Some(&b'"');
        if quoted { cell.start - 1 } else { cell.start }
    }

    /// The byte of the file that byte `inside` of a cell's text was typed as.
    fn raw_offset(&self, index: usize, inside: usize) -> usize {
        let cell = self.cells[index];
        let mut raw = cell.start as usize;
        if !cell.escaped {
            return raw + inside;
        }
        for _ in 0..inside {
            raw += if self.bytes.get(raw) == Some(&b'"') { 2 } else { 1 };
        }
        raw.min(cell.end as usize)
    }

    fn mark(&self, row: usize, start: usize, end: usize) -> (Option<Place>, Option<Excerpt>) {
        let text = self.text_of(row);
        let base = Place { line: self.rows[row].line, column: 1 };
        (Some(place_of(&text, base, start)), Some(excerpt_of(&text, start, end)))
    }
}

impl Block for CsvBlock {
    fn first_row(&self) -> u64 {
        self.first_row
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn line(&self, row: usize) -> u64 {
        self.rows[row].line
    }

    fn prepare(&mut self) {
        self.undoubled.reserve(self.bytes.len() / 2);
        for cell in self.cells.iter_mut().filter(|cell| cell.escaped) {
            let start = self.undoubled.len() as u32;
            undouble(&self.bytes[cell.start as usize..cell.end as usize], &mut self.undoubled);
            cell.undoubled = (start, self.undoubled.len() as u32);
        }
    }

    fn visit<'b>(&'b self, look: Look<'_>, visit: &mut dyn FnMut(usize, Result<Value<'b>, RowError>)) {
        let whole = simdutf8::basic::from_utf8(&self.bytes).ok();
        let undoubled = simdutf8::basic::from_utf8(&self.undoubled).ok();
        let texts = whole.zip(undoubled);
        for (index, row) in self.rows.iter().enumerate() {
            visit(index, self.row_value(row, texts, look));
        }
    }

    fn locate(&self, row: usize, path: &Path) -> (Option<Place>, Option<Excerpt>) {
        let found = self.rows[row];
        let Some((Step::Key(name), inner)) = path.steps().split_first() else { return self.mark(row, 0, 1) };
        let column = self.header.names.iter().position(|column| column == name);
        let Some(column) = column.filter(|&column| column < found.cells as usize) else { return self.mark(row, 0, 1) };
        let index = found.first_cell as usize + column;
        let text = String::from_utf8_lossy(self.cell_bytes(index));
        let span = json::locate(&text, &Path::from(inner.to_vec())).filter(|_| !inner.is_empty());
        let (start, end) = span.map_or((0, text.len()), |span| (span.start, span.end));
        let base = found.start as usize;
        self.mark(row, self.raw_offset(index, start) - base, self.raw_offset(index, end) - base)
    }

    fn locate_offset(&self, row: usize, offset: usize) -> (Option<Place>, Option<Excerpt>) {
        self.mark(row, offset, offset + 1)
    }

    fn has(&self, row: usize, field: &str) -> bool {
        let cells = self.rows[row].cells as usize;
        let column = self.header.names.iter().position(|name| name == field).filter(|column| *column < cells);
        column.is_some_and(|column| !self.cell_bytes(self.rows[row].first_cell as usize + column).is_empty())
    }

    fn source(&self, row: usize) -> Vec<u8> {
        let row = self.rows[row];
        self.bytes[row.start as usize..row.end as usize].to_vec()
    }
}

impl RowError {
    fn with_help(mut self, help: &str) -> Self {
        self.problem.help = Some(help.to_owned());
        self
    }
}

/// What the text of a cell means in a column of this kind.
pub(crate) fn cell_value<'b>(kind: CellKind, text: &'b str, name: &str, deep: bool) -> Result<Value<'b>, RowError> {
    match kind {
        CellKind::Text => Ok(Value::from(text)),
        CellKind::Bracketed if !is_bracketed(text) => Ok(Value::from(text)),
        CellKind::Bracketed | CellKind::Json => cell_json(text, name, deep),
        CellKind::Typed(declared) if declared.is_text() => Ok(Value::from(text)),
        CellKind::Typed(declared) => {
            let value = cell_json(text, name, deep)?;
            match declared.admits(&value) {
                true => Ok(value),
                false => {
                    let message = format!("`{name}` is declared as {declared}, and this is {}", value.type_name());
                    Err(RowError::new(Problem::new(Code::E035, Path::key(name), message), Some(0)))
                }
            }
        }
    }
}

/// Whether a cell has the form `[…]`, white space around it aside.
pub(crate) fn is_bracketed(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 2 && text.starts_with('[') && text.ends_with(']')
}

fn cell_json<'b>(text: &'b str, name: &str, deep: bool) -> Result<Value<'b>, RowError> {
    let read = if deep { json::read(text) } else { json::skim(text) };
    read.map_err(|error| {
        let offset = Some(error.offset);
        let mut problem = json_problem(error);
        problem.path = problem.path.under(&Path::key(name));
        if problem.code == Code::E002 {
            problem.code = Code::E030;
            problem.message = format!("the cell is not JSON: {}", problem.message);
            problem.help = Some("quotes inside a quoted cell are written twice: `\"{\"\"key\"\": 1}\"`".to_owned());
        }
        RowError::new(problem, offset)
    })
}
