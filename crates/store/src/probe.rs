//! A place to stop before each durable step, for the crash harness.
//!
//! *Invariant:* a step that is refused has done nothing yet.

use std::io;

/// Is asked before each durable step: `object`, `drop`, `key`, `commit`, `store`.
pub trait Probe: Send + Sync {
    /// Lets the step of that name happen, or refuses it as if the disk had.
    fn step(&self, name: &'static str) -> io::Result<()>;
}

/// Lets everything happen.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn step(&self, _: &'static str) -> io::Result<()> {
        Ok(())
    }
}
