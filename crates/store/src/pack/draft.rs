//! The rows of a pack as they come together: one text for all, so that a pack costs a few allocations.
//!
//! *Invariant:* keeps the order in which rows were added; emptied, it keeps its room for the next pack.

use std::sync::Arc;

use super::stage::{Cell, Shape, Staged};
use super::{PACK_BYTES, PACK_ROWS};

/// Rows that become a pack.
#[derive(Default)]
pub struct PackDraft {
    pub(super) rows: Vec<Row>,
    pub(super) cells: Vec<Cell>,
    pub(super) text: Vec<u8>,
    /// The shapes that rows have.
    pub(super) shapes: Vec<Arc<Shape>>,
}

/// One row: where its parts are.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) shape: u32,
    pub(super) cells: u32,
    pub(super) id: (u32, u32),
    pub(super) id_hash: u32,
}

/// Up to so many bytes a pack is small.
const SMALL: usize = 1 << 20;
/// How far back an equal shape is looked for.
const LOOK_BACK: usize = 16;

impl PackDraft {
    /// Adds a row.
    pub fn push(&mut self, staged: &Staged) {
        self.make_room();
        let shift = self.text.len() as u32;
        self.text.extend_from_slice(&staged.text);
        let id = self.text.len() as u32;
        self.text.extend_from_slice(staged.id.as_bytes());
        let row = Row {
            shape: self.shape(&staged.shape),
            cells: self.cells.len() as u32,
            id: (id, self.text.len() as u32),
            id_hash: staged.id_hash,
        };
        self.cells.extend(staged.cells.iter().map(|cell| cell.shifted(shift)));
        self.rows.push(row);
    }

    /// A pack that is not small takes all its room at once: growing step by step would copy it several times.
    fn make_room(&mut self) {
        if self.text.len() > SMALL && self.text.capacity() < PACK_BYTES {
            self.text.reserve_exact(PACK_BYTES + SMALL - self.text.len());
            let cells = self.cells.len() / self.rows.len().max(1) * PACK_ROWS;
            self.cells.reserve(cells.min(PACK_BYTES / size_of::<Cell>()).saturating_sub(self.cells.len()));
            self.rows.reserve(PACK_ROWS);
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many bytes they take, about.
    pub fn weight(&self) -> usize {
        self.text.len() + self.cells.len() * size_of::<Cell>() + self.rows.len() * size_of::<Row>()
    }

    /// Whether the text is longer than cells can point into.
    pub(super) fn is_too_large(&self) -> bool {
        u32::try_from(self.text.len()).is_err() || u32::try_from(self.cells.len()).is_err()
    }

    /// Takes all rows out.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.cells.clear();
        self.text.clear();
        self.shapes.clear();
    }

    /// The cells of a row, in the order of its shape.
    pub(super) fn cells(&self, row: &Row) -> &[Cell] {
        let from = row.cells as usize;
        &self.cells[from..from + self.shapes[row.shape as usize].fields.len()]
    }

    /// A part of the text.
    pub(super) fn text(&self, (from, to): (u32, u32)) -> &[u8] {
        &self.text[from as usize..to as usize]
    }

    fn shape(&mut self, shape: &Arc<Shape>) -> u32 {
        let recent = self.shapes.len().saturating_sub(LOOK_BACK);
        let same = |known: &Arc<Shape>| Arc::ptr_eq(known, shape) || known == shape;
        let found = self.shapes[recent..].iter().rposition(same);
        let at = found.map_or(self.shapes.len(), |at| recent + at);
        if at == self.shapes.len() {
            self.shapes.push(shape.clone());
        }
        at as u32
    }
}
