//! Letta samples.
//!
//! *Invariant:* a field that Letta's own names cannot carry is written under its canonical name, which the reader keeps.

use heldset_core::canonical;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};

use super::loss::losses;
use super::rows::{RowWriter, Written, in_order};
use crate::letta::LettaMapper;
use crate::map::IdRule;

/// Letta JSONL.
pub(crate) struct LettaLinesWriter;

impl RowWriter for LettaLinesWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        let sample = sample_of(record);
        let mut bytes = Vec::with_capacity(256);
        canonical::write_entries(sample.iter(), &mut bytes);
        let losses = losses(record, Value::Object(sample), &LettaMapper { id: IdRule::Auto });
        Written { bytes, losses }
    }
}

/// The sample that a record is written as.
pub(crate) fn sample_of<'a>(record: &Record<'a>) -> Object<'a> {
    let messages = messages_of(&record.fields);
    let mut sample = Object::with_capacity(record.fields.len() + 1);
    sample.set("id", id_value(record.id.as_str()));
    for (name, value) in in_order(&record.fields) {
        match name {
            "input" if messages.is_some() => sample.set("input", Value::Array(messages.clone().unwrap_or_default())),
            "turns" if messages.is_some() => {}
            "expected_turns" if answers_fit(value, messages.as_deref()) => sample.set("ground_truth", value.clone()),
            "expected_output"
                if !is_list_for_list(value, messages.is_some()) && !record.fields.contains("expected_turns") =>
            {
                sample.set("ground_truth", value.clone());
            }
            _ => sample.set(name.to_owned(), value.clone()),
        }
    }
    sample
}

/// An id that looks like an integer is written as one.
fn id_value(id: &str) -> Value<'static> {
    match id.parse::<i64>() {
        Ok(number) if number.to_string() == id => Value::from(number),
        _ => Value::from(id.to_owned()),
    }
}

/// Input and turns as one list of messages, when every turn is a plain user turn.
fn messages_of<'a>(fields: &Object<'a>) -> Option<Vec<Value<'a>>> {
    let one_answer = fields.get("expected_turns").and_then(Value::as_array).is_some_and(|answers| answers.len() == 1);
    let turns = match fields.get("turns") {
        None if one_answer => &[],
        turns => turns?.as_array()?,
    };
    let mut messages = vec![fields.get("input")?.clone()];
    for turn in turns {
        let turn = turn.as_object()?;
        if turn.len() != 2 || turn.get("role")?.as_str()? != "user" {
            return None;
        }
        messages.push(turn.get("content")?.clone());
    }
    (messages.len() > 1 || one_answer).then_some(messages)
}

fn answers_fit(answers: &Value<'_>, messages: Option<&[Value<'_>]>) -> bool {
    matches!((answers.as_array(), messages), (Some(answers), Some(messages)) if answers.len() == messages.len())
}

fn is_list_for_list(answer: &Value<'_>, list_input: bool) -> bool {
    list_input && answer.as_array().is_some()
}
