//! What all targets do with a turn: time it, limit it, and keep what came of it.
//!
//! *Invariant:* a turn is in the trace before it is sent, with whatever happened in it until it failed.

use std::time::Duration;

use heldset_core::trace::TurnTrace;
use heldset_core::value::Value;
use heldset_engine::agents::{AgentFailure, Turn};

use crate::agent::{Progress, failure};
use crate::watch::Watch;

/// How long a turn may take when a plan does not say.
pub(crate) const TURN_TIMEOUT: Duration = Duration::from_secs(300);

/// Takes one turn.
pub(crate) async fn take(
    progress: &mut Progress,
    turn: &Turn,
    timeout: Duration,
    act: impl AsyncFnOnce(&mut Progress) -> Result<Value<'static>, AgentFailure>,
) -> Result<(), AgentFailure> {
    let sent = TurnTrace { role: turn.role.clone(), content: turn.content.clone(), ..TurnTrace::default() };
    progress.trace.turns.push(sent);
    let watch = Watch::start();
    let outcome = tokio::time::timeout(timeout, act(progress))
        .await
        .unwrap_or_else(|_| Err(failure("timeout", format!("the turn took longer than {} s", timeout.as_secs_f64()))));
    let turn = current(progress);
    turn.elapsed_ms = watch.ms();
    turn.output = Some(outcome?);
    Ok(())
}

/// The turn that is under way.
pub(crate) fn current(progress: &mut Progress) -> &mut TurnTrace {
    if progress.trace.turns.is_empty() {
        progress.trace.turns.push(TurnTrace::default());
    }
    progress.trace.turns.last_mut().expect("one was pushed if there was none")
}

/// Whether a turn is only history.
pub(crate) fn is_history(turn: &Turn) -> bool {
    turn.role == "assistant"
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(crate) mod trial {
    //! Sessions for tests.

    use std::sync::Arc;

    use heldset_core::json;
    use heldset_core::seed::Seed;
    use heldset_core::value::{Object, Value};
    use heldset_engine::agents::{AgentFailure, Task, Turn};

    use crate::agent::{Agent, Progress};
    use crate::requests::Net;

    /// Two secrets, `KEY` among them.
    pub(crate) fn net() -> Arc<Net> {
        Net::new(4, Arc::new(|name: &str| (name == "KEY").then(|| "s3cret-value".to_owned())))
    }

    /// A value from what serde writes.
    pub(crate) fn value(value: serde_json::Value) -> Value<'static> {
        json::read(&value.to_string()).unwrap().into_owned()
    }

    /// A mapping likewise.
    pub(crate) fn object(value: serde_json::Value) -> Object<'static> {
        self::value(value).as_object().unwrap().clone()
    }

    /// A task of turns, each as `role: content`, or a content of a user.
    pub(crate) fn task(turns: &[&str]) -> Task {
        let turn = |text: &&str| {
            let (role, content) = match text.split_once(": ") {
                Some((role @ ("hitl" | "assistant" | "system"), content)) => (role, content),
                _ => ("user", *text),
            };
            Turn { role: role.into(), content: content.into() }
        };
        Task {
            number: 0,
            target: 0,
            record_id: "r1".into(),
            session_id: "s1".into(),
            fixed: false,
            seeds: Vec::new(),
            args: None,
            tools: None,
            context: None,
            turns: turns.iter().map(turn).collect(),
            runtime: Object::new(),
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into(),
        }
    }

    /// A seed.
    pub(crate) fn seed(source: &str, content: &str, agent: Option<&str>) -> Seed {
        let target_agent = agent.map(str::to_owned);
        Seed { source: source.into(), content: content.into(), target_agent, metadata: None }
    }

    /// Holds a session to its end.
    pub(crate) fn hold(agent: &dyn Agent, task: &Task) -> (Progress, Result<(), AgentFailure>) {
        let mut progress = Progress::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(agent.session(task, &mut progress));
        (progress, outcome)
    }

    /// The texts of all outputs.
    pub(crate) fn outputs(progress: &Progress) -> Vec<String> {
        progress.trace.turns.iter().filter_map(|turn| turn.output.as_ref().map(crate::config::plain_text)).collect()
    }
}
