//! Rows of a batch of columns as values.

use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use heldset_core::code::Code;
use heldset_core::fault::{Excerpt, Place, Problem};
use heldset_core::path::Path;
use heldset_core::record::name_problem;
use heldset_core::value::{Object, Value};

use super::cells::{Allowance, Cells, members, row_of};
use crate::blocks::{Block, Look, MAX_RECORD, RowError};

/// Some rows of a columnar file.
pub(crate) struct ColumnBlock {
    pub(super) batch: RecordBatch,
    pub(super) first_row: u64,
}

/// Whether the columns of a batch can be read at all: their names and their types.
pub(super) fn check(batch: &RecordBatch) -> Result<(), Problem> {
    for (name, _) in columns(batch)? {
        if let Some(why) = name_problem(name) {
            let message = format!("the column name `{}` {why}", name.escape_debug());
            return Err(Problem::new(Code::E033, Path::root(), message).help("rename the column"));
        }
    }
    Ok(())
}

fn columns(batch: &RecordBatch) -> Result<Vec<(&str, Cells<'_>)>, Problem> {
    let fields = batch.schema_ref().fields().iter().map(AsRef::as_ref);
    members(batch.columns().iter().zip(fields), &Path::root())
}

impl Block for ColumnBlock {
    fn first_row(&self) -> u64 {
        self.first_row
    }

    fn len(&self) -> usize {
        self.batch.num_rows()
    }

    fn line(&self, row: usize) -> u64 {
        self.first_row + row as u64 + 1
    }

    fn visit<'b>(&'b self, _look: Look<'_>, visit: &mut dyn FnMut(usize, Result<Value<'b>, RowError>)) {
        let columns = columns(&self.batch);
        for row in 0..self.len() {
            let value = match &columns {
                Ok(columns) => row_of(columns, row, &mut Allowance(MAX_RECORD)),
                Err(problem) => Err(problem.clone()),
            };
            visit(row, value.map(Value::Object).map_err(|problem| RowError::new(problem, None)));
        }
    }

    fn locate(&self, row: usize, _path: &Path) -> (Option<Place>, Option<Excerpt>) {
        (Some(Place { line: self.line(row), column: 1 }), None)
    }

    fn locate_offset(&self, row: usize, _offset: usize) -> (Option<Place>, Option<Excerpt>) {
        self.locate(row, &Path::root())
    }

    /// The row as JSON; what is no value, as the text that shows it.
    fn source(&self, row: usize) -> Vec<u8> {
        let Ok(columns) = columns(&self.batch) else { return Vec::new() };
        let mut object = Object::with_capacity(columns.len());
        for ((name, cells), array) in columns.iter().zip(self.batch.columns()) {
            let value = cells.value(row, &mut Allowance(MAX_RECORD));
            let shown = || array_value_to_string(array, row).unwrap_or_default();
            if let Some(value) = value.unwrap_or_else(|_| Some(Value::from(shown()))) {
                object.push_unique((*name).into(), value);
            }
        }
        heldset_core::canonical::bytes(&Value::Object(object))
    }
}
