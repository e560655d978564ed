//! Everything about `dialect` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod compat;
mod lab;
mod lab_write;
mod letta;
mod rows;
mod yaml;
