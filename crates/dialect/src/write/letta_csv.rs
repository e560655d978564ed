//! Letta samples as CSV.
//!
//! *Invariant:* the columns `id`, `input` and `ground_truth` are always there, so that the file is taken for what it
//! is; what a row loses is found by reading its own cells back.

use std::borrow::Cow;
use std::io::{self, Write};

use heldset_core::canonical;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};

use super::column_set::{ColumnSet, is_formula};
use super::csv::{Lines, cell, loss, name_losses};
use super::layout::Layout;
use super::letta::sample_of;
use super::loss::{GUARDED, Loss, losses};
use super::rows::{Written, json_line};
use super::table::{Sidecar, TableWriter};
use super::target::WriteOptions;
use crate::letta::{LettaMapper, cell_kind};
use crate::map::IdRule;
use crate::rows::csv::{CellKind, cell_value};

const FIRST: [&str; 3] = ["id", "input", "ground_truth"];

/// Letta CSV.
pub(crate) struct LettaCsvWriter {
    pub(crate) options: WriteOptions,
}

impl TableWriter for LettaCsvWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        let sample = sample_of(record);
        let cells: Vec<_> = sample.iter().map(|(name, value)| (name, sample_cell(name, value))).collect();
        let mut losses = cell_losses(record, &cells);
        let guarded = cells.iter().filter(|(name, text)| self.options.for_spreadsheet && is_guarded(name, text));
        losses.extend(guarded.map(|(name, _)| loss(record.id.as_str(), name, GUARDED)));
        Written { bytes: json_line(record), losses }
    }

    fn observe(&self, record: &Record<'_>, columns: &mut ColumnSet) {
        columns.add(record.id.as_str(), sample_of(record).iter());
    }

    fn losses(&self, columns: &ColumnSet) -> Vec<Loss> {
        name_losses(columns, self.options.for_spreadsheet)
    }

    fn write(
        &self,
        columns: &ColumnSet,
        rows: &mut dyn Iterator<Item = io::Result<Record<'static>>>,
        out: &mut (dyn Write + Send),
    ) -> io::Result<Sidecar> {
        let layout = Layout::starting_with(FIRST.to_vec(), columns);
        let mut lines = Lines::new(out, self.options.for_spreadsheet);
        lines.line(layout.names.iter().map(|name| Some((Cow::from(name), true))))?;
        for record in rows {
            let sample = sample_of(&record?);
            let row = layout.place(sample.iter())?;
            lines.line(layout.names.iter().zip(row).map(|(name, value)| {
                let text = readable_cell(name, value?)?;
                let is_text = is_guarded(name, &text);
                Some((text, is_text))
            }))?;
        }
        lines.finish()?;
        Ok(Sidecar::default())
    }
}

/// A value of a sample as the text of its cell.
fn sample_cell<'v>(name: &str, value: &'v Value<'_>) -> Cow<'v, str> {
    cell(value, cell_kind(name) != CellKind::Json)
}

fn is_guarded(name: &str, text: &str) -> bool {
    cell_kind(name) != CellKind::Json && is_formula(text)
}

/// What the record would lose when its cells are read back.
fn cell_losses(record: &Record<'_>, cells: &[(&str, Cow<'_, str>)]) -> Vec<Loss> {
    let mut row = Object::with_capacity(cells.len());
    let mut found = Vec::new();
    for (name, text) in cells.iter().filter(|(_, text)| !text.is_empty()) {
        match cell_value(cell_kind(name), text, name, true) {
            Ok(value) => row.set(*name, value),
            Err(error) => {
                found.push(loss(record.id.as_str(), name, &format!("would be refused: {}", error.problem.message)))
            }
        }
    }
    let canonical = |name: &str| if name == "ground_truth" { "expected_output" } else { name }.to_owned();
    let refused: Vec<String> = found.iter().map(|loss| canonical(&loss.field)).collect();
    let others = losses(record, Value::Object(row), &LettaMapper { id: IdRule::Auto });
    found.extend(others.into_iter().filter(|loss| !refused.contains(&loss.field)));
    found
}

/// The cell that is written: one that would be refused when read again is left out, or written as a list of one.
fn readable_cell<'v>(name: &str, value: &'v Value<'_>) -> Option<Cow<'v, str>> {
    let text = sample_cell(name, value);
    let is_inner = cell_kind(name) == CellKind::Text && matches!(value, Value::Array(_) | Value::Object(_));
    if is_inner {
        return None;
    }
    match cell_value(cell_kind(name), &text, name, false) {
        Err(_) if cell_kind(name) == CellKind::Bracketed => {
            let list = Value::Array(vec![Value::from(text.as_ref())]);
            Some(Cow::Owned(String::from_utf8_lossy(&canonical::bytes(&list)).into_owned()))
        }
        Err(_) => None,
        Ok(_) => Some(text),
    }
}
