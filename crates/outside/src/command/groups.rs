//! The process groups of agents that run, so that an interruption can end them with their children.
//!
//! *Invariant:* a group is known from its start until it was told to end.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A group runs.
pub(super) fn note(group: Pid) {
    running().insert(group.as_raw_nonzero().get());
}

/// A group was told to end.
pub(super) fn forget(group: Pid) {
    running().remove(&group.as_raw_nonzero().get());
}

/// Ends every agent that runs, and its children.
pub fn end_all() {
    for group in std::mem::take(&mut *running()).into_iter().filter_map(Pid::from_raw) {
        // Those who have already ended are the only ones who cannot be told.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn running() -> MutexGuard<'static, BTreeSet<i32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
