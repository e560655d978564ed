//! Keys of runs and scores: what must be equal for a result to be used again.
//!
//! *Invariant:* a run key covers what the agent is given and nothing else. [`RunInput`] has no member for a session,
//! an expected value, a rubric, a label, a name of an experiment or a time, so none of them can enter the key.

use thiserror::Error;

use crate::canonical;
use crate::digest::{Digest, tagged, tagged_value};
use crate::number::Number;
use crate::value::{Object, Value};

/// The number of the recipe that keys are made by; it is stored with each key.
pub const RECIPE: u32 = 1;

/// How the names of what holds secrets end.
const SECRETS: [&str; 5] = ["api_key", "authorization", "password", "_secret", "_token"];

/// The effective configuration of a target: after the overlay of its scenario, without timeouts and names, and
/// checked to hold no secret.
#[derive(Clone, Debug, PartialEq)]
pub struct Target<'a>(Value<'a>);

/// A secret that is written out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` holds a secret in the clear")]
pub struct SecretError(pub String);

/// What an agent is given in one run. An absent member enters the key as the empty value of its kind.
#[derive(Clone, Copy, Debug)]
pub struct RunInput<'r> {
    /// Who is asked.
    pub target: &'r Target<'r>,
    /// The record.
    pub record_id: &'r str,
    /// The first user message.
    pub input: Option<&'r Value<'r>>,
    /// The messages that follow.
    pub turns: Option<&'r Value<'r>>,
    /// What it may read.
    pub context: Option<&'r Value<'r>>,
    /// What it may call.
    pub tools: Option<&'r Value<'r>>,
    /// Further arguments.
    pub agent_args: Option<&'r Value<'r>>,
    /// The effective memory seeds, in order.
    pub memory_seeds: Option<&'r Value<'r>>,
    /// Which repetition, from 0.
    pub repeat: u64,
}

impl<'a> Target<'a> {
    /// Checks a configuration: what is under a key that ends like `api_key`, `authorization`, `password`, `_secret` or
    /// `_token`, at any depth and in any case, must be the name of a secret, as `${NAME}`, and not the secret.
    pub fn new(configuration: Object<'a>) -> Result<Self, SecretError> {
        let configuration = Value::Object(configuration);
        match secret_in(&configuration) {
            Some(key) => Err(SecretError(key.to_owned())),
            None => Ok(Target(configuration)),
        }
    }

    /// The configuration, always a mapping.
    pub fn configuration(&self) -> &Value<'a> {
        &self.0
    }
}

impl RunInput<'_> {
    /// The run key.
    pub fn key(&self) -> Digest {
        let mut payload = Vec::with_capacity(512);
        self.write(&mut payload);
        tagged("run", &[&payload])
    }

    /// Appends the canonical bytes of the payload: all its keys, always.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (text, list, mapping) = (Value::from(""), Value::Array(Vec::new()), Value::Object(Object::new()));
        let (record_id, repeat) = (Value::from(self.record_id), Value::Number(Number::from_u64(self.repeat)));
        let in_key_order = [
            ("agent_args", self.agent_args.unwrap_or(&mapping)),
            ("context", self.context.unwrap_or(&list)),
            ("input", self.input.unwrap_or(&text)),
            ("memory_seeds", self.memory_seeds.unwrap_or(&list)),
            ("record_id", &record_id),
            ("repeat", &repeat),
            ("target", &self.target.0),
            ("tools", self.tools.unwrap_or(&list)),
            ("turns", self.turns.unwrap_or(&list)),
        ];
        canonical::write_entries(in_key_order.into_iter(), out);
    }
}

/// The score key: of a run, the expected fields that were used, and the grader (its rules, prompt, judge model and
/// parser version). It covers answers without a key, so it can be tested against guesses: it belongs where scores do.
pub fn score_key(run_key: Digest, expected: &Object<'_>, grader: &Value<'_>) -> Digest {
    let expected = tagged_value("expected", &Value::Object(expected.clone()));
    let grader = tagged_value("grader", grader);
    tagged("score", &[run_key.hex().as_bytes(), expected.hex().as_bytes(), grader.hex().as_bytes()])
}

/// The key whose value is a secret in the clear, if there is one.
fn secret_in<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match value {
        Value::Array(items) => items.iter().find_map(secret_in),
        Value::Object(object) => {
            object.iter().find_map(|(key, value)| if is_secret(key, value) { Some(key) } else { secret_in(value) })
        }
        _ => None,
    }
}

