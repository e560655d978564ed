//! Letta Evals JSONL and CSV.

mod map;

pub(crate) use map::{LettaMapper, cell_kind};
