//! Everything about `core` that is tested from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod canonical;
mod declaration;
mod filter;
mod gate;
mod gate_rules;
mod generate;
mod leaf;
mod plan;
mod proof;
mod skim;
mod statistics;
mod trace;
mod vectors;
mod widening;
