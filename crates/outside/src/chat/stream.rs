//! A chat completion that comes in pieces.
//!
//! *Invariant:* an answer that breaks off is a fault, not a short answer.

use heldset_core::trace::Usage;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::AgentFailure;

use super::model::{Spoken, content_text};
use crate::agent::failure;
use crate::config::plain_text;
use crate::requests::{excerpt, read_json};
use crate::tools::Call;

/// Whether a body is a stream of events.
pub(super) fn is_stream(body: &str) -> bool {
    let start = body.trim_start();
    start.starts_with("data:") || start.starts_with(':') || start.starts_with("event:")
}

/// What all the pieces say together.
pub(super) fn read(body: &str) -> Result<Spoken, AgentFailure> {
    let mut spoken = Spoken::default();
    let mut ended = false;
    for data in body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim) {
        if data == "[DONE]" {
            ended = true;
            continue;
        }
        let piece = read_json(data);
        let Some(piece) = piece.as_ref().and_then(Value::as_object) else {
            return Err(failure("protocol", format!("a piece of the stream is not JSON: {}", excerpt(data))));
        };
        if let Some(error) = piece.get("error").filter(|error| !error.is_null()) {
            let message = error.as_object().and_then(|error| error.get("message")).unwrap_or(error);
            return Err(failure("agent", plain_text(message)));
        }
        ended |= add(&mut spoken, piece);
    }
    if !ended {
        return Err(failure("protocol", "the stream broke off before its end"));
    }
    for (index, call) in spoken.calls.iter_mut().enumerate().filter(|(_, call)| call.id.is_empty()) {
        call.id = format!("call_{index}");
    }
    Ok(spoken)
}

/// Adds a piece; tells whether it is the last one.
fn add(spoken: &mut Spoken, piece: &Object<'static>) -> bool {
    if let Some(model) = piece.get("model").and_then(Value::as_str) {
        spoken.model = Some(model.to_owned());
    }
    if let Some(usage) = piece.get("usage") {
        spoken.usage = spoken.usage.plus(Usage::from_value(usage));
    }
    let choice = piece.get("choices").and_then(Value::as_array).and_then(<[_]>::first).and_then(Value::as_object);
    let Some(choice) = choice else { return false };
    let delta = choice.get("delta").or_else(|| choice.get("message")).and_then(Value::as_object);
    if let Some(delta) = delta {
        if let Some(text) = delta.get("content").and_then(content_text) {
            spoken.content.get_or_insert_default().push_str(&text);
        }
        for part in delta.get("tool_calls").and_then(Value::as_array).unwrap_or_default() {
            add_call(&mut spoken.calls, part);
        }
    }
    choice.get("finish_reason").is_some_and(|reason| !reason.is_null())
}

fn add_call(calls: &mut Vec<Call>, part: &Value<'static>) {
    let Some(part) = part.as_object() else { return };
    let index = match part.get("index") {
        Some(Value::Number(index)) => index.as_u64().unwrap_or(0) as usize,
        _ => calls.len().saturating_sub(usize::from(!part.contains("id"))),
    };
    // A model that skips numbers is taken at its word only so far.
    let index = index.min(calls.len());
    if index == calls.len() {
        calls.push(Call::default());
    }
    let call = &mut calls[index];
    if let Some(id) = part.get("id").and_then(Value::as_str) {
        call.id = id.to_owned();
    }
    let function = part.get("function").and_then(Value::as_object);
    if let Some(name) = function.and_then(|function| function.get("name")?.as_str()) {
        call.name.push_str(name);
    }
    if let Some(arguments) = function.and_then(|function| function.get("arguments")?.as_str()) {
        call.arguments.push_str(arguments);
    }
}
