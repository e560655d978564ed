//! The vocabulary and the rules of Heldset.
//!
//! *Invariant:* no IO, no clock, no randomness, no environment, no threads: every function is from values to values.

pub mod canonical;
pub mod case;
pub mod code;
pub mod digest;
pub mod fault;
pub mod json;
pub mod number;
pub mod path;
pub mod profile;
pub mod record;
pub mod value;
pub mod visibility;
