//! Records as CSV: RFC 4180 with `\n`, and the types of the columns beside it.
//!
//! *Invariant:* a cell of a text column is its text; a cell of any other column is canonical JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use heldset_core::canonical;
use heldset_core::record::Record;
use heldset_core::schema::{FieldType, Schema};
use heldset_core::value::Value;

use super::column_set::{Column, ColumnSet, Kinds, Sight, is_formula};
use super::layout::Layout;
use super::loss::{GUARDED, Loss};
use super::rows::{Written, json_line};
use super::table::{Sidecar, TableWriter};
use super::target::WriteOptions;

/// How much is gathered before it is written.
const GATHERED: usize = 1 << 16;

const NO_NAME: &str = "would be refused: a column needs a name";
const UNTYPED: &str = "would become text without a schema beside the file; write to a file with -o";

/// Records as CSV.
pub(crate) struct CsvWriter {
    pub(crate) options: WriteOptions,
}

impl TableWriter for CsvWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        let changed = record.fields.iter().filter(|(_, value)| !self.options.typed && value.as_str().is_none());
        let losses = changed.map(|(field, _)| loss(record.id.as_str(), field, UNTYPED)).collect();
        Written { bytes: json_line(record), losses }
    }

    fn observe(&self, record: &Record<'_>, columns: &mut ColumnSet) {
        let id = Value::from(record.id.as_str());
        columns.add(record.id.as_str(), std::iter::once(("id", &id)).chain(record.fields.iter()));
    }

    fn losses(&self, columns: &ColumnSet) -> Vec<Loss> {
        let mut losses = name_losses(columns, self.options.for_spreadsheet);
        for column in columns.columns().iter().filter(|column| self.is_text(column)) {
            if let Some(empty) = &column.empty {
                losses.push(shared_loss(empty, &column.name, "would be lost", ": an empty cell is absent"));
            }
            if let Some(formulas) = column.formulas.as_ref().filter(|_| self.options.for_spreadsheet) {
                losses.push(shared_loss(formulas, &column.name, GUARDED, ""));
            }
        }
        losses
    }

    fn write(
        &self,
        columns: &ColumnSet,
        rows: &mut dyn Iterator<Item = io::Result<Record<'static>>>,
        out: &mut (dyn Write + Send),
    ) -> io::Result<Sidecar> {
        let layout = Layout::of_records(columns);
        let is_text: Vec<_> =
            layout.names.iter().map(|name| columns.get(name).is_none_or(|column| self.is_text(column))).collect();
        let mut lines = Lines::new(out, self.options.for_spreadsheet);
        lines.line(layout.names.iter().map(|name| Some((Cow::from(name), true))))?;
        for record in rows {
            let record = record?;
            let id = Value::from(record.id.as_str());
            let row = layout.place(std::iter::once(("id", &id)).chain(record.fields.iter()))?;
            lines.line(row.iter().zip(&is_text).map(|(value, is_text)| Some((cell((*value)?, *is_text), *is_text))))?;
        }
        lines.finish()?;
        let schema = self.options.typed.then(|| canonical::bytes(&schema_of(&layout, columns).to_value()));
        Ok(Sidecar { schema })
    }
}

impl CsvWriter {
    /// Whether the cells of a column are their own text.
    fn is_text(&self, column: &Column) -> bool {
        !self.options.typed || field_type(column.kinds).is_text()
    }
}

/// Gathers lines of cells.
pub(crate) struct Lines<'o> {
    out: &'o mut (dyn Write + Send),
    bytes: Vec<u8>,
    guards: bool,
}

impl<'o> Lines<'o> {
    pub(crate) fn new(out: &'o mut (dyn Write + Send), guards: bool) -> Self {
        Lines { out, bytes: Vec::with_capacity(2 * GATHERED), guards }
    }

    /// Adds a line; each cell comes with whether it is text that may need a guard.
    pub(crate) fn line<'c>(&mut self, cells: impl Iterator<Item = Option<(Cow<'c, str>, bool)>>) -> io::Result<()> {
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            let Some((text, is_text)) = cell else { continue };
            let guard = if self.guards && is_text && is_formula(&text) { "'" } else { "" };
            push_cell(guard, &text, &mut self.bytes);
        }
        self.bytes.push(b'\n');
        if self.bytes.len() >= GATHERED {
            self.out.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.out.flush()
    }
}

/// What the header itself cannot carry.
pub(crate) fn name_losses(columns: &ColumnSet, guards: bool) -> Vec<Loss> {
    let wrong = |column: &Column| match column.name.as_str() {
        "" => Some(shared_loss(&column.seen, "", NO_NAME, "")),
        name if guards && is_formula(name) => Some(shared_loss(&column.seen, name, GUARDED, "")),
        _ => None,
    };
    columns.columns().iter().filter_map(wrong).collect()
}

/// A value as the text of a cell.
pub(crate) fn cell<'v>(value: &'v Value<'_>, is_text: bool) -> Cow<'v, str> {
    match value {
        Value::String(text) if is_text => Cow::Borrowed(text),
        _ => String::from_utf8_lossy(&canonical::bytes(value)).into_owned().into(),
    }
}

pub(crate) fn loss(id: &str, field: &str, why: &str) -> Loss {
    Loss { id: id.to_owned(), field: field.to_owned(), why: why.to_owned() }
}

fn shared_loss(sight: &Sight, field: &str, what: &str, because: &str) -> Loss {
    let more = match sight.count {
        0 | 1 => String::new(),
        2 => ", here and in 1 more record".to_owned(),
        count => format!(", here and in {} more records", count - 1),
    };
    loss(&sight.id, field, &format!("{what}{more}{because}"))
}

fn schema_of(layout: &Layout, columns: &ColumnSet) -> Schema {
    let kind = |name: &String| columns.get(name).map_or(FieldType::String, |column| field_type(column.kinds));
    Schema::new(layout.names.iter().map(|name| (name.clone(), kind(name))).collect())
}

/// The type that a column is declared with. An explicit null is a cell `null` in every type but text.
fn field_type(kinds: Kinds) -> FieldType {
    const INTEGER: Kinds = Kinds::POSITIVE.and(Kinds::NEGATIVE).and(Kinds::BIG).and(Kinds::INEXACT);
    if kinds.only(Kinds::TEXT) {
        return FieldType::String;
    }
    let kinds = kinds.without(Kinds::NULL);
    match () {
        () if kinds.only(INTEGER) => FieldType::Integer,
        () if kinds.only(INTEGER.and(Kinds::DOUBLE)) => FieldType::Number,
        () if kinds.only(Kinds::BOOLEAN) => FieldType::Boolean,
        () if kinds.only(Kinds::TEXTS.and(Kinds::LIST)) => FieldType::List,
        () => FieldType::Json,
    }
}

fn push_cell(guard: &str, text: &str, out: &mut Vec<u8>) {
    let is_special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    let quoted =
        text.bytes().any(|byte| is_special(&byte)) || text.starts_with([' ', '\u{feff}']) || text.ends_with(' ');
    if !quoted {
        out.extend_from_slice(guard.as_bytes());
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(guard.as_bytes());
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
