//! The columns that records have together, and what was seen in them.
//!
//! *Invariant:* observing records one by one and merging the sets of their batches in order give the same set.

use crate::blocks::MAX_FIELDS;
use hashbrown::HashMap;
use heldset_core::number::Number;
use heldset_core::value::Value;

/// The columns of some records, in the order of their first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnSet {
    columns: Vec<Column>,
    /// Where each column is, once they are many.
    index: HashMap<String, usize>,
    /// Where the next field is looked for first.
    cursor: usize,
}

/// What was seen in a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The record that has it first, and how many have it.
    pub(crate) seen: Sight,
    pub(crate) kinds: Kinds,
    /// Empty texts.
    pub(crate) empty: Option<Sight>,
    /// Texts that a spreadsheet would take for formulas.
    pub(crate) formulas: Option<Sight>,
}

/// Something that records have: the first of them, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) id: String,
    pub(crate) count: u64,
}

/// The kinds of values in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl ColumnSet {
    /// Whether there are more columns than a table has.
    pub fn is_too_wide(&self) -> bool {
        self.columns.len() > MAX_FIELDS
    }

    /// Adds what later records have.
    pub fn merge(&mut self, later: ColumnSet) {
        for column in later.columns {
            let at = self.find(&column.name);
            match at {
                None => self.push(column),
                Some(at) => {
                    let known = &mut self.columns[at];
                    known.kinds = known.kinds.and(column.kinds);
                    known.seen.count += column.seen.count;
                    merge_sights(&mut known.empty, column.empty);
                    merge_sights(&mut known.formulas, column.formulas);
                }
            }
        }
    }

    /// Notes one record.
    pub(crate) fn add<'v, 'a: 'v>(&mut self, id: &str, fields: impl Iterator<Item = (&'v str, &'v Value<'a>)>) {
        for (name, value) in fields {
            let at = match self.find(name) {
                Some(at) => at,
                None => {
                    let seen = Sight { id: id.to_owned(), count: 0 };
                    let kinds = Kinds::default();
                    self.push(Column { name: name.to_owned(), seen, kinds, empty: None, formulas: None });
                    self.columns.len() - 1
                }
            };
            self.cursor = at + 1;
            let column = &mut self.columns[at];
            column.seen.count += 1;
            column.kinds = column.kinds.and(Kinds::of(value));
            if let Value::String(text) = value {
                count(&mut column.empty, id, text.is_empty());
                count(&mut column.formulas, id, is_formula(text));
            }
        }
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Column> {
        self.find(name).map(|at| &self.columns[at])
    }

    /// Rows of one file mostly have the same fields in the same order, so the next one is tried first.
    fn find(&self, name: &str) -> Option<usize> {
        if self.columns.get(self.cursor).is_some_and(|column| column.name == name) {
            return Some(self.cursor);
        }
        match self.index.is_empty() {
            true => self.columns.iter().position(|column| column.name == name),
            false => self.index.get(name).copied(),
        }
    }

    fn push(&mut self, column: Column) {
        const FEW: usize = 32;
        let at = self.columns.len();
        if at == FEW {
            self.index = self.columns.iter().enumerate().map(|(at, column)| (column.name.clone(), at)).collect();
        }
        if at >= FEW {
            self.index.insert(column.name.clone(), at);
        }
        self.columns.push(column);
    }
}

impl Kinds {
    pub(crate) const TEXT: Kinds = Kinds(1);
    pub(crate) const BOOLEAN: Kinds = Kinds(1 << 1);
    pub(crate) const NULL: Kinds = Kinds(1 << 2);
    /// Integers of 64 bits: from 0 within `i64`, below 0, above `i64`.
    pub(crate) const POSITIVE: Kinds = Kinds(1 << 3);
    pub(crate) const NEGATIVE: Kinds = Kinds(1 << 4);
    pub(crate) const BIG: Kinds = Kinds(1 << 5);
    /// An integer that no double is.
    pub(crate) const INEXACT: Kinds = Kinds(1 << 6);
    pub(crate) const DOUBLE: Kinds = Kinds(1 << 7);
    /// A list of texts alone, and any other list.
    pub(crate) const TEXTS: Kinds = Kinds(1 << 8);
    pub(crate) const LIST: Kinds = Kinds(1 << 9);
    pub(crate) const MAPPING: Kinds = Kinds(1 << 10);

    /// Both.
    pub(crate) const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether there is something, and nothing else than `allowed`.
    pub(crate) fn only(self, allowed: Kinds) -> bool {
        self.0 != 0 && self.0 & !allowed.0 == 0
    }

    pub(crate) fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    pub(crate) fn of(value: &Value<'_>) -> Kinds {
        match value {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOLEAN,
            Value::String(_) => Kinds::TEXT,
            Value::Number(number) => Kinds::of_number(number),
            Value::Array(items) if items.iter().all(|item| item.as_str().is_some()) => Kinds::TEXTS,
            Value::Array(_) => Kinds::LIST,
            Value::Object(_) => Kinds::MAPPING,
        }
    }

    fn of_number(number: &Number) -> Kinds {
        let kind = match (number.as_i64(), number.as_u64()) {
            (Some(0..), _) => Kinds::POSITIVE,
            (Some(_), _) => Kinds::NEGATIVE,
            (None, Some(_)) => Kinds::BIG,
            (None, None) => return Kinds::DOUBLE,
        };
        match Number::from_f64(number.as_f64()).as_ref() == Ok(number) {
            true => kind,
            false => kind.and(Kinds::INEXACT),
        }
    }
}

/// Whether a spreadsheet would take a text for a formula.
pub(crate) fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

fn count(sight: &mut Option<Sight>, id: &str, is_seen: bool) {
    if is_seen {
        sight.get_or_insert_with(|| Sight { id: id.to_owned(), count: 0 }).count += 1;
    }
}

fn merge_sights(sight: &mut Option<Sight>, later: Option<Sight>) {
    match (sight.as_mut(), later) {
        (Some(sight), Some(later)) => sight.count += later.count,
        (None, later) => *sight = later,
        (Some(_), None) => {}
    }
}
