//! What dials out: targets, judges, embedders, live sources, and the launcher that takes from an agent what it may not reach.
//!
//! *Invariant:* implements the ports of the engine and nothing else; no secret is ever written or logged.

mod agent;
mod answer;
mod ask;
mod canned;
mod chat;
mod command;
mod config;
mod drive;
mod embeddings;
mod http;
pub mod launch;
mod letta;
mod mas;
mod memory;
mod pick;
mod prepare;
mod python;
mod requests;
pub mod source;
mod tools;
mod turns;
mod watch;

#[cfg(test)]
#[path = "../tests/servers/mod.rs"]
mod servers;

pub use agent::Secrets;
pub use command::end_all;
pub use prepare::Dialler;
