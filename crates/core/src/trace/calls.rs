//! Calls of tools, each joined with the result that was told apart from it.
//!
//! *Invariant:* a step counts once: a result that belongs to a call is no call of its own.

use super::{Step, StepKind, StepStatus, TurnTrace};
use crate::value::Value;

/// A call of a tool, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolCall<'t> {
    /// The tool.
    pub name: &'t str,
    /// The id of the call.
    pub call_id: Option<&'t str>,
    /// With what arguments.
    pub arguments: Option<&'t Value<'static>>,
    /// Its result, when that is known.
    pub output: Option<&'t Value<'static>>,
    /// Whether it failed.
    pub status: StepStatus,
    /// Why it failed.
    pub error: Option<&'t str>,
}

/// All calls of tools in some turns, in order. A result is joined by the id of its call; without an id, to the last
/// call before it that has no result and no other name. A result of no known call stands for one when it names its
/// tool.
pub fn tool_calls(turns: &[TurnTrace]) -> Vec<ToolCall<'_>> {
    let mut calls: Vec<ToolCall<'_>> = Vec::new();
    for step in turns.iter().flat_map(|turn| &turn.steps) {
        match step.kind {
            StepKind::ToolCall => calls.push(call_of(step)),
            StepKind::ToolResult => match calls.iter_mut().rev().find(|call| belongs(step, call)) {
                Some(call) => join(call, step),
                None if step.name.is_some() => calls.push(call_of(step)),
                None => {}
            },
            _ => {}
        }
    }
    calls
}

fn call_of(step: &Step) -> ToolCall<'_> {
    ToolCall {
        name: step.name.as_deref().unwrap_or_default(),
        call_id: step.call_id.as_deref(),
        arguments: step.arguments.as_ref(),
        output: step.output.as_ref(),
        status: step.status,
        error: step.error.as_deref(),
    }
}

fn belongs(result: &Step, call: &ToolCall<'_>) -> bool {
    if result.call_id.is_some() {
        return result.call_id.as_deref() == call.call_id;
    }
    call.output.is_none() && result.name.as_deref().is_none_or(|name| name == call.name)
}

fn join<'t>(call: &mut ToolCall<'t>, result: &'t Step) {
    call.output = result.output.as_ref().or(call.output);
    call.error = result.error.as_deref().or(call.error);
    if result.status == StepStatus::Error {
        call.status = StepStatus::Error;
    }
}
