//! The vocabulary and the rules of Heldset.
//!
//! *Invariant:* no IO, no clock, no randomness, no environment, no threads: every function is from values to values.

pub mod address;
pub mod audit;
pub mod canonical;
pub mod case;
pub mod chunk;
pub mod cite;
pub mod code;
pub mod declaration;
pub mod digest;
pub mod fault;
pub mod files_split;
pub mod filter;
pub mod gate;
pub mod infer;
pub mod json;
pub mod leaf;
pub mod lineage;
pub mod manifest;
pub mod mapping;
pub mod merkle;
pub mod number;
pub mod path;
pub mod plan;
pub mod prepare;
pub mod privacy;
pub mod profile;
pub mod query;
pub mod record;
pub mod registry;
pub mod run;
pub mod schema;
pub mod seed;
pub mod statistics;
pub mod target;
pub mod trace;
pub mod value;
pub mod visibility;
