//! From a record to a session: what the agent is given, and the key of that.
//!
//! *Invariant:* made from the agent's view; what is the runtime's comes apart and is in the key too.

use heldset_core::canonical;
use heldset_core::case::{ROLES, quoted};
use heldset_core::digest::Digest;
use heldset_core::path::Path;
use heldset_core::record::Record;
use heldset_core::run::{RunInput, Target};
use heldset_core::seed::{Seed, effective};
use heldset_core::value::{Object, Value};

use super::targets::PreparedTarget;
use crate::agents::{Task, Turn};

/// What a record gives to the runtime, not to the agent.
const RUNTIME: [&str; 3] = ["tool_fixtures", "checkpoint", "extra_vars"];

/// A session that can be held.
pub(crate) struct Prepared {
    /// What the agent is given; the caller gives the session its id.
    pub(crate) task: Task,
    /// The run key.
    pub(crate) key: Digest,
}

/// Where a session stands in its plan.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// Its number.
    pub(crate) number: u64,
    /// The scenario.
    pub(crate) scenario: usize,
    /// The repeat.
    pub(crate) repeat: u64,
}

/// Makes a session of a record, or says why there can be none.
pub(crate) fn prepare(
    slot: Slot,
    agent: &Record<'_>,
    evaluator: &Record<'_>,
    experiment: &[Seed],
    target: &PreparedTarget,
) -> Result<Prepared, String> {
    let fields = &agent.fields;
    let Some(input) = fields.get("input") else { return Err("the record has no `input`".to_owned()) };
    let own = match fields.get("memory_seeds") {
        None | Some(Value::Null) => Vec::new(),
        Some(seeds) => Seed::list(seeds, &Path::root()).map_err(|problem| problem.message)?,
    };
    let seeds = effective(experiment, &own);
    let runtime = runtime_of(evaluator);
    let with_runtime: Option<Target<'static>> = match runtime.is_empty() {
        true => None,
        false => Some(target.identity_with(&runtime).map_err(|error| error.to_string())?),
    };
    let seed_values = (!seeds.is_empty()).then(|| Value::Array(seeds.iter().map(Seed::to_value).collect()));
    let key = RunInput {
        target: with_runtime.as_ref().unwrap_or(&target.identity),
        record_id: agent.id.as_str(),
        input: Some(input),
        turns: fields.get("turns"),
        context: fields.get("context"),
        tools: fields.get("tools"),
        agent_args: fields.get("agent_args"),
        memory_seeds: seed_values.as_ref(),
        repeat: slot.repeat,
    }
    .key();
    let owned = |name: &str| fields.get(name).filter(|value| !value.is_null()).cloned().map(Value::into_owned);
    let fixed = fields.get("session_id").and_then(Value::as_str).map(str::to_owned);
    let task = Task {
        number: slot.number,
        target: slot.scenario,
        record_id: agent.id.as_str().to_owned(),
        fixed: fixed.is_some(),
        session_id: fixed.unwrap_or_default(),
        seeds,
        args: owned("agent_args"),
        tools: owned("tools"),
        context: owned("context"),
        turns: turns_of(input, fields.get("turns"))?,
        runtime,
        traceparent: String::new(),
    };
    Ok(Prepared { task, key })
}

/// The text of a value: text as it is, everything else as canonical JSON.
pub(crate) fn text_of(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => text.clone().into_owned(),
        other => String::from_utf8(canonical::bytes(other)).expect("canonical bytes are UTF-8"),
    }
}

/// The turns of a conversation; what cannot be sent is told, since records that are no cases were never checked.
fn turns_of(input: &Value<'_>, more: Option<&Value<'_>>) -> Result<Vec<Turn>, String> {
    let mut turns = vec![Turn { role: "user".to_owned(), content: text_of(input) }];
    let more = match more {
        None | Some(Value::Null) => return Ok(turns),
        Some(Value::Array(more)) => more,
        Some(other) => return Err(format!("its turns are {}, not a list", other.type_name())),
    };
    for (number, turn) in (1..).zip(more) {
        let role = turn.as_object().and_then(|turn| turn.get("role")?.as_str()).unwrap_or_default();
        let content = turn.as_object().and_then(|turn| turn.get("content")).filter(|content| !content.is_null());
        match content {
            Some(content) if ROLES.contains(&role) => {
                turns.push(Turn { role: role.to_owned(), content: text_of(content) });
            }
            _ => return Err(format!("turn {number} has no `content`, or no `role` out of {}", quoted(ROLES))),
        }
    }
    Ok(turns)
}

fn runtime_of(evaluator: &Record<'_>) -> Object<'static> {
    let mut runtime = Object::new();
    for name in RUNTIME {
        if let Some(value) = evaluator.fields.get(name).filter(|value| !value.is_null()) {
            runtime.set(name, value.clone().into_owned());
        }
    }
    runtime
}
