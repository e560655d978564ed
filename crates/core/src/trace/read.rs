//! Traces, steps and usage from JSON, under the names that agents and other tools give them.
//!
//! *Invariant:* reading never fails on what it does not know: that is kept in `more`.

use std::borrow::Cow;

use super::{Delivery, Step, StepKind, StepStatus, Trace, TurnTrace, Usage};
use crate::canonical;
use crate::json;
use crate::value::{Object, Value};

impl Usage {
    /// What a mapping says of tokens and cost; anything else says nothing.
    pub fn from_value(value: &Value<'_>) -> Usage {
        let Some(usage) = value.as_object() else { return Usage::default() };
        let number = |names: &[&str]| names.iter().find_map(|name| as_f64(usage.get(name)?));
        let tokens = |names: &[&str]| number(names).filter(|count| *count >= 0.0).map(|count| count as u64);
        Usage {
            input_tokens: tokens(&["input_tokens", "prompt_tokens"]),
            output_tokens: tokens(&["output_tokens", "completion_tokens"]),
            cost: number(&["cost", "cost_usd", "total_cost"]),
        }
    }
}

impl Step {
    /// The step that a mapping tells of; bare text is a message. Nothing else is a step.
    pub fn from_value(value: &Value<'_>) -> Option<Step> {
        if let Value::String(text) = value {
            return Some(Step { output: Some(Value::from(text.to_string())), ..Step::default() });
        }
        let mut rest = Rest { members: value.as_object()?.clone() };
        let name = rest.text(&["name", "tool", "tool_name", "toolName"]);
        let (kind, is_action) = kind_of(&mut rest, name.is_some());
        let mut step = Step { kind, name, ..Step::default() };
        step.agent = rest.text(&["agent"]);
        step.call_id = rest.text(&["call_id", "tool_call_id", "id"]);
        step.parent = rest.text(&["parent", "parent_id", "parent_call_id"]);
        step.arguments = rest.take(&["arguments", "args", "input", "toolArgs"]).map(arguments_of);
        step.output = rest.take(&["output", "result", "toolOutput"]);
        if step.output.is_none() && !is_action {
            // What is told beside an action is a comment on it, not its result.
            step.output = rest.take(&["content", "text"]);
        }
        step.error = rest.take(&["error"]).map(text_of);
        step.status = match rest.text(&["status"]) {
            Some(status) if is_failure(&status) => StepStatus::Error,
            Some(_) => StepStatus::Ok,
            None if step.error.is_some() => StepStatus::Error,
            None => StepStatus::Ok,
        };
        step.sources = rest.take(&["sources", "source"]).map(|sources| sources_of(&sources)).unwrap_or_default();
        step.elapsed_ms =
            rest.take(&["elapsed_ms", "latencyMs", "latency_ms", "duration_ms"]).as_ref().and_then(as_f64);
        step.more = rest.left();
        Some(step)
    }
}

impl Trace {
    /// The trace that a mapping tells of.
    pub fn from_value(value: &Value<'_>) -> Option<Trace> {
        let trace = value.as_object()?;
        let list = |name: &str| trace.get(name).and_then(Value::as_array).unwrap_or_default();
        let text = |name: &str| trace.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Trace {
            turns: list("turns").iter().filter_map(TurnTrace::from_value).collect(),
            seeds: list("seeds").iter().filter_map(delivery).collect(),
            memory: trace.get("memory").map(|memory| memory.clone().into_owned()),
            reported: text("reported"),
            log: text("log"),
        })
    }
}

impl TurnTrace {
    /// The turn that a mapping tells of.
    pub fn from_value(value: &Value<'_>) -> Option<TurnTrace> {
        let turn = value.as_object()?;
        let text = |name: &str| turn.get(name).and_then(Value::as_str).map(str::to_owned);
        let steps = turn.get("steps").and_then(Value::as_array).unwrap_or_default();
        Some(TurnTrace {
            role: text("role").unwrap_or_else(|| "user".to_owned()),
            content: text("content").unwrap_or_default(),
            output: turn.get("output").map(|output| output.clone().into_owned()),
            steps: steps.iter().filter_map(Step::from_value).collect(),
            usage: turn.get("usage").map(Usage::from_value).unwrap_or_default(),
            elapsed_ms: turn.get("elapsed_ms").and_then(as_f64).unwrap_or_default(),
            model_ms: turn.get("model_ms").and_then(as_f64).unwrap_or_default(),
        })
    }
}

