//! Containers: how a file is cut into rows.

pub(crate) mod csv;
pub(crate) mod json_array;
pub(crate) mod json_block;
pub(crate) mod json_lines;
mod source;

pub(crate) use source::Source;
