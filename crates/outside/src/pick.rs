//! Where something is in an answer: JSONPath, a JSON pointer, or plain names with dots between them.
//!
//! *Invariant:* what is picked is exactly what was there: numbers keep all their digits.

use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use serde_json_path::JsonPath;

/// A place in a JSON value.
#[derive(Clone, Debug)]
pub(crate) struct Pick {
    text: String,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    Steps(Vec<Step>),
    Query(Box<JsonPath>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    /// A number that may be a place in a list or a key.
    Index(usize),
}

impl Pick {
    /// Reads a place; the error says why it is none.
    pub(crate) fn parse(text: &str) -> Result<Pick, String> {
        let way = if let Some(rest) = text.strip_prefix('$') {
            match simple_steps(rest) {
                Some(steps) => Way::Steps(steps),
                None => Way::Query(Box::new(JsonPath::parse(text).map_err(|error| error.to_string())?)),
            }
        } else if let Some(rest) = text.strip_prefix('/') {
            Way::Steps(rest.split('/').map(|part| step(&part.replace("~1", "/").replace("~0", "~"))).collect())
        } else if text.is_empty() {
            return Err("it is empty".to_owned());
        } else if text.contains('[') {
            return Pick::parse(&format!("$.{text}")).map(|pick| Pick { text: text.to_owned(), ..pick });
        } else {
            Way::Steps(text.split('.').map(step).collect())
        };
        Ok(Pick { text: text.to_owned(), way })
    }

    /// As it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What is there; several things become a list.
    pub(crate) fn of(&self, value: &Value<'static>) -> Option<Value<'static>> {
        match &self.way {
            Way::Steps(steps) => walk(value, steps).cloned(),
            Way::Query(query) => {
                let serde = to_serde(value);
                let places = query.query_located(&serde);
                let mut found: Vec<Value<'static>> = places
                    .locations()
                    .filter_map(|place| {
                        let steps: Vec<Step> = place.iter().map(element).collect();
                        walk(value, &steps).cloned()
                    })
                    .collect();
                match found.len() {
                    0 => None,
                    1 => found.pop(),
                    _ => Some(Value::Array(found)),
                }
            }
        }
    }
}

fn element(element: &serde_json_path::PathElement<'_>) -> Step {
    match element {
        serde_json_path::PathElement::Name(name) => Step::Key((*name).to_owned()),
        serde_json_path::PathElement::Index(index) => Step::Index(*index),
    }
}

fn step(part: &str) -> Step {
    part.parse().map_or_else(|_| Step::Key(part.to_owned()), Step::Index)
}

/// The steps of a path that has only names and numbers.
fn simple_steps(mut rest: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let name = &after[..end];
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            steps.push(Step::Key(name.to_owned()));
            rest = &after[end..];
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Index(inside.parse().ok()?));
            rest = after;
        }
    }
    Some(steps)
}

fn walk<'v>(value: &'v Value<'static>, steps: &[Step]) -> Option<&'v Value<'static>> {
    steps.iter().try_fold(value, |value, step| match (value, step) {
        (Value::Object(object), Step::Key(key)) => object.get(key),
        (Value::Object(object), Step::Index(index)) => object.get(&index.to_string()),
        (Value::Array(items), Step::Index(index)) => items.get(*index),
        _ => None,
    })
}

/// The same value for readers that know the other form.
pub(crate) fn to_serde(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.as_f64().into(),
        },
        Value::String(text) => text.as_ref().into(),
        Value::Array(items) => items.iter().map(to_serde).collect(),
        Value::Object(object) => {
            let entries = object.iter().map(|(key, value)| (key.to_owned(), to_serde(value)));
            serde_json::Value::Object(entries.collect())
        }
    }
}

/// The same value from the other form.
pub(crate) fn from_serde(value: &serde_json::Value) -> Value<'static> {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => {
            Number::from_literal(&number.to_string()).map_or(Value::Null, Value::Number)
        }
        serde_json::Value::String(text) => Value::from(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(from_serde).collect()),
        serde_json::Value::Object(object) => {
            let entries = object.iter().map(|(key, value)| (key.clone().into(), from_serde(value)));
            Value::Object(entries.collect::<Object<'static>>())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use heldset_core::{canonical, json};

    #[test]
    fn a_place_is_a_path_a_pointer_or_names() {
        let answer = r#"{"output":{"text":"hi","n":[1,18446744073709551615]},"a-b":{"0":"zero"},"m":[{"t":"x","c":1},{"t":"y","c":2}]}"#;
        let answer = json::read(answer).unwrap().into_owned();
        for (place, expected) in [
            ("$.output.text", Some(r#""hi""#)),
            ("output.text", Some(r#""hi""#)),
            ("/output/text", Some(r#""hi""#)),
            ("$.output.n[1]", Some("18446744073709551615")),
            ("$.output.n[-1]", Some("18446744073709551615")),
            ("output.n[0]", Some("1")),
            ("output.n.0", Some("1")),
            ("$['a-b']['0']", Some(r#""zero""#)),
            ("a-b.0", Some(r#""zero""#)),
            ("$.m[?@.t=='y'].c", Some("2")),
            ("$.m[*].c", Some("[1,2]")),
            ("$.nothing", None),
            ("$..none", None),
        ] {
            let found = Pick::parse(place).unwrap().of(&answer).map(|value| canonical::bytes(&value));
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{place}");
        }
        assert!(Pick::parse("$.[").is_err());
        assert!(Pick::parse("").is_err());
    }
}
