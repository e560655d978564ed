//! Foreign files to and from canonical records, with diagnostics.
//!
//! *Invariant:* no disk and no network: bytes come in as readers, and files that a dataset refers to are asked
//! for through [`Files`]. Nothing unknown is lost, and every fault is reported with its place.

mod agenthealth;
mod blocks;
mod columns;
mod decompress;
mod detect;
mod document;
mod elsewhere;
mod files;
mod folder;
mod format;
mod history;
mod ids;
mod lab;
mod letta;
mod map;
mod open;
mod place;
pub mod plan;
mod pool;
mod read;
mod records;
mod report;
mod rows;
pub mod write;
mod yaml;

pub use document::read_document;
pub use files::{Files, FilesError, Loaded, NoFiles, ReadSeek};
pub use format::Format;
pub use letta::{CompatReading, CompatSample, PyDict, PyText, PyValue, read_compat};
pub use map::IdRule;
pub use read::{Body, Each, Input, ReadOptions, Take, read};
pub use report::{DatasetInfo, FileUse, Report};
