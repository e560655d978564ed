//! How long to wait before something is tried again, and when to give up.
//!
//! *Invariant:* the same faults give the same waits.

use std::time::Duration;

use heldset_engine::agents::AgentFailure;

/// How often a fault is tried again when a plan does not say.
const DEFAULT_RETRIES: u64 = 3;
/// How long a server that says "too many requests" is given in all when a plan does not say.
const PATIENCE: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(30);

/// The tries of one request.
pub(crate) struct Pace {
    max_retries: Option<u64>,
    tried: u64,
    faults: u64,
    waited: Duration,
}

impl Pace {
    /// Tries up to a number of times, or as often as is usual.
    pub(crate) fn new(max_retries: Option<u64>) -> Self {
        Pace { max_retries, tried: 0, faults: 0, waited: Duration::ZERO }
    }

    /// How long to wait before the next try, if there is one. `limited` says that the server wants fewer requests,
    /// `asked` how long it wants us to wait.
    pub(crate) fn next(&mut self, limited: bool, asked: Option<Duration>) -> Option<Duration> {
        let step = Duration::from_millis(250).saturating_mul(1 << self.tried.min(10)).min(LONGEST);
        let wait = asked.unwrap_or(step);
        let patient = wait <= PATIENCE && self.waited < PATIENCE;
        let goes_on = match self.max_retries {
            Some(max) => self.tried < max && patient,
            None if limited => patient,
            None => self.faults < DEFAULT_RETRIES && patient,
        };
        if !goes_on {
            return None;
        }
        self.tried += 1;
        self.faults += u64::from(!limited);
        // A server that asks for no wait at all is still not asked for ever.
        self.waited += wait.max(Duration::from_millis(100));
        Some(wait)
    }

    /// How often it was tried again.
    pub(crate) fn tried(&self) -> u64 {
        self.tried
    }

    /// Why it failed, with how often it was tried.
    pub(super) fn gives_up(&self, mut why: AgentFailure) -> AgentFailure {
        if self.tried > 0 {
            why.message = format!("{}, {} times in all", why.message, self.tried + 1);
        }
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(max_retries: Option<u64>, limited: bool, asked: Option<u64>) -> Vec<u64> {
        let mut pace = Pace::new(max_retries);
        let next = || pace.next(limited, asked.map(Duration::from_secs));
        std::iter::from_fn(next).map(|wait| wait.as_millis() as u64).collect()
    }

    #[test]
    fn waits_double_and_end() {
        assert_eq!(waits(None, false, None), [250, 500, 1000]);
        assert_eq!(waits(Some(0), false, None), [0; 0]);
        assert_eq!(waits(Some(1), true, None), [250]);
        assert_eq!(waits(None, true, None), [250, 500, 1000, 2000, 4000, 8000, 16000, 30000]);
        assert_eq!(waits(None, true, Some(25)), [25000, 25000, 25000]);
        assert_eq!(waits(None, true, Some(3600)), [0; 0]);
        assert_eq!(waits(None, true, Some(0)).len(), 600);
    }
}
