//! Messages as the second and third generation write them: mappings, texts, or a reference to another item.

use std::borrow::Cow;

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use super::item::PROMPTS;
use super::side::SideFiles;
use crate::map::Notes;

/// One message of a conversation.
pub(super) struct Message<'a> {
    pub(super) role: Cow<'a, str>,
    pub(super) content: Cow<'a, str>,
    /// What else the message holds.
    pub(super) more: Object<'a>,
    pub(super) at: Path,
    pub(super) content_at: Path,
}

impl<'a> Message<'a> {
    fn new(role: &'static str, content: Cow<'a, str>, at: Path) -> Self {
        Message { role: Cow::Borrowed(role), content, more: Object::new(), content_at: at.clone(), at }
    }

    pub(super) fn into_turn(self) -> Value<'a> {
        let mut turn = Object::with_capacity(2 + self.more.len());
        turn.set("role", Value::String(self.role));
        turn.set("content", Value::String(self.content));
        for (name, value) in self.more {
            turn.set(name, value);
        }
        Value::Object(turn)
    }
}

/// The messages of `inputs.user`; `None` when at least one was told to be at fault.
pub(super) fn user_messages<'a>(
    value: Value<'a>,
    at: &Path,
    side: &SideFiles,
    notes: &mut Notes<'_>,
) -> Option<Vec<Message<'a>>> {
    let is_third = match &value {
        Value::Array(messages) => messages.iter().any(|message| message.as_str().is_some() || is_reference(message)),
        _ => true,
    };
    notes.tally.legacy.insert(if is_third {
        "items of the third generation (`inputs.user` as text)"
    } else {
        "items of the second generation (`inputs`)"
    });
    let before = notes.problems.len();
    let mut messages = Vec::new();
    match value {
        Value::Array(list) => {
            for (index, message) in list.into_iter().enumerate() {
                one(message, &at.then_index(index), side, notes, &mut messages);
            }
        }
        Value::Null => {}
        other => one(other, at, side, notes, &mut messages),
    }
    (notes.problems.len() == before).then_some(messages)
}

fn one<'a>(value: Value<'a>, at: &Path, side: &SideFiles, notes: &mut Notes<'_>, messages: &mut Vec<Message<'a>>) {
    if is_reference(&value) {
        return messages.extend(referenced(&value, at, side, notes).unwrap_or_default());
    }
    messages.extend(message(value, at, "user", &mut notes.problems));
}

/// The messages of `inputs.hitl`.
pub(super) fn hitl_messages<'a>(value: Value<'a>, at: &Path, notes: &mut Notes<'_>) -> Vec<Message<'a>> {
    let problems = &mut notes.problems;
    match value {
        Value::Null => Vec::new(),
        Value::Array(list) => {
            let each = list.into_iter().enumerate();
            each.filter_map(|(index, value)| message(value, &at.then_index(index), "hitl", problems)).collect()
        }
        text @ Value::String(_) => message(text, at, "hitl", problems).into_iter().collect(),
        other => {
            problems.push(case::wrong_type(at.clone(), &at.to_string(), "a list", &other));
            Vec::new()
        }
    }
}

/// One message; a text is said by `speaker`.
fn message<'a>(value: Value<'a>, at: &Path, speaker: &'static str, problems: &mut Vec<Problem>) -> Option<Message<'a>> {
    let mut message = match value {
        Value::String(text) => return Some(Message::new(speaker, text, at.clone())),
        Value::Object(message) => message,
        other => {
            problems.push(case::wrong_type(at.clone(), &at.to_string(), "text or a mapping", &other));
            return None;
        }
    };
    let before = problems.len();
    case::check_turn(&message, at, problems);
    if problems.len() > before {
        return None;
    }
    match (message.remove("role"), message.remove("content")) {
        (Some(Value::String(role)), Some(Value::String(content))) => {
            Some(Message { role, content, more: message, at: at.clone(), content_at: at.then_key("content") })
        }
        _ => None,
    }
}

fn is_reference(value: &Value<'_>) -> bool {
    value.as_object().is_some_and(|object| object.contains("ref"))
}

/// The user messages of an item in another file: `{ref: file#id}`.
fn referenced<'a>(value: &Value<'_>, at: &Path, side: &SideFiles, notes: &mut Notes<'_>) -> Option<Vec<Message<'a>>> {
    let object = value.as_object()?;
    let at = &at.then_key("ref");
    let reference = object.get("ref").and_then(Value::as_str).filter(|_| object.len() == 1);
    let Some((path, id)) = reference.and_then(|reference| reference.split_once('#')) else {
        let problem = Problem::new(Code::E015, at.clone(), format!("`{at}` must be `file#id`, and alone"));
        notes.problem(problem.help("write `{ref: other.yaml#item-1}`"));
        return None;
    };
    let refuse = |notes: &mut Notes<'_>, why: String| notes.problem(Problem::new(Code::E021, at.clone(), why));
    let file = side.open(path, at, notes)?;
    let Some(item) = items_of(file.root()).and_then(|items| items.iter().find_map(|item| item_of(item, id))) else {
        refuse(notes, format!("`{path}` has no item `{id}`"));
        return None;
    };
    let mut problems = Vec::new();
    let messages = messages_of(item, at, &mut problems);
    match problems.first() {
        None if !messages.is_empty() => Some(messages),
        None => {
            refuse(notes, format!("the item `{id}` of `{path}` has no user message"));
            None
        }
        Some(problem) => {
            refuse(notes, format!("the item `{id}` of `{path}` is at fault: {}", problem.message));
            None
        }
    }
}

fn items_of<'v>(root: &'v Value<'static>) -> Option<&'v [Value<'static>]> {
    match root {
        Value::Array(items) => Some(items),
        Value::Object(envelope) => match envelope.get("spec") {
            Some(Value::Object(spec)) => spec.get("items")?.as_array(),
            _ => envelope.get("items")?.as_array(),
        },
        _ => None,
    }
}

fn item_of<'v>(item: &'v Value<'static>, wanted: &str) -> Option<&'v Object<'static>> {
    let item = item.as_object()?;
    let found = match item.get("id")? {
        Value::String(id) => id == wanted,
        Value::Number(id) => id.to_string() == wanted,
        _ => false,
    };
    found.then_some(item)
}

/// What the user says in an item of another file; a reference from there to a third is not followed.
fn messages_of<'a>(item: &Object<'static>, at: &Path, problems: &mut Vec<Problem>) -> Vec<Message<'a>> {
    let user = item.get("inputs").and_then(Value::as_object).and_then(|inputs| inputs.get("user"));
    let said = user.or_else(|| PROMPTS.iter().find_map(|name| item.get(name)));
    let said = match said.cloned() {
        None => return Vec::new(),
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
    };
    let messages = said.into_iter().filter_map(|value| message(value, at, "user", problems));
    messages.map(|message| Message { content_at: at.clone(), ..message }).collect()
}
