//! The nodes of a document, each stored once: an alias is one more index of the node it names.

use std::borrow::Cow;

use heldset_core::number::Number;
use heldset_core::value::{Object, Value};

/// The place of a node in the arena.
pub(super) type NodeId = u32;

/// One value with its bytes in the source.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: Kind,
}

/// What a node holds; lists and mappings are ranges of the arena.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(u32),
    Text(Text),
    List { at: u32, len: u32 },
    Map { at: u32, len: u32 },
}

/// A text: a range of the source, or of the pool when the source has it folded or escaped.
#[derive(Clone, Copy)]
pub(super) enum Text {
    Source { at: u32, len: u32 },
    Pool { at: u32, len: u32 },
}

/// A key and its value.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: Text,
    pub(super) value: NodeId,
}

/// All nodes of a document.
#[derive(Default)]
pub(super) struct Arena {
    pub(super) nodes: Vec<Node>,
    entries: Vec<Entry>,
    children: Vec<NodeId>,
    numbers: Vec<Number>,
    pool: String,
}

impl Arena {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The elements of a list; none of anything else.
    pub(super) fn children(&self, id: NodeId) -> &[NodeId] {
        match self.node(id).kind {
            Kind::List { at, len } => &self.children[range(at, len)],
            _ => &[],
        }
    }

    /// The entries of a mapping; none of anything else.
    pub(super) fn members(&self, id: NodeId) -> &[Entry] {
        match self.node(id).kind {
            Kind::Map { at, len } => &self.entries[range(at, len)],
            _ => &[],
        }
    }

    /// The value of a key.
    pub(super) fn member(&self, id: NodeId, name: &str, source: &str) -> Option<NodeId> {
        self.members(id).iter().find(|entry| self.text(entry.key, source) == name).map(|entry| entry.value)
    }

    pub(super) fn text<'a>(&'a self, text: Text, source: &'a str) -> &'a str {
        match text {
            Text::Source { at, len } => &source[range(at, len)],
            Text::Pool { at, len } => &self.pool[range(at, len)],
        }
    }

    /// A node and everything below it as a value.
    pub(super) fn value<'a>(&'a self, id: NodeId, source: &'a str) -> Value<'a> {
        match self.node(id).kind {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(flag),
            Kind::Number(at) => Value::Number(self.numbers[at as usize]),
            Kind::Text(text) => Value::String(Cow::Borrowed(self.text(text, source))),
            Kind::List { .. } => {
                Value::Array(self.children(id).iter().map(|child| self.value(*child, source)).collect())
            }
            Kind::Map { .. } => {
                let entry =
                    |entry: &Entry| (Cow::Borrowed(self.text(entry.key, source)), self.value(entry.value, source));
                Value::Object(Object::from_unique(self.members(id).iter().map(entry).collect()))
            }
        }
    }

    pub(super) fn push(&mut self, start: u32, end: u32, kind: Kind) -> NodeId {
        self.nodes.push(Node { start, end, kind });
        (self.nodes.len() - 1) as NodeId
    }

    pub(super) fn number(&mut self, number: Number) -> Kind {
        self.numbers.push(number);
        Kind::Number((self.numbers.len() - 1) as u32)
    }

    pub(super) fn list(&mut self, children: &[NodeId]) -> Kind {
        let at = self.children.len() as u32;
        self.children.extend_from_slice(children);
        Kind::List { at, len: children.len() as u32 }
    }

    pub(super) fn map(&mut self, entries: &[Entry]) -> Kind {
        let at = self.entries.len() as u32;
        self.entries.extend_from_slice(entries);
        Kind::Map { at, len: entries.len() as u32 }
    }

    /// Remembers a scalar's text: in place when the source has it as it is, perhaps in quotes.
    pub(super) fn keep(&mut self, value: &str, start: u32, end: u32, source: &str) -> Text {
        let len = value.len() as u32;
        let raw = source.get(start as usize..end as usize).unwrap_or("");
        if raw == value {
            return Text::Source { at: start, len };
        }
        if raw.len() == value.len() + 2 && raw.get(1..raw.len() - 1) == Some(value) {
            return Text::Source { at: start + 1, len };
        }
        let at = self.pool.len() as u32;
        self.pool.push_str(value);
        Text::Pool { at, len }
    }
}

fn range(at: u32, len: u32) -> std::ops::Range<usize> {
    at as usize..at as usize + len as usize
}
