//! A Letta sample to a case.
//!
//! *Invariant:* a field this dialect does not know keeps its name and its value.

use std::borrow::Cow;

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::{Object, Value};
use sha2::{Digest, Sha256};

use crate::map::{IdRule, Mapper, Notes};
use crate::report::FileUse;
use crate::rows::csv::CellKind;

/// Reads Letta samples.
pub(crate) struct LettaMapper {
    pub(crate) id: IdRule,
}

/// Fields that may also be made from others.
const MADE: &[&str] = &["input", "turns", "expected_output", "expected_turns", "rubric"];

/// How the cells of a Letta CSV column are read.
pub(crate) fn cell_kind(name: &str) -> CellKind {
    match name {
        "input" | "prompt" | "ground_truth" => CellKind::Bracketed,
        "agent_args" | "rubric_vars" | "extra_vars" | "metadata" | "tags" => CellKind::Json,
        _ => CellKind::Text,
    }
}

impl Mapper for LettaMapper {
    fn map<'a>(&self, row: Value<'a>, notes: &mut Notes<'_>) -> Option<Record<'a>> {
        let mut sample = notes.object(row)?;
        let id = match notes.asked_id(&self.id, &mut sample) {
            Some(asked) => asked,
            None => sample_id(&mut sample, notes),
        };
        let turns = input_turns(&sample);
        let prompt_is_input = matches!(sample.get("input"), None | Some(Value::Null));
        let mut fields = Object::with_capacity(sample.len() + 1);
        for (name, value) in sample {
            match name.as_ref() {
                "input" if prompt_is_input && value.is_null() => {}
                "input" => put_input(&mut fields, value, "input", notes),
                "prompt" if prompt_is_input => put_input(&mut fields, value, "prompt", notes),
                "ground_truth" => put_answer(&mut fields, value, turns, notes),
                "rubric_path" => put_rubric(&mut fields, &value, notes),
                _ if !MADE.contains(&name.as_ref()) => {
                    notes.tally.as_is(&name);
                    fields.push_unique(name, value);
                }
                _ => {
                    notes.tally.as_is(&name);
                    let from = name.clone();
                    notes.put(&mut fields, name, value, &from);
                }
            }
        }
        case::problems(&fields, &mut notes.problems);
        Some(Record { id: id?, fields })
    }

    fn id_field(&self) -> &str {
        match &self.id {
            IdRule::Field(name) => name,
            _ => "id",
        }
    }
}

/// `sample_id`, else `id`, else the row. An `id` beside a `sample_id` stays, as metadata.
fn sample_id<'a>(sample: &mut Object<'a>, notes: &mut Notes<'_>) -> Option<RecordId<'a>> {
    let Some(given) = sample.remove("sample_id").filter(|value| !value.is_null()) else {
        return match sample.remove("id").filter(|value| !value.is_null()) {
            Some(own) => notes.check_id(own, "id"),
            None => Some(notes.row_id()),
        };
    };
    notes.tally.mapped("sample_id", "id");
    notes.keep_own_id(sample);
    notes.check_id(given, "sample_id")
}

/// How many messages a list `input` has; `None` when it is not a list.
fn input_turns(sample: &Object<'_>) -> Option<usize> {
    let input = sample.get("input").filter(|value| !value.is_null()).or_else(|| sample.get("prompt"));
    input.and_then(Value::as_array).map(<[Value<'_>]>::len)
}

fn put_input<'a>(fields: &mut Object<'a>, value: Value<'a>, from: &'static str, notes: &mut Notes<'_>) {
    if from == "prompt" {
        notes.tally.mapped("prompt", "input");
    } else {
        notes.tally.as_is("input");
    }
    let Value::Array(messages) = value else { return notes.put(fields, "input", value, from) };
    if messages.is_empty() {
        fields.set("input", Value::from(""));
        return;
    }
    for (index, message) in messages.iter().enumerate() {
        if message.as_str().is_none() {
            let path = Path::key(from).then_index(index);
            let name = path.to_string();
            notes.problem(case::wrong_type(path, &name, "text", message));
        }
    }
    let mut messages = messages.into_iter();
    if let Some(first) = messages.next() {
        let first = if first.as_str().is_some() { first } else { Value::from("?") };
        notes.put(fields, "input", first, from);
    }
    let turns: Vec<_> = messages.filter(|message| message.as_str().is_some()).map(user_turn).collect();
    if !turns.is_empty() {
        notes.put(fields, "turns", Value::Array(turns), from);
    }
}

fn user_turn(content: Value<'_>) -> Value<'_> {
    let mut turn = Object::with_capacity(2);
    turn.set("role", Value::from("user"));
    turn.set("content", content);
    Value::Object(turn)
}

fn put_answer<'a>(fields: &mut Object<'a>, value: Value<'a>, turns: Option<usize>, notes: &mut Notes<'_>) {
    let target = match (&value, turns) {
        (Value::Array(answers), Some(turns)) if answers.len() != turns => {
            let message = format!("`ground_truth` has {} answers, `input` {turns} messages", answers.len());
            let help = "give one answer for each message (null where none is expected), or one text for the last";
            notes.problem(Problem::new(Code::E017, Path::key("ground_truth"), message).help(help));
            return;
        }
        (Value::Array(_), Some(_)) => "expected_turns",
        _ => "expected_output",
    };
    notes.tally.mapped("ground_truth", target);
    notes.put(fields, target, value, "ground_truth");
}

fn put_rubric<'a>(fields: &mut Object<'a>, path: &Value<'a>, notes: &mut Notes<'_>) {
    let at = Path::key("rubric_path");
    let Some(path) = path.as_str() else {
        if !path.is_null() {
            notes.problem(case::wrong_type(at, "rubric_path", "text", path));
        }
        return;
    };
    notes.tally.mapped("rubric_path", "rubric");
    let Some(text) = load_text(path, at, notes) else { return };
    notes.put(fields, "rubric", Value::String(Cow::Owned(text)), "rubric_path");
}

/// The text of a file that the row names, with its digest noted.
fn load_text(path: &str, at: Path, notes: &mut Notes<'_>) -> Option<String> {
    let loaded = notes.load(path, &at)?;
    notes.tally.files.push(FileUse { name: loaded.name.clone(), sha256: hex(&Sha256::digest(&loaded.bytes)) });
    match String::from_utf8(loaded.bytes) {
        Ok(text) => Some(text),
        Err(_) => {
            notes.problem(Problem::new(Code::E021, at, format!("`{path}` is not UTF-8 text")));
            None
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
