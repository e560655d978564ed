//! Canonical records to foreign files.
//!
//! *Invariant:* what a dialect cannot carry is found by reading each written row back, and is listed.

mod lab;
mod letta;
mod loss;
mod rows;
mod target;
mod yaml_text;

pub use loss::Loss;
pub use rows::{RowWriter, Written};
pub use target::{Target, Writer, writer};
