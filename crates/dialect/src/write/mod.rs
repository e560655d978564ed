//! Canonical records to foreign files.
//!
//! *Invariant:* what a dialect cannot carry is found by reading each written row back, and is listed.

mod agenthealth;
mod column_set;
mod csv;
mod lab;
mod layout;
mod letta;
mod letta_csv;
mod loss;
mod parquet;
mod rows;
mod table;
mod target;
mod yaml_text;

pub use column_set::ColumnSet;
pub use loss::{GUARDED, Loss};
pub use rows::{RowWriter, Written};
pub use table::{Sidecar, TableWriter, spooled};
pub use target::{Target, WriteOptions, Writer, writer};
