//! Everything about `grade` that is tested from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod configuration;
mod conform;
mod extractors;
mod judges;
mod letta;
mod properties;
mod rules;
mod scene;
mod turns;
