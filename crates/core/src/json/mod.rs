//! The strict JSON reader: unique keys, valid Unicode, exact numbers, bounded depth.
//!
//! *Invariant:* what breaks a rule is refused with its place; nothing is dropped or repaired.

mod digits;
mod locate;
mod read;
mod scan;
mod skim;
mod text;

pub use locate::{Span, locate};
pub use read::{JsonError, JsonProblem, MAX_DEPTH, read, read_prefix, read_shallow, skim};
pub use scan::plain_run;
