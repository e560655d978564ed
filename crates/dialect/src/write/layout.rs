//! The columns of a table in the order they are written, and the cells of a row in that order.

use std::io;

use hashbrown::HashMap;
use heldset_core::case;
use heldset_core::value::Value;

use super::column_set::{Column, ColumnSet};

/// The columns of a table, in order.
pub(crate) struct Layout {
    pub(crate) names: Vec<String>,
    index: HashMap<String, usize>,
}

impl Layout {
    /// The id, the fields of a case in their order, then the rest in the order of first appearance.
    pub(crate) fn of_records(columns: &ColumnSet) -> Self {
        let known = case::field_names().filter(|name| columns.get(name).is_some());
        let first = std::iter::once("id").chain(known);
        Layout::starting_with(first.collect(), columns)
    }

    /// These columns, then the rest in the order of first appearance.
    pub(crate) fn starting_with(first: Vec<&str>, columns: &ColumnSet) -> Self {
        let mut layout = Layout { names: Vec::new(), index: HashMap::new() };
        let rest = columns.columns().iter().map(|Column { name, .. }| name.as_str());
        for name in first.into_iter().chain(rest) {
            if !layout.index.contains_key(name) {
                layout.index.insert(name.to_owned(), layout.names.len());
                layout.names.push(name.to_owned());
            }
        }
        layout
    }

    /// The fields of a row, each at the place of its column.
    pub(crate) fn place<'v, 'a: 'v>(
        &self,
        fields: impl Iterator<Item = (&'v str, &'v Value<'a>)>,
    ) -> io::Result<Vec<Option<&'v Value<'a>>>> {
        let mut row = vec![None; self.names.len()];
        let mut next = 0;
        for (name, value) in fields {
            let at = match self.names.get(next) {
                Some(expected) if expected == name => next,
                _ => *self.index.get(name).ok_or_else(|| unobserved(name))?,
            };
            row[at] = Some(value);
            next = at + 1;
        }
        Ok(row)
    }
}

/// A row has something that was not there when the columns were observed.
pub(crate) fn unobserved(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{name}` is not what was observed"))
}
