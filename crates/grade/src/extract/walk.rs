//! What each extractor takes from a session.
//!
//! *Invariant:* messages of the assistant are told in order, each once: the steps of a turn, then its output.

use heldset_core::trace::{StepKind, TurnTrace};
use heldset_core::value::Value;

use super::{Extraction, Extractor};
use crate::case::{Case, Submission};
use crate::pattern::{Groups, Pattern};
use crate::text::{json_of, strip};

impl Extractor {
    pub(super) fn walk(&self, case: &Case<'_>, compat: bool) -> Result<Extraction, String> {
        let all = || messages(case.turns);
        Ok(match self {
            Extractor::LastAssistant => one(all().pop()),
            Extractor::FirstAssistant => one(all().into_iter().next()),
            Extractor::AllAssistant { separator } => joined(&all(), separator),
            Extractor::LastTurn { separator } => {
                joined(&messages(&case.turns[case.turns.len().saturating_sub(1)..]), separator)
            }
            Extractor::Pattern { pattern, group, search_all } => matched(&all(), pattern, *group, *search_all, compat)?,
            Extractor::ToolArguments { tool } => match case.tool_calls().iter().find(|call| call.name == tool) {
                Some(call) => Extraction::Found(call.arguments.map_or_else(|| plain("{}"), Submission::of)),
                None if compat => Extraction::Found(plain("{}")),
                None => nothing(format!("the tool `{tool}` was not called")),
            },
            Extractor::ToolOutput { tool } => match case.tool_calls().iter().find(|call| call.name == tool) {
                Some(call) => call
                    .output
                    .map(Submission::of)
                    .map_or_else(|| nothing(format!("the call of `{tool}` has no result")), Extraction::Found),
                None => nothing(format!("the tool `{tool}` was not called")),
            },
            Extractor::AfterMarker { marker, include } => {
                let found = all().into_iter().rev().find_map(|message| {
                    let at = message.text.find(marker.as_str())?;
                    let from = if *include { at } else { at + marker.len() };
                    Some(plain(strip(&message.text[from..])))
                });
                found.map_or_else(|| nothing(format!("no message has the marker `{marker}`")), Extraction::Found)
            }
            Extractor::MemoryBlock { label } => memory_block(case.trace.memory.as_ref(), label)?,
            Extractor::JsonPointer { pointer } => pointed(all().pop(), pointer),
            Extractor::Turn { index } => turn(case.turns, *index)?,
            Extractor::Custom { .. } => return Err("a custom extractor is asked".to_owned()),
        })
    }
}

/// The messages of the assistant in some turns.
pub(crate) fn messages(turns: &[TurnTrace]) -> Vec<Submission> {
    let mut messages = Vec::new();
    for turn in turns {
        let steps = turn.steps.iter().filter(|step| step.kind == StepKind::Message);
        let mut said: Vec<Submission> = steps
            .filter_map(|step| step.output.as_ref())
            .map(|output| parts(output).unwrap_or_else(|| Submission::of(output)))
            .collect();
        if let Some(output) = turn.output.as_ref().filter(|output| !output.is_null()) {
            let output = Submission::of(output);
            if said.last().is_none_or(|last| last.text != output.text) {
                said.push(output);
            }
        }
        messages.append(&mut said);
    }
    messages
}

/// The text of a message of several parts, joined by spaces.
fn parts(output: &Value<'static>) -> Option<Submission> {
    let items = output.as_array().filter(|items| !items.is_empty())?;
    let texts: Option<Vec<&str>> = items.iter().map(|item| item.as_object()?.get("text")?.as_str()).collect();
    Some(plain(&texts?.join(" ")))
}

fn plain(text: &str) -> Submission {
    Submission { text: text.to_owned(), value: None }
}

fn nothing(reason: impl Into<String>) -> Extraction {
    Extraction::Nothing(reason.into())
}

fn one(message: Option<Submission>) -> Extraction {
    message.map_or_else(|| nothing("the agent said nothing"), Extraction::Found)
}

