//! What every kind of target is made into: something that holds one session after another.
//!
//! *Invariant:* a session writes what happens into its trace as it happens, so that a failure or a timeout keeps what
//! was there.

use std::future::Future;
use std::pin::Pin;

use heldset_core::trace::Trace;
use heldset_engine::agents::{AgentFailure, TargetFacts, Task};

/// A prepared target. Sessions of one target run side by side on one thread, which need not be the one that prepared
/// it.
pub(crate) trait Agent: Send {
    /// What it says of itself.
    fn facts(&self) -> TargetFacts;

    /// Holds one session from its opening to its close.
    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a>;

    /// Called once when no session is left: ends what is kept between sessions.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(async {})
    }
}

/// A session under way.
pub(crate) type Session<'a> = Pin<Box<dyn Future<Output = Result<(), AgentFailure>> + 'a>>;

/// What a session has come to so far.
#[derive(Default)]
pub(crate) struct Progress {
    /// What happened.
    pub(crate) trace: Trace,
    /// How often something was tried again.
    pub(crate) retries: u64,
}

/// A failure of a kind.
pub(crate) fn failure(kind: &'static str, message: impl Into<String>) -> AgentFailure {
    AgentFailure { kind, message: message.into() }
}

/// Where values of secrets come from, by the names in `${NAME}`; never stored.
pub type Secrets = dyn Fn(&str) -> Option<String> + Send + Sync;
