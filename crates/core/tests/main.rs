//! Everything about `core` that is tested from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod canonical;
mod generate;
mod leaf;
mod proof;
mod skim;
mod vectors;
