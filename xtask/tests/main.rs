//! The shape of the workspace: layers, sizes, heads, names.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod layers;
mod names;
mod pages;
mod sources;
