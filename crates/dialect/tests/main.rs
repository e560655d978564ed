//! Everything about `dialect` that is tested from outside.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod agenthealth;
mod agenthealth_stored;
mod agenthealth_written;
mod columns;
mod compat;
mod compat_cases;
mod damaged;
mod detect;
mod fuzz;
mod lab;
mod lab_fixtures;
mod lab_write;
mod leaves;
mod letta;
mod plan;
mod plan_lab;
mod plan_letta;
mod round_trips;
mod rows;
mod tables;
mod yaml;
