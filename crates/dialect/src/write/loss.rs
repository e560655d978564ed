//! What a written row would lose, found by reading it back.

use std::fmt;

use heldset_core::path::Step;
use heldset_core::record::Record;
use heldset_core::value::Value;

use crate::files::NoFiles;
use crate::map::{Mapper, Notes};
use crate::report::Tally;

/// Why a cell is listed that was only guarded.
pub const GUARDED: &str = "is guarded for spreadsheets";

/// A field that a dialect cannot carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The record.
    pub id: String,
    /// The field.
    pub field: String,
    /// What would become of it.
    pub why: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "record `{}`: `{}` {}", self.id, self.field, self.why)
    }
}

/// Reads a row back with the dialect's own mapper and lists what is not the same.
pub(crate) fn losses(record: &Record<'_>, row: Value<'_>, mapper: &dyn Mapper) -> Vec<Loss> {
    let mut notes = Notes {
        row: u64::MAX,
        file: "",
        files: &NoFiles,
        problems: Vec::new(),
        tally: Tally::default(),
        names: Vec::new(),
    };
    let back = mapper.map(row, &mut notes);
    let loss = |field: &str, why: String| Loss { id: record.id.as_str().to_owned(), field: field.to_owned(), why };
    let mut found = Vec::new();
    for problem in &notes.problems {
        let field = match problem.path.steps().first() {
            Some(Step::Key(name)) => name.as_str(),
            _ => "input",
        };
        if !found.iter().any(|known: &Loss| known.field == field) {
            found.push(loss(field, format!("would be refused: {}", problem.message)));
        }
    }
    let Some(back) = back else { return found };
    let refused = found.len();
    if back.id != record.id {
        found.push(loss("id", format!("would become `{}`", back.id.as_str())));
    }
    for (name, value) in record.fields.iter() {
        if found[..refused].iter().any(|known| known.field == name) {
            continue;
        }
        match back.fields.get(name) {
            None => found.push(loss(name, "would be lost".to_owned())),
            Some(other) if other != value => found.push(loss(name, "would change".to_owned())),
            Some(_) => {}
        }
    }
    for (name, _) in back.fields.iter().filter(|(name, _)| !record.fields.contains(name)) {
        if found[..refused].iter().any(|known| known.field == name) {
            continue;
        }
        found.push(loss(name, "would be added".to_owned()));
    }
    found
}
