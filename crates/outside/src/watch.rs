//! How long something takes.
//!
//! *Invariant:* time is the runtime's, which a test can pause; no other clock is read in this crate.

use tokio::time::Instant as Moment;

/// Runs from its making on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch(Moment);

impl Watch {
    /// Starts.
    pub(crate) fn start() -> Self {
        Watch(Moment::now())
    }

    /// Milliseconds since the start.
    pub(crate) fn ms(self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1000.0
    }
}
