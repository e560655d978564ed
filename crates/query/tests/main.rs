//! Queries are answered as the evaluator in `core` says, whatever the rows are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod examples;
mod statements;
mod twins;