fn is_secret(key: &str, value: &Value<'_>) -> bool {
    let name = key.to_ascii_lowercase().replace('-', "_");
    let held_secret = SECRETS.iter().any(|end| name.ends_with(end));
    held_secret && !value.is_null() && !value.as_str().is_some_and(names_secret)
}

/// Whether a text is `${NAME}`, or a scheme of HTTP authorization and that.
fn names_secret(text: &str) -> bool {
    let name = text.split_once(' ').filter(|(scheme, _)| is_scheme(scheme)).map_or(text, |(_, name)| name);
    let name = name.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::json;

    fn target(text: &str) -> Result<Target<'_>, SecretError> {
        Target::new(json::read(text).unwrap().as_object().unwrap().clone())
    }

    #[test]
    fn a_secret_is_named_and_not_written() {
        for named in [
            r#"{"api_key":"${KEY}"}"#,
            r#"{"headers":{"Authorization":"Bearer ${KEY_2}"}}"#,
            r#"{"api_key":null,"note":"api_key"}"#,
            r#"{"max_tokens":5,"secrets":1}"#,
        ] {
            assert!(target(named).is_ok(), "{named}");
        }
        for (literal, key) in [
            (r#"{"api_key":"sk-1"}"#, "api_key"),
            (r#"{"API_KEY":"x${KEY}"}"#, "API_KEY"),
            (r#"{"a":[{"headers":{"Authorization":"Bearer sk-1"}}]}"#, "Authorization"),
            (r#"{"api_key":"${}"}"#, "api_key"),
            (r#"{"api_key":"${A}b}"}"#, "api_key"),
            (r#"{"api_key":{"value":"${A}"}}"#, "api_key"),
            (r#"{"api_key":""}"#, "api_key"),
            (r#"{"headers":{"X-Api-Key":"sk-3"}}"#, "X-Api-Key"),
            (r#"{"env":{"OPENAI_API_KEY":"sk-3"}}"#, "OPENAI_API_KEY"),
        ] {
            assert_eq!(target(literal), Err(SecretError(key.into())), "{literal}");
        }
    }

    #[test]
    fn an_absent_member_counts_as_empty_and_every_member_counts() {
        let command = target(r#"{"kind":"command"}"#).unwrap();
        let other = target(r#"{"kind":"python"}"#).unwrap();
        let (text, list, mapping) = (json::read("\"\""), json::read("[]"), json::read("{}"));
        let (text, list, mapping) = (text.unwrap(), list.unwrap(), mapping.unwrap());
        let (input, turns, context, tools, agent_args, memory_seeds) = (None, None, None, None, None, None);
        let base = RunInput {
            target: &command,
            record_id: "1",
            input,
            turns,
            context,
            tools,
            agent_args,
            memory_seeds,
            repeat: 0,
        };
        let (some_list, some_mapping) = (Some(&list), Some(&mapping));
        let same = RunInput { input: Some(&text), turns: some_list, context: some_list, tools: some_list, ..base };
        let same = RunInput { agent_args: some_mapping, memory_seeds: some_list, ..same };
        assert_eq!(base.key(), same.key());
        let some = Value::from("x");
        for changed in [
            RunInput { target: &other, ..base },
            RunInput { record_id: "2", ..base },
            RunInput { input: Some(&some), ..base },
            RunInput { turns: Some(&some), ..base },
            RunInput { context: Some(&some), ..base },
            RunInput { tools: Some(&some), ..base },
            RunInput { agent_args: Some(&some), ..base },
            RunInput { memory_seeds: Some(&some), ..base },
            RunInput { repeat: 1, ..base },
        ] {
            assert_ne!(base.key(), changed.key());
        }
    }

    #[test]
    fn a_score_key_changes_with_each_of_its_parts() {
        let (run, other_run) = (tagged("run", &[b"1"]), tagged("run", &[b"2"]));
        let grader = json::read(r#"{"kind":"exact"}"#).unwrap();
        let other_grader = json::read(r#"{"kind":"contains"}"#).unwrap();
        let expected: Object<'_> = [("expected_output".into(), Value::from("4"))].into_iter().collect();
        let key = score_key(run, &expected, &grader);
        assert_eq!(key, score_key(run, &expected, &grader));
        assert_ne!(key, score_key(other_run, &expected, &grader));
        assert_ne!(key, score_key(run, &Object::new(), &grader));
        assert_ne!(key, score_key(run, &expected, &other_grader));
    }
}
