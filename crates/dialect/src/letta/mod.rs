//! Letta Evals JSONL and CSV.

mod compat;
mod map;

pub use compat::{CompatReading, CompatSample, PyDict, PyText, PyValue, read_compat};
pub(crate) use map::{LettaMapper, cell_kind};
