//! The verbs, one file each, and the ports they need.
//!
//! *Invariant:* no verb knows HTTP, a command line or where bytes lie.

pub mod agents;
pub mod audit;
pub mod cat;
pub mod check;
pub mod commit;
mod compact;
mod companions;
pub mod compare;
pub mod compat;
pub mod connector;
pub mod convert;
pub mod copies;
pub mod credential;
pub mod dataset;
pub mod demo;
pub mod diff;
pub mod doctor;
mod drops;
mod edges;
pub mod erase;
pub mod explain;
pub mod export;
pub mod feeds;
pub mod files;
pub mod gate;
mod gather;
pub mod gc;
mod hints;
pub mod history;
pub mod import;
pub mod init;
pub mod keys;
pub mod lineage;
mod log;
mod losses;
pub mod ls;
pub mod migrate;
pub mod mount;
pub mod ports;
pub mod prepare;
pub mod principal;
pub mod promote;
pub mod query;
mod recompute;
pub mod record;
pub mod refusal;
pub mod register;
pub mod report;
pub mod resolve;
pub mod results;
mod retention;
pub mod rows;
pub mod run;
pub mod runs;
pub mod scan;
pub mod schema;
pub mod score;
pub mod scrub;
pub mod session;
pub mod show;
pub mod source;
mod spool;
pub mod sql;
pub mod status;
mod store_errors;
pub mod store_rules;
pub mod summary;
pub mod tag;
#[cfg(test)]
mod upkeep_tests;
mod uses;
pub mod verify;
pub mod view;
pub mod why;

use heldset_core::fault::Fault;

/// Who is told of faults and progress while a verb works.
pub trait Listener {
    /// A fault, or a hint.
    fn fault(&mut self, fault: &Fault) -> std::io::Result<()>;

    /// Something that is done all the same, because the user asked for it.
    fn warning(&mut self, fault: &Fault) -> std::io::Result<()> {
        self.fault(fault)
    }

    /// How far the work is.
    fn progress(&mut self, bytes: u64, rows: u64);
}
