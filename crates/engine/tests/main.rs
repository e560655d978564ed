//! The engine on real and on memory stores: what crashes, races, leaks and guesses come to.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "figures, and what was skipped")]

mod brute_force;
mod crash;
mod queries;
mod runs;
mod sources;
mod two_worlds;
mod worlds;
