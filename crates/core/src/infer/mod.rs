//! The schema that records show, over all rows of all sources.
//!
//! *Invariant:* null says nothing about a type; what disagrees is told as a conflict, never settled silently. The
//! schema admits every row it was inferred from.

mod seen;

use std::collections::HashMap;

use crate::canonical;
use crate::record::Record;
use crate::schema::{Field, Schema, Type};
use crate::value::{Object, Value};
use seen::Seen;

/// Longer examples are left out.
const EXAMPLE: usize = 200;

/// Rows that are looked at, source by source.
#[derive(Default)]
pub struct Inference {
    sources: Vec<(String, Shape)>,
}

/// What the rows of one source show.
#[derive(Default)]
pub struct Shape {
    rows: u64,
    fields: Vec<Column>,
    index: HashMap<String, usize>,
}

/// What the rows of one source show of a field.
struct Column {
    name: String,
    seen: Seen,
    /// How many rows have it, and not null.
    filled: u64,
    example: Option<Example>,
}

/// A row with a value of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The row, from 1.
    pub row: u64,
    /// The value, unless it is long.
    pub value: Option<Value<'static>>,
}

/// What was inferred.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// The fields, in the order they were met.
    pub fields: Vec<Field>,
    /// Fields whose types the sources do not agree on.
    pub conflicts: Vec<Conflict>,
    /// How many rows were looked at.
    pub rows: u64,
}

/// A field whose type the sources do not agree on.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The field.
    pub field: String,
    /// Each source that has it: its name, its type, a row.
    pub sources: Vec<(String, Type, Example)>,
}

impl Inference {
    /// The rows of a source; those of one name are taken together.
    pub fn source(&mut self, name: &str) -> &mut Shape {
        let at = match self.sources.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                self.sources.push((name.to_owned(), Shape::default()));
                self.sources.len() - 1
            }
        };
        &mut self.sources[at].1
    }

    /// What all rows show together.
    pub fn finish(&self) -> Inferred {
        let rows = self.sources.iter().map(|(_, shape)| shape.rows).sum();
        let mut names: Vec<&str> = Vec::new();
        let mut known: HashMap<&str, ()> = HashMap::new();
        for column in self.sources.iter().flat_map(|(_, shape)| &shape.fields) {
            if known.insert(&column.name, ()).is_none() {
                names.push(&column.name);
            }
        }
        let (mut fields, mut conflicts) = (Vec::with_capacity(names.len()), Vec::new());
        for name in names {
            let columns = || self.sources.iter().filter_map(|(source, shape)| Some((source, shape.column(name)?)));
            let mut seen = Seen::default();
            columns().for_each(|(_, column)| seen.merge(&column.seen));
            let filled: u64 = columns().map(|(_, column)| column.filled).sum();
            let kind = seen.kind();
            let told = columns()
                .filter_map(|(source, column)| Some((source.clone(), column.seen.kind(), column.example.clone()?)));
            let told: Vec<(String, Type, Example)> = told.collect();
            if told.iter().any(|(_, own, _)| !seen::agrees(own, &kind)) {
                conflicts.push(Conflict { field: name.to_owned(), sources: told });
            }
            fields.push(Field::new(name.to_owned(), kind, filled == rows));
        }
        Inferred { fields, conflicts, rows }
    }
}

impl Shape {
    /// Looks at a record, its id included.
    pub fn record(&mut self, record: &Record<'_>) {
        self.value("id", &Value::from(record.id.as_str()));
        self.row(&record.fields);
    }

    /// Looks at a row.
    pub fn row(&mut self, fields: &Object<'_>) {
        for (name, value) in fields.iter() {
            self.value(name, value);
        }
        self.rows += 1;
    }

    fn value(&mut self, name: &str, value: &Value<'_>) {
        let at = match self.index.get(name) {
            Some(at) => *at,
            None => {
                self.index.insert(name.to_owned(), self.fields.len());
                let column = Column { name: name.to_owned(), seen: Seen::default(), filled: 0, example: None };
                self.fields.push(column);
                self.fields.len() - 1
            }
        };
        let column = &mut self.fields[at];
        column.seen.value(value);
        if value.is_null() {
            return;
        }
        column.filled += 1;
        if column.example.is_none() {
            let short = canonical::bytes(value).len() <= EXAMPLE;
            column.example = Some(Example { row: self.rows + 1, value: short.then(|| value.clone().into_owned()) });
        }
    }

    /// Leaves out a field, such as an id that the file did not have.
    pub fn leave_out(&mut self, name: &str) {
        self.fields.retain(|column| column.name != name);
        self.index = self.fields.iter().enumerate().map(|(at, column)| (column.name.clone(), at)).collect();
    }

    /// Adds the rows of another part of the same source, which come after these.
    pub fn merge(&mut self, other: &Shape) {
        for column in &other.fields {
            let at = *self.index.entry(column.name.clone()).or_insert(self.fields.len());
            if at == self.fields.len() {
                let name = column.name.clone();
                self.fields.push(Column { name, seen: Seen::default(), filled: 0, example: None });
            }
            let own = &mut self.fields[at];
            own.seen.merge(&column.seen);
            own.filled += column.filled;
            if own.example.is_none() {
                let later = |example: &Example| Example { row: example.row + self.rows, ..example.clone() };
                own.example = column.example.as_ref().map(later);
            }
        }
        self.rows += other.rows;
    }

    /// Whether two shapes add the same to any third: the same types in the same fields.
    pub fn same_as(&self, other: &Shape) -> bool {
        let fits = |column: &Column| other.column(&column.name).is_some_and(|known| known.seen == column.seen);
        self.fields.len() == other.fields.len() && self.fields.iter().all(fits)
    }

    /// How many rows were looked at.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What the rows show of types, of fields that are not null in all of them; nothing is required, because that other
    /// rows lack a field is no change of it.
    pub fn schema(&self) -> Schema {
        let field = |column: &Column| Field::new(column.name.clone(), column.seen.kind(), false);
        Schema::of(self.fields.iter().filter(|column| column.filled > 0).map(field).collect())
    }

    fn column(&self, name: &str) -> Option<&Column> {
        self.index.get(name).map(|at| &self.fields[*at])
    }
}
