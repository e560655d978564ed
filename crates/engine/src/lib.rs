//! The verbs, one file each, and the ports they need.
//!
//! *Invariant:* no verb knows HTTP, a command line or where bytes lie.

pub mod check;
pub mod compat;
pub mod convert;
pub mod explain;
mod hints;

use heldset_core::fault::Fault;

/// Who is told of faults and progress while a verb works.
pub trait Listener {
    /// A fault, or a hint.
    fn fault(&mut self, fault: &Fault) -> std::io::Result<()>;

    /// How far the work is.
    fn progress(&mut self, bytes: u64, rows: u64);
}
