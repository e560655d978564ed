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

use heldset_core::value::Object;

/// A mapping as a YAML document in block style, which reads back as the same mapping.
pub fn yaml(object: &Object<'_>) -> String {
    let mut text = String::new();
    match object.is_empty() {
        true => text.push_str("{}"),
        false => yaml_text::write_entries(object.iter(), 0, &mut text),
    }
    text.push('\n');
    text
}