/// What of a mapping is not read yet.
struct Rest<'a> {
    members: Object<'a>,
}

impl Rest<'_> {
    /// The first of some names that is there and not null.
    fn take(&mut self, names: &[&str]) -> Option<Value<'static>> {
        let name = names.iter().find(|name| self.members.get(name).is_some_and(|value| !value.is_null()))?;
        self.members.remove(name).map(Value::into_owned)
    }

    /// The same, as text; a value that cannot be text stays.
    fn text(&mut self, names: &[&str]) -> Option<String> {
        let simple = |value: &Value<'_>| matches!(value, Value::String(_) | Value::Number(_));
        let name = names.iter().find(|name| self.members.get(name).is_some_and(simple))?;
        self.members.remove(name).map(|value| text_of(value.into_owned()))
    }

    /// All that nobody took, with what was kept before.
    fn left(mut self) -> Option<Value<'static>> {
        let kept = self.members.remove("more");
        let mut left: Object<'static> =
            self.members.into_iter().filter(|(_, value)| !value.is_null()).map(owned).collect();
        match kept {
            Some(Value::Object(more)) => more.into_iter().map(owned).for_each(|(key, value)| left.set(key, value)),
            Some(more) if left.is_empty() => return Some(more.into_owned()),
            Some(more) => left.set("more", more.into_owned()),
            None => {}
        }
        (!left.is_empty()).then_some(Value::Object(left))
    }
}

fn owned<'a>((key, value): (Cow<'a, str>, Value<'a>)) -> (Cow<'static, str>, Value<'static>) {
    (Cow::Owned(key.into_owned()), value.into_owned())
}

/// The kind, from `type` or `kind`; and whether the step calls itself an action.
fn kind_of(rest: &mut Rest<'_>, named: bool) -> (StepKind, bool) {
    let told = ["type", "kind"].iter().find_map(|key| {
        let word = rest.members.get(key)?.as_str()?.to_owned();
        Some((*key, StepKind::parse(&word)?, word))
    });
    match told {
        Some((key, kind, word)) => {
            rest.members.remove(key);
            if rest.members.get("type").and_then(Value::as_str) == Some("step") {
                rest.members.remove("type");
            }
            (kind, word == "action")
        }
        None => {
            if rest.members.get("type").and_then(Value::as_str) == Some("step") {
                rest.members.remove("type");
            }
            (if named { StepKind::ToolCall } else { StepKind::Message }, false)
        }
    }
}

/// Arguments are often JSON in a text.
fn arguments_of(value: Value<'static>) -> Value<'static> {
    let parsed = value.as_str().and_then(|text| json::read(text).ok()).filter(|parsed| parsed.as_object().is_some());
    match parsed {
        Some(parsed) => parsed.into_owned(),
        None => value,
    }
}

fn is_failure(status: &str) -> bool {
    ["error", "failure", "failed"].iter().any(|word| status.eq_ignore_ascii_case(word))
}

/// Text, a list of texts, or a list of documents that name their source.
fn sources_of(value: &Value<'_>) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(sources_of).collect(),
        Value::Object(document) => document.get("source").map(sources_of).unwrap_or_default(),
        Value::String(text) => vec![text.to_string()],
        _ => Vec::new(),
    }
}

fn delivery(value: &Value<'_>) -> Option<Delivery> {
    let text = |name: &str| Some(value.as_object()?.get(name)?.as_str()?.to_owned());
    Some(Delivery { source: text("source")?, agent: text("agent") })
}

fn text_of(value: Value<'static>) -> String {
    match value {
        Value::String(text) => text.into_owned(),
        value => String::from_utf8_lossy(&canonical::bytes(&value)).into_owned(),
    }
}

fn as_f64(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.as_f64()),
        _ => None,
    }
}
