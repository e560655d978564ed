//! The messages that Letta answers a turn with, as steps.
//!
//! *Invariant:* the last message of the assistant is the answer; all others stay in their order.

use heldset_core::trace::{Step, StepKind, StepStatus, TurnTrace, Usage};
use heldset_core::value::{Object, Value};
use heldset_engine::agents::AgentFailure;

use crate::agent::failure;
use crate::chat::content_text;
use crate::config::plain_text;
use crate::requests::{excerpt, read_json};

/// Puts the steps and tokens of an answer into its turn, and gives the output.
pub(super) fn read(answer: &Value<'static>, turn: &mut TurnTrace) -> Result<Value<'static>, AgentFailure> {
    let off = || failure("protocol", format!("the answer has no messages: {}", excerpt(&plain_text(answer))));
    let whole = answer.as_object();
    let messages = whole.and_then(|whole| whole.get("messages")?.as_array()).or(answer.as_array()).ok_or_else(off)?;
    turn.usage = whole.and_then(|whole| whole.get("usage")).map(Usage::from_value).unwrap_or_default();
    for message in messages.iter().filter_map(Value::as_object) {
        steps(message, &mut turn.steps);
    }
    match turn.steps.iter().rposition(|step| step.kind == StepKind::Message) {
        Some(last) => Ok(turn.steps.remove(last).output.unwrap_or(Value::Null)),
        None => {
            let reason = whole.and_then(|whole| whole.get("stop_reason")).map(plain_text);
            let why = reason.map(|reason| format!(": stopped by {reason}")).unwrap_or_default();
            Err(failure("agent", format!("the agent said nothing{why}")))
        }
    }
}

fn steps(message: &Object<'static>, steps: &mut Vec<Step>) {
    let text = |keys: &[&str]| keys.iter().find_map(|key| message.get(key)).and_then(content_text).map(Value::from);
    match message.get("message_type").and_then(Value::as_str).unwrap_or_default() {
        "assistant_message" => steps.push(Step { output: text(&["content", "assistant_message"]), ..Step::default() }),
        "reasoning_message" | "hidden_reasoning_message" => {
            let output = text(&["reasoning", "content", "hidden_reasoning"]);
            steps.push(Step { kind: StepKind::Thinking, output, ..Step::default() });
        }
        "tool_call_message" | "approval_request_message" => {
            let several = message.get("tool_calls").and_then(Value::as_array).filter(|calls| !calls.is_empty());
            let one = message.get("tool_call").map(std::slice::from_ref);
            steps.extend(several.or(one).unwrap_or_default().iter().filter_map(call));
        }
        "tool_return_message" => returned(message, steps),
        _ => {}
    }
}

fn call(call: &Value<'static>) -> Option<Step> {
    let call = call.as_object()?;
    let arguments = call.get("arguments").map(|arguments| match arguments.as_str().and_then(read_json) {
        Some(read @ Value::Object(_)) => read,
        _ => arguments.clone(),
    });
    Some(Step {
        kind: StepKind::ToolCall,
        name: call.get("name").and_then(Value::as_str).map(str::to_owned),
        call_id: call.get("tool_call_id").or_else(|| call.get("id")).and_then(Value::as_str).map(str::to_owned),
        arguments,
        ..Step::default()
    })
}

/// Joins a result with its call; a result of no call stays for itself.
fn returned(message: &Object<'static>, steps: &mut Vec<Step>) {
    let several = message.get("tool_returns").and_then(Value::as_array).filter(|returns| !returns.is_empty());
    let own = Value::Object(message.clone());
    for result in several.unwrap_or(std::slice::from_ref(&own)).iter().filter_map(Value::as_object) {
        let id = result.get("tool_call_id").and_then(Value::as_str);
        let output = result.get("tool_return").or_else(|| result.get("func_response")).cloned();
        let failed = result.get("status").and_then(Value::as_str) == Some("error");
        let joined =
            steps.iter_mut().rev().find(|step| step.kind == StepKind::ToolCall && step.call_id.as_deref() == id);
        let step = match joined {
            Some(step) => step,
            None => {
                let name = message.get("name").and_then(Value::as_str).map(str::to_owned);
                let call_id = id.map(str::to_owned);
                steps.push(Step { kind: StepKind::ToolResult, name, call_id, ..Step::default() });
                steps.last_mut().expect("one was just pushed")
            }
        };
        if failed {
            step.status = StepStatus::Error;
            step.error = output.as_ref().map(plain_text);
        }
        step.output = output;
    }
}
