//! The store on disk and in memory, held to the same facts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod catalog;
mod flips;
mod folder;
mod keys;
mod objects;
mod seal;
mod seeded;
