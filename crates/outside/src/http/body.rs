//! The body that a turn is sent in, and the names that stand in it.
//!
//! *Invariant:* a value that is exactly one name becomes that JSON value; elsewhere names are put in as text.

use bytes::Bytes;
use heldset_core::canonical;
use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::Task;

use crate::config::plain_text;
use crate::requests::{Part, Text, unknown_name};

/// What may be named in an address, a header or a body.
pub(super) const NAMES: &[&str] = &[
    "input",
    "session_id",
    "session",
    "record_id",
    "seeds",
    "args",
    "agent_args",
    "tools",
    "context",
    "turn",
    "role",
    "history",
    "messages",
];

/// A body with names in it.
#[derive(Debug)]
pub(super) struct Body {
    root: Node,
}

#[derive(Debug)]
enum Node {
    Fixed(Vec<u8>),
    One(String),
    Text(Text),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
    /// A body that is not JSON.
    Plain(Text),
}

/// What was said in a session so far.
pub(super) struct Said<'t> {
    task: &'t Task,
    messages: Vec<Value<'static>>,
    input: String,
    role: String,
    sent: u64,
    /// What the server calls the session, once it has said so.
    pub(super) session: Option<Value<'static>>,
}

impl Body {
    /// The body of a template; without one the input and the id of the session, in the field `session`.
    pub(super) fn new(template: Option<&Value<'static>>, session: Option<&str>) -> Result<Body, Problem> {
        let root = match template {
            None | Some(Value::Null) => {
                let id = if session.is_some() { "session" } else { "session_id" };
                let session = session.unwrap_or("session_id").to_owned();
                let input = ("input".to_owned(), Node::One("input".to_owned()));
                Node::Map(vec![input, (session, Node::One(id.to_owned()))])
            }
            Some(Value::String(text)) => match json::read(text) {
                Ok(written @ (Value::Object(_) | Value::Array(_))) => node(&written)?,
                _ => Node::Plain(Text::parse(text, NAMES).map_err(|name| unknown_name("body", &name, NAMES))?),
            },
            Some(template) => node(template)?,
        };
        Ok(Body { root })
    }

    /// Whether a name stands in it.
    pub(super) fn names(&self, name: &str) -> bool {
        self.root.names(name)
    }

    /// The bytes for the turn that is under way.
    pub(super) fn fill(&self, said: &Said<'_>) -> Bytes {
        let mut out = Vec::with_capacity(256);
        self.root.write(said, &mut out);
        out.into()
    }
}

fn node(template: &Value<'_>) -> Result<Node, Problem> {
    Ok(match template {
        Value::String(text) => {
            let text = Text::parse(text, NAMES).map_err(|name| unknown_name("body", &name, NAMES))?;
            match text.parts() {
                [Part::Name(name)] => Node::One(name.clone()),
                _ => Node::Text(text),
            }
        }
        Value::Array(items) => Node::List(items.iter().map(node).collect::<Result<_, _>>()?),
        Value::Object(object) => {
            let entries = object.iter().map(|(key, value)| Ok((key.to_owned(), node(value)?)));
            Node::Map(entries.collect::<Result<_, Problem>>()?)
        }
        fixed => Node::Fixed(canonical::bytes(fixed)),
    })
}

impl Node {
    fn names(&self, name: &str) -> bool {
        match self {
            Node::Fixed(_) => false,
            Node::One(one) => one == name,
            Node::Text(text) | Node::Plain(text) => {
                text.parts().iter().any(|part| matches!(part, Part::Name(part) if part == name))
            }
            Node::List(items) => items.iter().any(|item| item.names(name)),
            Node::Map(entries) => entries.iter().any(|(_, value)| value.names(name)),
        }
    }

    fn write(&self, said: &Said<'_>, out: &mut Vec<u8>) {
        match self {
            Node::Fixed(bytes) => out.extend_from_slice(bytes),
            Node::One(name) if name == "input" => canonical::write_text(&said.input, out),
            Node::One(name) => canonical::write(&said.value(name), out),
            Node::Text(text) => canonical::write_text(&said.text(text), out),
            Node::Plain(text) => out.extend_from_slice(said.text(text).as_bytes()),
            Node::List(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write(said, out);
                }
                out.push(b']');
            }
            Node::Map(entries) => {
                out.push(b'{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    canonical::write_text(key, out);
                    out.push(b':');
                    value.write(said, out);
                }
                out.push(b'}');
            }
        }
    }
}

impl<'t> Said<'t> {
    pub(super) fn new(task: &'t Task) -> Self {
        Said { task, messages: Vec::new(), input: String::new(), role: String::new(), sent: 0, session: None }
    }

    /// A message that was said before.
    pub(super) fn add(&mut self, role: &str, content: Value<'static>) {
        let mut message = Object::new();
        message.set("role", role.to_owned().into());
        message.set("content", content);
        self.messages.push(message.into());
    }

    /// A turn begins.
    pub(super) fn begin(&mut self, role: &str, input: &str) {
        (self.role, self.input) = (role.to_owned(), input.to_owned());
    }

    /// The turn that is under way is answered.
    pub(super) fn answered(&mut self, output: Value<'static>) {
        let (role, input) = (std::mem::take(&mut self.role), std::mem::take(&mut self.input));
        self.add(&role, input.into());
        self.add("assistant", output);
        self.sent += 1;
    }

    /// Whether nothing was answered yet.
    pub(super) fn is_first(&self) -> bool {
        self.sent == 0
    }

    fn text(&self, text: &Text) -> String {
        let mut filled = String::new();
        for part in text.parts() {
            match part {
                Part::Fixed(fixed) => filled.push_str(fixed),
                // Secrets are for headers and addresses; in a body the words stay as they are.
                Part::Secret(name) => filled.extend(["${", name, "}"]),
                Part::Name(name) => filled.push_str(&plain_text(&self.value(name))),
            }
        }
        filled
    }

    /// What a name stands for.
    pub(super) fn value(&self, name: &str) -> Value<'static> {
        let task = self.task;
        match name {
            "input" => self.input.clone().into(),
            "session_id" => task.session_id.clone().into(),
            "session" => self.session.clone().unwrap_or_else(|| task.session_id.clone().into()),
            "record_id" => task.record_id.clone().into(),
            // Delivered exactly once, before the first turn.
            "seeds" if !self.is_first() => Value::Array(Vec::new()),
            "seeds" => Value::Array(task.seeds.iter().map(heldset_core::seed::Seed::to_value).collect()),
            "args" | "agent_args" => task.args.clone().unwrap_or(Value::Object(Object::new())),
            "tools" => task.tools.clone().unwrap_or(Value::Array(Vec::new())),
            "context" => task.context.clone().unwrap_or(Value::Array(Vec::new())),
            "turn" => Value::Number(Number::from_u64(self.sent)),
            "role" => self.role.clone().into(),
            "history" => Value::Array(self.messages.clone()),
            "messages" => {
                let mut messages = self.messages.clone();
                let mut message = Object::new();
                message.set("role", self.role.clone().into());
                message.set("content", self.input.clone().into());
                messages.push(message.into());
                Value::Array(messages)
            }
            _ => Value::Null,
        }
    }
}
