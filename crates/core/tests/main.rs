//! Everything about `core` that is tested from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod canonical;
mod declaration;
mod generate;
mod leaf;
mod proof;
mod skim;
mod vectors;
mod widening;
