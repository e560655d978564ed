//! What a written row would lose, found by reading it back.

use std::fmt;

use heldset_core::record::Record;
use heldset_core::value::Value;

use crate::files::NoFiles;
use crate::map::{Mapper, Notes};
use crate::report::Tally;

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
    if let Some(problem) = notes.problems.first() {
        let field = problem.path.to_string();
        return vec![loss(
            if field.is_empty() { "id" } else { &field },
            format!("would be refused: {}", problem.message),
        )];
    }
    let Some(back) = back else { return vec![loss("id", "would be refused".to_owned())] };
    let mut found = Vec::new();
    if back.id != record.id {
        found.push(loss("id", format!("would become `{}`", back.id.as_str())));
    }
    for (name, value) in record.fields.iter() {
        match back.fields.get(name) {
            None => found.push(loss(name, "would be lost".to_owned())),
            Some(other) if other != value => found.push(loss(name, "would change".to_owned())),
            Some(_) => {}
        }
    }
    for (name, _) in back.fields.iter().filter(|(name, _)| !record.fields.contains(name)) {
        found.push(loss(name, "would be added".to_owned()));
    }
    found
}
