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
        let prompt = if matches!(sample.get("input"), None | Some(Value::Null)) { "prompt" } else { "input" };
        for (name, _) in sample.iter().filter(|(name, _)| *name != prompt && *name != "ground_truth") {
            notes.tally.as_is(name);
        }
        let messages = take_input(&mut sample, prompt, notes);
        take_answer(&mut sample, messages, notes);
        take_rubric(&mut sample, notes);
        let fields = sample;
        case::problems(&fields, &mut notes.problems);
        Some(Record { id: id?, fields })
    }

    fn looks_into(&self, field: &str) -> bool {
        matches!(field, "input" | "prompt" | "ground_truth") || case::looks_into(field)
    }

    fn id_fields(&self) -> Vec<&str> {
        match self.id {
            IdRule::Auto => vec!["sample_id", "id"],
            _ => vec![self.id.field()],
        }
    }
}

/// `sample_id`, else `id`, else the row. An `id` beside a `sample_id` stays, as `original_id`.
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

/// Makes `input` and `turns` of what the agent is told; answers how many messages a list has.
fn take_input(sample: &mut Object<'_>, from: &'static str, notes: &mut Notes<'_>) -> Option<usize> {
    if from == "prompt" && sample.contains("prompt") {
        sample.remove("input");
        sample.rename("prompt", "input");
        notes.tally.mapped("prompt", "input");
    } else if sample.contains("input") {
        notes.tally.as_is("input");
    }
    let input = sample.get_mut("input")?;
    if !matches!(input, Value::Array(_)) {
        return None;
    }
    let Value::Array(messages) = std::mem::replace(input, Value::from("")) else { return None };
    let count = messages.len();
    let mut texts = Vec::with_capacity(count);
    for (index, message) in messages.into_iter().enumerate() {
        if message.as_str().is_none() {
            let path = Path::key(from).then_index(index);
            let name = path.to_string();
            notes.problem(case::wrong_type(path, &name, "text", &message));
        }
        texts.push(message);
    }
    let mut texts = texts.into_iter();
    match texts.next() {
        Some(first @ Value::String(_)) => sample.set("input", first),
        Some(_) => sample.set("input", Value::from("?")),
        None => {}
    }
    let turns: Vec<_> = texts.filter(|text| text.as_str().is_some()).map(user_turn).collect();
    if !turns.is_empty() {
        notes.put(sample, "turns", Value::Array(turns), from);
    }
    Some(count)
}

fn user_turn(content: Value<'_>) -> Value<'_> {
    let mut turn = Object::with_capacity(2);
    turn.set("role", Value::from("user"));
    turn.set("content", content);
    Value::Object(turn)
}

/// Makes `expected_output` or `expected_turns` of the answer.
fn take_answer(sample: &mut Object<'_>, messages: Option<usize>, notes: &mut Notes<'_>) {
    let Some(answer) = sample.get("ground_truth") else { return };
    let target = match (answer, messages) {
        (Value::Array(answers), Some(messages)) if answers.len() != messages => {
            let message = format!("answers in `ground_truth`: {}, messages in `input`: {messages}", answers.len());
            let help = "give one answer for each message (null where none is expected), or one text for the last";
            return notes.problem(Problem::new(Code::E017, Path::key("ground_truth"), message).help(help));
        }
        (Value::Array(_), Some(_)) => "expected_turns",
        _ => "expected_output",
    };
    notes.tally.mapped("ground_truth", target);
    notes.rename(sample, "ground_truth", target);
}

/// Makes `rubric` of the file that `rubric_path` names.
fn take_rubric(sample: &mut Object<'_>, notes: &mut Notes<'_>) {
    let Some(path) = sample.remove("rubric_path").filter(|path| !path.is_null()) else { return };
    let at = Path::key("rubric_path");
    let Some(path) = path.as_str() else {
        return notes.problem(case::wrong_type(at, "rubric_path", "text", &path));
    };
    let Some(text) = load_text(path, at, notes) else { return };
    notes.put(sample, "rubric", Value::String(Cow::Owned(text)), "rubric_path");
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
