//! Why a columnar file cannot be read on, and the guard around the decoders.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::error::ArrowError;
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use parquet::errors::ParquetError;

use super::Kind;

/// What a decoder says about a damaged file.
pub(super) struct Broken(String);

impl Broken {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Broken(why.into())
    }
}

impl From<ParquetError> for Broken {
    fn from(error: ParquetError) -> Self {
        Broken(match error {
            ParquetError::General(why) | ParquetError::EOF(why) | ParquetError::ArrowError(why) => why,
            other => other.to_string(),
        })
    }
}

impl From<ArrowError> for Broken {
    fn from(error: ArrowError) -> Self {
        Broken(match error {
            ArrowError::IpcError(why) | ArrowError::ParseError(why) | ArrowError::InvalidArgumentError(why) => why,
            other => other.to_string(),
        })
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Broken::new("the file ends too early"),
            _ => Broken(error.to_string()),
        }
    }
}

/// Runs a decoder. Decoders slice and index by numbers that stand in the file, and some of their checks are
/// assertions; a damaged file must be a fault like any other, so a panic is caught here.
pub(super) fn guarded<T>(kind: Kind, read: impl FnOnce() -> Result<T, Broken>) -> Result<T, Box<Fault>> {
    let why = match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(read)) => return Ok(read),
        Ok(Err(Broken(why))) => why,
        Err(_) => "its parts do not fit together".to_owned(),
    };
    let why = why.lines().next().unwrap_or_default().trim_end_matches('.');
    let message = format!("the {} cannot be read: {why}", kind.name());
    Err(Box::new(Problem::new(Code::E034, Path::root(), message).help("write or download the file again").of_file()))
}
