//! Builders and memory twins that the tests of several crates share. Never shipped.

mod reading;

pub use reading::{MemoryFiles, Reading, read_bytes, read_folder_with, read_with};
