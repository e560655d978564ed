//! The answers of judges.
//!
//! *Invariant:* an answer has exactly the members of its schema, each of its type and range, or it is refused.

use heldset_core::json;
use heldset_core::value::{Object, Value};

use crate::text::{number_of, strip};

/// What a judge wrote, and what it took.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) members: Object<'static>,
    pub(super) usage: Option<Value<'static>>,
}

/// Reads an answer: the model's text, the JSON it wrote, or `{content, usage}` with one of both.
pub(super) fn document(answer: Value<'static>) -> Result<Document, String> {
    let (written, usage) = match answer {
        Value::Object(mut wrapped) if wrapped.contains("content") => {
            let usage = wrapped.remove("usage");
            (wrapped.remove("content").unwrap_or(Value::Null), usage)
        }
        other => (other, None),
    };
    let members = match written {
        Value::Object(members) => members,
        Value::String(text) => match json::read(strip(&text)).map(Value::into_owned) {
            Ok(Value::Object(members)) => members,
            Ok(other) => return Err(format!("the judge's answer is {}, not a mapping", other.type_name())),
            Err(_) => return Err("the judge's answer is not JSON".to_owned()),
        },
        other => return Err(format!("the judge's answer is {}, not a mapping", other.type_name())),
    };
    Ok(Document { members, usage })
}

/// The score and the rationale of a rubric.
pub(super) fn score(members: &Object<'_>) -> Result<(f64, String), String> {
    only(members, &["score", "rationale"])?;
    let score = members.get("score").and_then(number_of).ok_or("the judge's answer has no number `score`")?;
    if !(0.0..=1.0).contains(&score) {
        return Err(format!("the judge's score {score} is not from 0 to 1"));
    }
    Ok((score, text(members, "rationale")?))
}

/// A text member.
pub(super) fn text(members: &Object<'_>, key: &str) -> Result<String, String> {
    let text = members.get(key).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| format!("the judge's answer has no text `{key}`"))
}

/// Refuses members that the schema does not have.
pub(super) fn only(members: &Object<'_>, known: &[&str]) -> Result<(), String> {
    match members.iter().find(|(key, _)| !known.contains(key)) {
        None => Ok(()),
        Some((key, _)) => Err(format!("the judge's answer has `{key}`, which its schema has not")),
    }
}

/// A schema from its text.
pub(super) fn schema(text: &'static str) -> Value<'static> {
    json::read(text).unwrap_or(Value::Null)
}
