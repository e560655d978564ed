//! Which typed columns the rows of a pack get: for each field the kind most of its values have.
//!
//! *Invariant:* depends on the rows of the pack alone.

use std::collections::HashMap;

use arrow::datatypes::DataType;

use super::draft::PackDraft;
use super::stage::Cell;

/// The most columns an object has; the rarest fields go to `_rest`.
const MAX_COLUMNS: usize = 256;

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Json,
}

/// A column to be.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Where the fields of the rows go.
pub(super) struct Plan {
    /// The columns of each label.
    pub(super) columns: Vec<Vec<Column>>,
    /// For each shape and each of its fields: the label, and the column if it has one.
    places: Vec<Vec<(usize, Option<usize>)>>,
}

#[derive(Clone, Default)]
struct Count {
    text: u32,
    integer: u32,
    number: u32,
    boolean: u32,
    json: u32,
}

impl Kind {
    pub(super) const ALL: [(Kind, &'static str); 5] = [
        (Kind::Text, "text"),
        (Kind::Integer, "integer"),
        (Kind::Number, "number"),
        (Kind::Boolean, "boolean"),
        (Kind::Json, "json"),
    ];

    pub(super) fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    pub(super) fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// The type of the column.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Kind::Text | Kind::Json => DataType::Utf8,
            Kind::Integer => DataType::Int64,
            Kind::Number => DataType::Float64,
            Kind::Boolean => DataType::Boolean,
        }
    }

    /// Whether a column of this kind holds the value exactly.
    pub(super) fn holds(self, cell: Cell) -> bool {
        match (self, cell) {
            (Kind::Text, Cell::Text(..)) | (Kind::Json, Cell::Json(..)) => true,
            (Kind::Boolean, Cell::Bool(_)) | (Kind::Integer, Cell::Integer(_)) => true,
            (Kind::Number, Cell::Number(_)) => true,
            (Kind::Number, Cell::Integer(integer)) => integer.unsigned_abs() <= 1 << 53,
            _ => false,
        }
    }
}

impl Plan {
    /// For these rows, whose labels are numbered below `labels`.
    pub(super) fn of(draft: &PackDraft, labels: usize) -> Plan {
        let mut fields: HashMap<(usize, &str), usize> = HashMap::new();
        let mut named: Vec<(usize, &str, Count)> = Vec::new();
        let mut shapes: Vec<Vec<usize>> = Vec::with_capacity(draft.shapes.len());
        for shape in &draft.shapes {
            let index = |(label, name)| {
                *fields.entry((label, name)).or_insert_with(|| {
                    named.push((label, name, Count::default()));
                    named.len() - 1
                })
            };
            shapes.push(shape.fields.iter().map(|(label, name)| (*label, name.as_str())).map(index).collect());
        }
        for row in &draft.rows {
            for (cell, field) in draft.cells(row).iter().zip(&shapes[row.shape as usize]) {
                named[*field].2.add(*cell);
            }
        }
        let (columns, column_of) = choose(&named, labels, draft.len());
        let place = |field: &usize| (named[*field].0, column_of[*field]);
        let places = shapes.iter().map(|fields| fields.iter().map(place).collect()).collect();
        Plan { columns, places }
    }

    /// The label and column of each field of a shape.
    pub(super) fn places(&self, shape: u32) -> &[(usize, Option<usize>)] {
        &self.places[shape as usize]
    }
}

/// The columns of each label in the order of the fields' first appearance, and the column of each field.
fn choose(named: &[(usize, &str, Count)], labels: usize, rows: usize) -> (Vec<Vec<Column>>, Vec<Option<usize>>) {
    let mut by_count: Vec<usize> = (0..named.len()).collect();
    by_count.sort_by_key(|field| std::cmp::Reverse(named[*field].2.total()));
    let mut room = vec![MAX_COLUMNS; labels];
    let mut chosen = vec![None; named.len()];
    for field in by_count {
        let (label, name, count) = &named[field];
        let frequent = count.total() as usize * 64 >= rows;
        if room[*label] > 0 && frequent && *name != super::REST && *name != super::ID {
            chosen[field] = count.kind();
            room[*label] -= usize::from(chosen[field].is_some());
        }
    }
    let mut columns: Vec<Vec<Column>> = (0..labels).map(|_| Vec::new()).collect();
    let column_of = named.iter().zip(chosen).map(|((label, name, _), kind)| {
        kind.map(|kind| {
            columns[*label].push(Column { name: (*name).to_owned(), kind });
            columns[*label].len() - 1
        })
    });
    let column_of = column_of.collect();
    (columns, column_of)
}

impl Count {
    fn add(&mut self, cell: Cell) {
        match cell {
            Cell::Null => {}
            Cell::Bool(_) => self.boolean += 1,
            Cell::Integer(_) => self.integer += 1,
            Cell::Number(_) => self.number += 1,
            Cell::Text(..) => self.text += 1,
            Cell::Json(..) => self.json += 1,
        }
    }

    fn total(&self) -> u32 {
        self.text + self.integer + self.number + self.boolean + self.json
    }

    /// The kind that holds most of the values.
    fn kind(&self) -> Option<Kind> {
        let number = if self.number > 0 { Kind::Number } else { Kind::Integer };
        let counts = [
            (self.text, Kind::Text),
            (self.json, Kind::Json),
            (self.boolean, Kind::Boolean),
            (self.integer + self.number, number),
        ];
        counts.into_iter().max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 0).map(|(_, kind)| kind)
    }
}
