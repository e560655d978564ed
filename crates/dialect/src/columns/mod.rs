//! Parquet and Arrow IPC: columns to rows and back.

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;

use crate::document::DocumentRows;
use crate::files::ReadSeek;

/// Which columnar container a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Parquet,
    ArrowFile,
    ArrowStream,
}

/// Opens a columnar file.
pub(crate) fn open(_file: Box<dyn ReadSeek>, _kind: Kind) -> Result<DocumentRows, Box<Fault>> {
    Err(Box::new(Problem::new(Code::E034, Path::root(), "columns are not read yet").of_file()))
}
