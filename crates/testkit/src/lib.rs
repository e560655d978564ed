//! Builders and memory twins that the tests of several crates share. Never shipped.

mod feed;
pub mod leak;
mod memory;
mod reading;
mod seeded;

pub use feed::MadeUpFeeds;
pub use memory::{MemoryLayout, MemorySources, MemoryTree, Quiet};
pub use reading::{MemoryFiles, Reading, read_bytes, read_folder_with, read_with};
pub use seeded::{FixedClock, Seeded};
