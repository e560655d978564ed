//! The set-up of a suite: a Python function that is called before the first session.
//!
//! *Invariant:* called once for each target that names a model, else once; when it fails, no session begins.

use heldset_core::value::{Object, Value};
use heldset_engine::agents::AgentFailure;

use super::ask::{Call, Callers};
use crate::agent::failure;

/// A function that is called before the first session.
pub(crate) struct Setup {
    pub(crate) callers: Callers,
    pub(crate) function: String,
    /// What it is given, for each target.
    pub(crate) payloads: Vec<Object<'static>>,
    pub(crate) outcome: Option<Result<(), AgentFailure>>,
}

impl Setup {
    /// Calls it, unless that was done.
    pub(crate) async fn once(&mut self) -> Result<(), AgentFailure> {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        let mut outcome = Ok(());
        for payload in &self.payloads {
            let payload = Value::Object(payload.clone());
            let call = Call { role: "setup", function: &self.function, payload: &payload, limit: None };
            if let Err(failed) = self.callers.call(call).await {
                outcome = Err(failure("setup", format!("`{}`: {}", self.function, failed.message)));
                break;
            }
        }
        self.callers.close().await;
        self.outcome = Some(outcome.clone());
        outcome
    }
}
