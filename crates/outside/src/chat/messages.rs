//! A conversation as a model is sent it.
//!
//! *Invariant:* messages are written once, when they are said; the whole is never built again.

use heldset_core::canonical;
use heldset_core::seed::Seed;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::Turn;

use super::{Spoken, told};
use crate::config::plain_text;
use crate::tools::Call;

/// The messages so far, as the inside of a JSON list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    bytes: Vec<u8>,
}

impl Messages {
    /// The inside of the list.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All that was said elsewhere comes after.
    pub(crate) fn append(&mut self, said: &Messages) {
        if !self.bytes.is_empty() && !said.bytes.is_empty() {
            self.bytes.push(b',');
        }
        self.bytes.extend_from_slice(&said.bytes);
    }

    /// Somebody says something.
    pub(crate) fn say(&mut self, role: &str, content: &str) {
        self.open(role);
        self.text("content", content);
        self.bytes.push(b'}');
    }

    /// A turn of the record; an operator speaks as a user of that name.
    pub(crate) fn turn(&mut self, turn: &Turn) {
        match turn.role.as_str() {
            "hitl" => {
                self.open("user");
                self.text("name", "operator");
                self.text("content", &turn.content);
                self.bytes.push(b'}');
            }
            role @ ("system" | "assistant") => self.say(role, &turn.content),
            _ => self.say("user", &turn.content),
        }
    }

    /// The model has spoken.
    pub(crate) fn spoken(&mut self, spoken: &Spoken) {
        if spoken.calls.is_empty() {
            return self.say("assistant", spoken.content.as_deref().unwrap_or_default());
        }
        self.open("assistant");
        match &spoken.content {
            Some(content) => self.text("content", content),
            None => self.bytes.extend_from_slice(b",\"content\":null"),
        }
        let calls = Value::Array(spoken.calls.iter().map(call_value).collect());
        self.bytes.extend_from_slice(b",\"tool_calls\":");
        canonical::write(&calls, &mut self.bytes);
        self.bytes.push(b'}');
    }

    /// A tool has answered.
    pub(crate) fn tool(&mut self, call: &Call, outcome: &Result<Value<'static>, String>) {
        self.open("tool");
        self.text("tool_call_id", &call.id);
        self.text("content", &told(outcome));
        self.bytes.push(b'}');
    }

    fn open(&mut self, role: &str) {
        if !self.bytes.is_empty() {
            self.bytes.push(b',');
        }
        self.bytes.extend_from_slice(b"{\"role\":");
        canonical::write_text(role, &mut self.bytes);
    }

    fn text(&mut self, key: &str, text: &str) {
        self.bytes.push(b',');
        canonical::write_text(key, &mut self.bytes);
        self.bytes.push(b':');
        canonical::write_text(text, &mut self.bytes);
    }
}

fn call_value(call: &Call) -> Value<'static> {
    let mut function = Object::new();
    function.set("name", call.name.clone().into());
    function.set("arguments", call.arguments.clone().into());
    let mut value = Object::new();
    value.set("id", call.id.clone().into());
    value.set("type", "function".into());
    value.set("function", function.into());
    value.into()
}

/// The one message that tells a model what it knows before: seeds with their sources, and the record's context.
pub(crate) fn context_text(seeds: &[Seed], context: Option<&Value<'static>>) -> Option<String> {
    let mut parts = Vec::new();
    for seed in seeds {
        let whose = seed.target_agent.as_ref().map(|agent| format!(", for agent: {agent}")).unwrap_or_default();
        parts.push(format!("[source: {}{whose}]\n{}", seed.source, seed.content));
    }
    match context {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => parts.extend(items.iter().map(item_text)),
        Some(Value::Object(entries)) if entries.is_empty() => {}
        Some(one) => parts.push(item_text(one)),
    }
    (!parts.is_empty()).then(|| format!("[context: known before this conversation]\n\n{}", parts.join("\n\n")))
}

/// An item of a context: a text, or one with a description beside it, or any JSON.
fn item_text(item: &Value<'static>) -> String {
    let text = |key: &str| item.as_object().and_then(|item| item.get(key)?.as_str());
    let known = |key: &str| matches!(key, "description" | "name" | "source" | "value" | "content" | "text");
    let all_known = item.as_object().is_some_and(|item| item.iter().all(|(key, _)| known(key)));
    let body = text("value").or(text("content")).or(text("text"));
    match (body, text("source").or(text("description")).or(text("name"))) {
        (Some(body), Some(label)) if all_known => format!("[{label}]\n{body}"),
        (Some(body), None) if all_known => body.to_owned(),
        _ => plain_text(item),
    }
}
