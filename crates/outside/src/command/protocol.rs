//! The session protocol: JSON lines to and from a process.
//!
//! *Invariant:* each turn is answered by exactly one line with `output`; whatever else is printed ends the session and
//! is kept for reading.

use std::time::Duration;

use heldset_core::json;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, Task, Turn};

use super::process::Process;
use crate::agent::{Progress, failure};
use crate::answer;
use crate::canned::{begun, sent};
use crate::config::plain_text;
use crate::watch::Watch;

/// How much of a line that is none of the protocol is kept.
const KEPT: usize = 48 << 10;

/// A line of the agent.
enum Line {
    Step(Value<'static>),
    Answer(Object<'static>),
    Error(String),
    Other,
}

/// Sends the opening and all turns.
pub(crate) async fn converse(
    process: &mut Process,
    task: &Task,
    env: &Object<'static>,
    limit: Duration,
    progress: &mut Progress,
) -> Result<(), AgentFailure> {
    process.send(&opening(task, env));
    crate::canned::deliver(&task.seeds, None, &mut progress.trace)?;
    for (number, turn) in sent(task) {
        let watch = Watch::start();
        progress.trace.turns.push(begun(turn));
        process.send(&turn_line(task, turn));
        let answered = tokio::time::timeout(limit, answer_of(process, number, progress)).await;
        if let Some(turn) = progress.trace.turns.last_mut() {
            turn.elapsed_ms = watch.ms();
        }
        answered.unwrap_or_else(|_| {
            let message = format!("turn {} was not answered within {} s", number + 1, limit.as_secs_f64());
            Err(failure("timeout", message))
        })?;
    }
    process.send(&line_of(task, "close"));
    Ok(())
}

/// Reads what the agent printed after its last answer.
pub(crate) async fn part(process: &mut Process, progress: &mut Progress) -> Result<(), AgentFailure> {
    let (rest, _) = process.finish(&mut progress.trace.log).await;
    for line in rest.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match read(line) {
            Line::Step(step) => {
                if let Some(turn) = progress.trace.turns.last_mut() {
                    turn.steps.push(answer::step(step));
                }
            }
            Line::Error(message) => return Err(failure("agent", message)),
            Line::Answer(_) => return Err(stray(line, "answered more often than it was asked", progress)),
            Line::Other
                if json::read(&String::from_utf8_lossy(line)).is_ok_and(|value| value.as_object().is_some()) => {}
            Line::Other => return Err(stray(line, "printed a line that is not of the protocol", progress)),
        }
    }
    Ok(())
}

async fn answer_of(process: &mut Process, number: usize, progress: &mut Progress) -> Result<(), AgentFailure> {
    loop {
        let Some(line) = process.line(&mut progress.trace.log).await? else {
            let when = format!("before it answered turn {}", number + 1);
            return Err(process.crash(&mut progress.trace.log, &when).await);
        };
        match read(&line) {
            Line::Step(step) => {
                if let Some(turn) = progress.trace.turns.last_mut() {
                    turn.steps.push(answer::step(step));
                }
            }
            Line::Answer(told) => {
                answer::settle(&mut progress.trace, told);
                return Ok(());
            }
            Line::Error(message) => return Err(failure("agent", message)),
            Line::Other => return Err(stray(&line, "printed a line that is not of the protocol", progress)),
        }
    }
}

fn read(line: &[u8]) -> Line {
    let value = std::str::from_utf8(line).ok().and_then(|text| json::read(text).ok());
    let Some(Value::Object(told)) = value.map(Value::into_owned) else { return Line::Other };
    if told.get("type").and_then(Value::as_str) == Some("step") {
        return Line::Step(told.into());
    }
    match told.get("error") {
        None | Some(Value::Null) => {}
        Some(Value::Object(error)) if error.contains("message") => {
            return Line::Error(error.get("message").map(plain_text).unwrap_or_default());
        }
        Some(error) => return Line::Error(plain_text(error)),
    }
    if told.contains("output") { Line::Answer(told) } else { Line::Other }
}

/// A line that should not be there; kept for reading.
fn stray(line: &[u8], what: &str, progress: &mut Progress) -> AgentFailure {
    let text = String::from_utf8_lossy(&line[..line.len().min(KEPT)]).into_owned();
    let start: String = text.chars().take(80).collect();
    let mark = if start.len() < text.len() { "…" } else { "" };
    let message = format!("the agent {what}: `{}{mark}`", start.escape_debug());
    let log = progress.trace.log.take().map(|log| format!("\nstderr:\n{log}")).unwrap_or_default();
    progress.trace.log = Some(format!("stdout:\n{text}{log}"));
    failure("protocol", message)
}

fn opening(task: &Task, env: &Object<'static>) -> Value<'static> {
    let Value::Object(mut open) = line_of(task, "open") else { return Value::Null };
    let or_empty = |value: &Option<Value<'static>>, empty: Value<'static>| match value {
        None | Some(Value::Null) => empty,
        Some(value) => value.clone(),
    };
    open.set("session_id", task.session_id.clone().into());
    open.set("seeds", Value::Array(task.seeds.iter().map(heldset_core::seed::Seed::to_value).collect()));
    open.set("args", or_empty(&task.args, Object::new().into()));
    open.set("tools", or_empty(&task.tools, Vec::new().into()));
    open.set("context", or_empty(&task.context, Value::Array(Vec::new())));
    open.set("env", env.clone().into());
    open.set("traceparent", task.traceparent.clone().into());
    open.into()
}

fn turn_line(task: &Task, turn: &Turn) -> Value<'static> {
    let Value::Object(mut line) = line_of(task, "turn") else { return Value::Null };
    line.set("role", turn.role.clone().into());
    line.set("content", turn.content.clone().into());
    line.into()
}

fn line_of(task: &Task, kind: &'static str) -> Value<'static> {
    let mut line = Object::new();
    line.set("type", kind.into());
    line.set("session", Value::Number(Number::from_u64(task.number)));
    line.into()
}
