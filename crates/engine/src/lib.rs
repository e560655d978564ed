//! The verbs, one file each, and the ports they need.
//!
//! *Invariant:* no verb knows HTTP, a command line or where bytes lie.

pub mod check;
pub mod compat;
pub mod convert;
pub mod explain;
mod hints;
mod losses;

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
