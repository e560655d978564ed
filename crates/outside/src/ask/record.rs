//! Answers of judges on file, so that a judge can be asked again without a network.
//!
//! *Invariant:* a line is one question, by the SHA-256 of its canonical bytes, with one answer; equal questions get
//! their answers in the order of the file.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use heldset_core::canonical;
use heldset_core::digest::sha256;
use heldset_core::json;
use heldset_core::value::{Object, Value};
use heldset_grade::{Answer, Ask};

use super::{chat, option};

/// Files of answers, each read when it is first needed.
pub(super) struct Records {
    base: PathBuf,
    files: HashMap<String, Result<HashMap<String, Taken>, String>>,
}

/// The answers to one question, and how many were given out.
#[derive(Default)]
struct Taken {
    answers: Vec<Value<'static>>,
    given: usize,
}

/// What the files say to a question.
pub(super) enum Recorded {
    /// Nothing is recorded.
    No,
    /// There is an answer, or there should be one.
    Answer(Answer),
    /// The answer is to be kept in this file, for this question.
    Into(String, String),
}

impl Records {
    pub(super) fn new(base: PathBuf) -> Self {
        Records { base, files: HashMap::new() }
    }

    /// Looks a question up.
    pub(super) fn look_up(&mut self, ask: &Ask) -> Recorded {
        let config = match ask {
            Ask::Chat { endpoint, .. } | Ask::Embed { endpoint, .. } => endpoint,
            Ask::Http { config, .. } | Ask::Command { config, .. } => config,
            Ask::Python { .. } => return Recorded::No,
        };
        let (record, replay) = (option(config, "record"), option(config, "replay"));
        if record.is_none() && replay.is_none() {
            return Recorded::No;
        }
        let question = question(ask);
        let Some(replay) = replay else { return Recorded::Into(record.unwrap_or_default(), question) };
        match (self.recorded(&replay, &question), record) {
            (Ok(Some(answer)), _) => Recorded::Answer(Ok(answer)),
            (Err(why), None) => Recorded::Answer(Err(why)),
            (Ok(None), None) => Recorded::Answer(Err(format!("`{replay}` has no answer to this question"))),
            (_, Some(record)) => Recorded::Into(record, question),
        }
    }

    fn recorded(&mut self, file: &str, question: &str) -> Result<Option<Value<'static>>, String> {
        let path = self.base.join(file);
        let answers = self.files.entry(file.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(&path).map_err(|error| format!("`{file}` cannot be read: {error}"))?;
            read(file, &text)
        });
        let Some(taken) = answers.as_mut().map_err(|why| why.clone())?.get_mut(question) else { return Ok(None) };
        let place = taken.given.min(taken.answers.len() - 1);
        taken.given += 1;
        Ok(Some(taken.answers[place].clone()))
    }

    /// Keeps an answer.
    pub(super) fn keep(&self, file: &str, question: &str, answer: &Value<'static>) -> Result<(), String> {
        let mut line = Object::new();
        line.set("answer", answer.clone());
        line.set("key", question.to_owned().into());
        let mut bytes = canonical::bytes(&Value::Object(line));
        bytes.push(b'\n');
        let opened = OpenOptions::new().create(true).append(true).open(self.base.join(file));
        // One write, so that lines of several writers do not mix.
        let written = opened.and_then(|mut file| file.write_all(&bytes));
        written.map_err(|error| format!("the answer was not recorded in `{file}`: {error}"))
    }
}

fn read(file: &str, text: &str) -> Result<HashMap<String, Taken>, String> {
    let mut answers: HashMap<String, Taken> = HashMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let off = || format!("line {} of `{file}` is not a recorded answer", index + 1);
        let Ok(Value::Object(line)) = json::read(line) else { return Err(off()) };
        let key = line.get("key").and_then(Value::as_str).ok_or_else(off)?;
        let answer = line.get("answer").cloned().ok_or_else(off)?.into_owned();
        answers.entry(key.to_owned()).or_default().answers.push(answer);
    }
    Ok(answers)
}

/// What a question is found by: everything that an answer may depend on, but not where it is asked.
fn question(ask: &Ask) -> String {
    let request = match ask {
        Ask::Chat { endpoint, messages, schema } => chat::request(endpoint, messages, schema, "json_schema"),
        Ask::Embed { endpoint, texts } => {
            let mut request = Object::new();
            request.set("model", endpoint.get("model").cloned().unwrap_or(Value::Null));
            request.set("input", Value::Array(texts.iter().map(|text| text.clone().into()).collect()));
            request.into()
        }
        Ask::Http { payload, .. } | Ask::Command { payload, .. } | Ask::Python { payload, .. } => payload.clone(),
    };
    sha256(&canonical::bytes(&request)).hex()
}