fn joined(messages: &[Submission], separator: &str) -> Extraction {
    match messages {
        [] => nothing("the agent said nothing"),
        [only] => Extraction::Found(only.clone()),
        many => {
            let texts: Vec<&str> = many.iter().map(|message| message.text.as_str()).collect();
            Extraction::Found(plain(&texts.join(separator)))
        }
    }
}

/// The newest message that matches. With `search_all` all its matches are joined by spaces.
fn matched(
    messages: &[Submission],
    pattern: &Pattern,
    group: usize,
    search_all: bool,
    compat: bool,
) -> Result<Extraction, String> {
    for message in messages.iter().rev() {
        if search_all {
            let matches = pattern.find_all(&message.text)?;
            if !matches.is_empty() {
                let place = if compat { released_place(pattern, group) } else { group };
                let texts: Result<Vec<String>, String> =
                    matches.iter().map(|groups| group_text(groups, place)).collect();
                return Ok(Extraction::Found(plain(&texts?.join(" "))));
            }
        } else if let Some(groups) = pattern.search(&message.text)? {
            return Ok(Extraction::Found(plain(&group_text(&groups, group)?)));
        }
    }
    Ok(nothing("no message matches the pattern"))
}

/// The released loader ignores `group` when the pattern has fewer than two groups, and counts it from 0 otherwise.
fn released_place(pattern: &Pattern, group: usize) -> usize {
    match pattern.group_count() {
        count @ (0 | 1) => count,
        _ => group + 1,
    }
}

fn group_text(groups: &Groups, place: usize) -> Result<String, String> {
    let group = groups.get(place).ok_or_else(|| format!("the pattern has no group {place}"))?;
    Ok(group.clone().unwrap_or_default())
}

fn memory_block(memory: Option<&Value<'static>>, label: &str) -> Result<Extraction, String> {
    let Some(memory) = memory else { return Err("the agent reports no memory".to_owned()) };
    let value_of = |block: &Value<'static>| match block {
        Value::Object(block) => block.get("value").or_else(|| block.get("content")).map(Submission::of),
        other => Some(Submission::of(other)),
    };
    let labelled = |block: &&Value<'static>| {
        let name = block.as_object().and_then(|block| block.get("label").or_else(|| block.get("name")));
        name.and_then(Value::as_str) == Some(label)
    };
    let blocks = memory.as_object().and_then(|memory| memory.get("blocks")).unwrap_or(memory);
    let found = match blocks {
        Value::Object(blocks) => blocks.get(label).and_then(value_of),
        Value::Array(blocks) => blocks.iter().find(labelled).and_then(value_of),
        _ => None,
    };
    Ok(found.map_or_else(|| nothing(format!("the memory has no block `{label}`")), Extraction::Found))
}

fn pointed(message: Option<Submission>, pointer: &str) -> Extraction {
    let Some(message) = message else { return nothing("the agent said nothing") };
    let root = message.value.unwrap_or_else(|| json_of(&message.text));
    let unescaped = |step: &str| step.replace("~1", "/").replace("~0", "~");
    let target = pointer.split('/').skip(1).try_fold(&root, |value, step| match value {
        Value::Object(object) => object.get(&unescaped(step)),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    });
    match target {
        Some(value) => Extraction::Found(Submission::of(value)),
        None => nothing(format!("the answer has nothing at `{pointer}`")),
    }
}

/// The last message of a turn; negative numbers count from the end.
fn turn(turns: &[TurnTrace], index: i64) -> Result<Extraction, String> {
    let count = i64::try_from(turns.len()).unwrap_or(i64::MAX);
    let place = usize::try_from(if index < 0 { count + index } else { index }).ok();
    let Some(turn) = place.and_then(|place| turns.get(place)) else {
        return Ok(nothing(format!("there is no turn {index} of {count}")));
    };
    Ok(one(messages(std::slice::from_ref(turn)).pop()))
}
