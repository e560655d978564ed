//! The `inputs` block of the second and third generation.

use std::borrow::Cow;

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::item::Item;
use super::messages::{Message, hitl_messages, user_messages};
use super::seeds;
use super::side::SideFiles;
use crate::map::Notes;

/// Reads the block into the item.
pub(super) fn take<'a>(item: &mut Item<'a>, value: Value<'a>, side: &SideFiles, notes: &mut Notes<'_>) {
    let outer = Path::key("inputs");
    let inputs = match value {
        Value::Object(inputs) => inputs,
        other => return notes.problem(case::wrong_type(outer, "inputs", "a mapping", &other)),
    };
    let (mut user, mut hitl) = (None, Vec::new());
    for (name, value) in inputs {
        let at = outer.then_key(&name);
        match name.as_ref() {
            "user" => {
                notes.tally.mapped("inputs.user", "input");
                user = Some(user_messages(value, &at, side, notes));
            }
            "hitl" => {
                notes.tally.mapped("inputs.hitl", "turns");
                hitl = hitl_messages(value, &at, notes);
            }
            "memory_seeds" => seeds::take(item, value, at, side, notes),
            "tool_fixtures" => item.tool_fixtures(value, at, side, notes),
            "session_id" => put(item, "session_id", value, at, notes),
            "checkpoint" => put(item, "checkpoint", value, at, notes),
            _ => {
                notes.tally.mapped(&at.to_string(), "metadata");
                item.put_metadata(name, value, at, notes);
            }
        }
    }
    let mut turns =
        user.map_or_else(Vec::new, |messages| first_message(item, messages, &outer.then_key("user"), notes));
    let from = if turns.is_empty() { "hitl" } else { "user" };
    turns.extend(hitl.into_iter().map(Message::into_turn));
    if !turns.is_empty() {
        item.put("turns", Value::Array(turns), outer.then_key(from), notes);
    }
}

fn put<'a>(item: &mut Item<'a>, name: &'static str, value: Value<'a>, at: Path, notes: &mut Notes<'_>) {
    notes.tally.mapped(&at.to_string(), name);
    item.put(name, value, at, notes);
}

/// Puts the first user message into `input`, what the system says before it into `context`; gives the turns after it.
fn first_message<'a>(
    item: &mut Item<'a>,
    messages: Option<Vec<Message<'a>>>,
    at: &Path,
    notes: &mut Notes<'_>,
) -> Vec<Value<'a>> {
    // Messages at fault were told of already.
    let Some(messages) = messages else {
        item.put("input", Value::from("?"), at.clone(), notes);
        return Vec::new();
    };
    let mut messages = messages.into_iter().peekable();
    let mut context = Vec::new();
    while let Some(message) = messages.next_if(|message| message.role == "system") {
        context.push(system_context(message));
    }
    if !context.is_empty() {
        item.put("context", Value::Array(context), at.clone(), notes);
    }
    match messages.next() {
        None => item.put_input(Value::Null, at.clone(), notes),
        Some(first) if first.role == "user" => {
            item.put_input(Value::String(first.content), first.content_at, notes);
            for (name, value) in first.more {
                let at = first.at.then_key(&name);
                item.put_metadata(name, value, at, notes);
            }
        }
        Some(first) => {
            let message = format!("the conversation starts with role `{}`", first.role);
            let problem = Problem::new(Code::E016, first.at.then_key("role"), message);
            notes.problem(problem.help("before the first `user` message only `system` may speak"));
            item.put("input", Value::from("?"), first.at, notes);
        }
    }
    messages.map(Message::into_turn).collect()
}

fn system_context(message: Message<'_>) -> Value<'_> {
    let mut context = Object::with_capacity(4);
    context.set("type", Value::from("system"));
    context.set("source", Value::from("inputs.user"));
    context.set("content", Value::String(message.content));
    if !message.more.is_empty() {
        context.set(Cow::Borrowed("metadata"), Value::Object(message.more));
    }
    Value::Object(context)
}
