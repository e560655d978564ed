//! One thing to grade: a whole session, or one turn of it, with its reference.
//!
//! *Invariant:* an empty text or a null is no reference.

use heldset_core::trace::{ToolCall, Trace, TurnTrace, tool_calls};
use heldset_core::value::{Object, Value};

use crate::Subject;
use crate::text::{lookup, text_of};

/// A session, or one of its turns, as a rule sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'s> {
    pub(crate) id: &'s str,
    pub(crate) fields: &'s Object<'s>,
    pub(crate) trace: &'s Trace,
    pub(crate) turns: &'s [TurnTrace],
    pub(crate) reference: Option<&'s Value<'s>>,
}

/// Where the reference is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reference {
    /// Where it belongs: `expected_turns`, else the field that the rule knows.
    Usual,
    /// In the field that a dotted path leads to.
    At(String),
    /// In the configuration.
    Here(Value<'static>),
}

/// What was extracted, and with which value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Submission {
    pub(crate) text: String,
    /// The value it is the text of, when it is no text.
    pub(crate) value: Option<Value<'static>>,
}

impl<'s> Case<'s> {
    pub(crate) fn of(subject: Subject<'s>, turns: &'s [TurnTrace], reference: Option<&'s Value<'s>>) -> Self {
        Case { id: subject.id, fields: subject.fields, trace: subject.trace, turns, reference }
    }

    pub(crate) fn tool_calls(&self) -> Vec<ToolCall<'s>> {
        tool_calls(self.turns)
    }
}

impl Reference {
    /// The reference of a whole case; `usual` are the paths to look at when nothing else is configured.
    pub(crate) fn find<'v>(&'v self, fields: &'v Object<'v>, usual: &[&str]) -> Option<&'v Value<'v>> {
        match self {
            Reference::Here(value) => present(value),
            Reference::At(path) => lookup(fields, path).and_then(present),
            Reference::Usual => usual.iter().find_map(|path| lookup(fields, path).and_then(present)),
        }
    }
}

impl Submission {
    pub(crate) fn of(value: &Value<'static>) -> Self {
        let plain = matches!(value, Value::String(_));
        Submission { text: text_of(value), value: (!plain).then(|| value.clone()) }
    }
}

/// The value, unless it is null or an empty text.
pub(crate) fn present<'v, 'a>(value: &'v Value<'a>) -> Option<&'v Value<'a>> {
    let absent = value.is_null() || value.as_str() == Some("");
    (!absent).then_some(value)
}

/// The turns that have an answer of their own: the place in the trace, and the answer. The list is aligned with the
/// input and the turns of the record, of which those of the assistant are history and are not sent.
pub(crate) fn expected_turns<'v>(fields: &'v Object<'v>) -> Vec<(usize, &'v Value<'v>)> {
    let expected = fields.get("expected_turns").and_then(Value::as_array).unwrap_or_default();
    let turns = fields.get("turns").and_then(Value::as_array).unwrap_or_default();
    let is_history = |place: usize| {
        let turn = place.checked_sub(1).and_then(|place| turns.get(place)).and_then(Value::as_object);
        turn.and_then(|turn| turn.get("role")).and_then(Value::as_str) == Some("assistant")
    };
    let mut sent = 0;
    let mut found = Vec::new();
    for (place, answer) in expected.iter().enumerate() {
        if is_history(place) {
            continue;
        }
        if let Some(answer) = present(answer) {
            found.push((sent, answer));
        }
        sent += 1;
    }
    found
}
