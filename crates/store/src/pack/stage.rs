//! A record on its way into a pack: its leaf, and its cells without borrowed text.
//!
//! *Invariant:* made side by side in the workers; what is expensive per record (hashing, canonical text) happens here.

use std::sync::Arc;

use heldset_core::canonical;
use heldset_core::digest::Digest;
use heldset_core::leaf::Leaves;
use heldset_core::record::Record;
use heldset_core::value::Value;

use super::ids::id_hash;

/// A record that is ready to be stored.
#[derive(Clone)]
pub struct Staged {
    /// Its leaf.
    pub leaf: Digest,
    /// Its id.
    pub id: Box<str>,
    pub(super) id_hash: u32,
    pub(super) shape: Arc<Shape>,
    pub(super) cells: Vec<Cell>,
    pub(super) text: Vec<u8>,
}

/// The names of a record's fields, each with the place of its label.
#[derive(Default, PartialEq, Eq)]
pub struct Shape {
    pub(super) fields: Vec<(usize, String)>,
}

/// One value; text and canonical JSON are ranges of the record's text.
#[derive(Clone, Copy)]
pub(super) enum Cell {
    Null,
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(u32, u32),
    Json(u32, u32),
}

/// Makes records ready, one after the other.
pub struct Stager {
    leaves: Leaves,
    shape: Arc<Shape>,
}

impl Stager {
    /// With these leaves.
    pub fn new(leaves: Leaves) -> Self {
        Stager { leaves, shape: Arc::default() }
    }

    /// Makes a record ready.
    pub fn stage(&mut self, record: &Record<'_>) -> Staged {
        let leaf = self.leaves.leaf(record);
        self.follow(record);
        let mut text = Vec::with_capacity(512);
        let cells = record.fields.iter().map(|(_, value)| Cell::of(value, &mut text)).collect();
        let id = record.id.as_str();
        Staged { leaf, id: id.into(), id_hash: id_hash(id), shape: self.shape.clone(), cells, text }
    }

    fn follow(&mut self, record: &Record<'_>) {
        let known = self.shape.fields.iter().map(|(_, name)| name.as_str());
        if !known.eq(record.fields.iter().map(|(name, _)| name)) {
            let labels = self.leaves.labels();
            let fields = record.fields.iter().map(|(name, _)| (labels.index_of(name), name.to_owned()));
            self.shape = Arc::new(Shape { fields: fields.collect() });
        }
    }
}

impl Shape {
    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(_, name)| name.as_str())
    }
}

impl Staged {
    /// The names of its fields.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }
}

impl Cell {
    fn of(value: &Value<'_>, text: &mut Vec<u8>) -> Cell {
        let from = text.len();
        match value {
            Value::Null => return Cell::Null,
            Value::Bool(flag) => return Cell::Bool(*flag),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => return Cell::Integer(integer),
                (None, None) => return Cell::Number(number.as_f64()),
                (None, Some(_)) => canonical::write(value, text),
            },
            Value::String(string) => {
                text.extend_from_slice(string.as_bytes());
                return Cell::Text(from as u32, text.len() as u32);
            }
            Value::Array(_) | Value::Object(_) => canonical::write(value, text),
        }
        Cell::Json(from as u32, text.len() as u32)
    }

    /// The same value with its text so much further on; a pack that is too large for that is not written.
    pub(super) fn shifted(self, by: u32) -> Cell {
        match self {
            Cell::Text(from, to) => Cell::Text(from.wrapping_add(by), to.wrapping_add(by)),
            Cell::Json(from, to) => Cell::Json(from.wrapping_add(by), to.wrapping_add(by)),
            other => other,
        }
    }
}
