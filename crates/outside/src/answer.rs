//! Reads what an agent says of a turn: its output, steps, usage and memory.
//!
//! *Invariant:* reading is lenient and loses nothing: what has no place of its own is kept beside.

use heldset_core::trace::{Step, Trace, Usage};
use heldset_core::value::{Object, Value};

/// Writes an answer into the last turn of a trace.
pub(crate) fn settle(trace: &mut Trace, mut answer: Object<'static>) {
    if let Some(memory) = answer.remove("memory").filter(|memory| !memory.is_null()) {
        trace.memory = Some(memory);
    }
    if let Some(Value::String(model)) = answer.get("model") {
        trace.reported = Some(model.clone().into_owned());
    }
    let Some(turn) = trace.turns.last_mut() else { return };
    turn.output = answer.remove("output");
    if let Some(Value::Array(steps)) = answer.remove("steps") {
        turn.steps.extend(steps.into_iter().map(step));
    }
    if let Some(told) = answer.get("usage") {
        turn.usage = turn.usage.plus(Usage::from_value(told));
    }
    if let Some(Value::Number(ms)) = answer.get("model_ms") {
        turn.model_ms = ms.as_f64();
    }
}

/// A step, in any of the words that are in use for it.
pub(crate) fn step(mut value: Value<'static>) -> Step {
    if let Value::Object(told) = &mut value {
        told.remove("session");
    }
    Step::from_value(&value).unwrap_or_else(|| Step { output: Some(value), ..Step::default() })
}
