//! Everything about `core` that is tested from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod address;
mod canonical;
mod declaration;
mod filter;
mod gate;
mod gate_rules;
mod generate;
mod infer;
mod leaf;
mod lineage;
mod mapping;
mod plan;
mod prepare;
mod privacy;
mod proof;
mod registry;
mod schema;
mod schema_change;
mod skim;
mod statistics;
mod trace;
mod vectors;
mod widening;
