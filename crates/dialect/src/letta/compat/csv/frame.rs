//! A table with typed columns, row by row as the loader walks it.
//!
//! *Invariant:* when all columns are numbers of several types, a row holds floats only.

use std::collections::HashMap;

use super::super::refusal::Refusal;
use super::super::value::{digits_of, parse_int, strip};
use super::infer::{Kind, Scalar, infer};
use super::table::Table;

/// A table with a header, and what its columns hold.
pub(super) struct Frame<'s> {
    table: Table<'s>,
    /// Where each name first stands in the header.
    names: HashMap<String, usize>,
    /// The types of all columns, those before the named ones too.
    kinds: Vec<Kind>,
    /// How many columns stand before the named ones, because the first row is longer than the header.
    leading: usize,
    /// Whether a row's numbers all become floats.
    floats: bool,
}

impl<'s> Frame<'s> {
    /// Types a table; `None` when it has no row under the header.
    pub(super) fn new(table: Table<'s>) -> Option<Self> {
        if table.rows() < 2 {
            return None;
        }
        let named = table.width(0);
        let leading = table.width(1).saturating_sub(named);
        let column = |column| {
            infer((1..table.rows()).map(move |row| (row, column)).map(|(row, column)| table.cell(row, column)))
        };
        let kinds: Vec<Kind> = (0..leading + named).map(column).collect();
        let own = &kinds[leading..];
        let numbers = own.iter().all(|kind| kind.is_number());
        let floats = numbers && (own.iter().any(|kind| kind.is_float()) || own.windows(2).any(|two| two[0] != two[1]));
        let names = (0..named).rev().map(|column| (table.cell(0, column).to_owned(), column)).collect();
        Some(Frame { names, table, kinds, leading, floats })
    }

    /// How many rows there are under the header.
    pub(super) fn rows(&self) -> usize {
        self.table.rows() - 1
    }

    /// Where the first column of that name is.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// What a cell holds.
    pub(super) fn scalar(&self, row: usize, column: usize) -> Scalar<'_> {
        let scalar = self.raw(row, self.leading + column);
        match &scalar {
            Scalar::Int(digits) if self.floats => digits.parse().map_or(Scalar::Na, Scalar::Float),
            _ => scalar,
        }
    }

    /// Where a cell is in the file.
    pub(super) fn place(&self, row: usize, column: usize) -> usize {
        self.table.place(row + 1, self.leading + column)
    }

    /// The row's label as an integer, which is its number unless columns stand before the named ones.
    pub(super) fn index(&self, row: usize) -> Result<String, Refusal> {
        match self.leading {
            0 => return Ok(row.to_string()),
            1 => {}
            _ => return Err(Refusal::new("TypeError", "the row has at least two cells more than the header")),
        }
        let refused =
            || Refusal::new("ValueError", "the row has a cell more than the header, and its first is no number");
        match self.raw(row, 0) {
            Scalar::Int(digits) => Ok(digits),
            Scalar::Bool(flag) => Ok(u8::from(flag).to_string()),
            Scalar::Float(number) if number.is_infinite() => {
                Err(Refusal::new("OverflowError", "the row has a cell more than the header, and its first is infinite"))
            }
            Scalar::Float(number) if number.is_finite() => Ok(digits_of(number)),
            Scalar::Text(text) => parse_int(strip(text)).ok_or_else(refused),
            Scalar::Float(_) | Scalar::Na => Err(refused()),
        }
    }

    fn raw(&self, row: usize, column: usize) -> Scalar<'_> {
        let kind = self.kinds.get(column).copied().unwrap_or(Kind::Text);
        kind.scalar(self.table.cell(row + 1, column))
    }
}
