//! Writers that must know every column before they write the first row.
//!
//! The work has two phases. First every record becomes a line for the caller to keep, and the columns are observed;
//! then the losses that only the columns show are asked for, and the kept lines are written as a table.
//!
//! *Invariant:* what is written depends on the records and their order alone, not on how they were observed.

use std::io::{self, Write};

use heldset_core::json;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::Value;

use super::column_set::ColumnSet;
use super::loss::Loss;
use super::rows::Written;

/// Writes records as a table.
pub trait TableWriter: Send + Sync {
    /// A record as the line of JSON that is kept until the columns are known, and what its row would lose whatever
    /// the columns turn out to be.
    fn row(&self, record: &Record<'_>) -> Written;

    /// Notes the columns of a record. Records come in order, or in batches whose sets are merged in order.
    fn observe(&self, record: &Record<'_>, columns: &mut ColumnSet);

    /// What is lost because of what whole columns hold.
    fn losses(&self, columns: &ColumnSet) -> Vec<Loss>;

    /// Writes the table.
    fn write(
        &self,
        columns: &ColumnSet,
        rows: &mut dyn Iterator<Item = io::Result<Record<'static>>>,
        out: &mut (dyn Write + Send),
    ) -> io::Result<Sidecar>;
}

/// What belongs beside a written file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sidecar {
    /// The content of `FILE.schema.json`.
    pub schema: Option<Vec<u8>>,
}

/// The record of a line that [`TableWriter::row`] made.
pub fn spooled(line: &str) -> io::Result<Record<'static>> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let Value::Object(mut fields) = json::read(line).map_err(|error| invalid(error.to_string()))? else {
        return Err(invalid("a kept line is not a record".to_owned()));
    };
    let id = fields.remove("id").unwrap_or(Value::Null);
    let id = RecordId::from_value(id, "id").map_err(|problem| invalid(problem.message))?;
    Ok(Record { id, fields }.into_owned())
}
