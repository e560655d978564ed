//! The canonical evaluation case: which fields it knows, and what they hold.
//!
//! *Invariant:* an unknown field is never a fault; a known field of the wrong shape always is.

use crate::code::Code;
use crate::fault::Problem;
use crate::path::Path;
use crate::value::{Object, Value};

/// What a case field must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Any,
    Text,
    Mapping,
    List,
    Texts,
    Mappings,
    Turns,
    Seeds,
}

/// The fields of a case, in the order they are written.
const FIELDS: &[&str] = &[
    "name",
    "description",
    "category",
    "input",
    "turns",
    "context",
    "tools",
    "memory_seeds",
    "session_id",
    "agent_args",
    "tool_fixtures",
    "checkpoint",
    "extra_vars",
    "expected_output",
    "expected_turns",
    "expected_outcomes",
    "expected_trajectory",
    "rubric",
    "rubric_vars",
    "labels",
    "tags",
    "metadata",
];

fn shape_of(name: &str) -> Option<Shape> {
    Some(match name {
        "name" | "description" | "category" | "input" | "session_id" | "rubric" => Shape::Text,
        "turns" => Shape::Turns,
        "context" | "tools" | "expected_trajectory" => Shape::Mappings,
        "memory_seeds" => Shape::Seeds,
        "agent_args" | "tool_fixtures" | "checkpoint" | "extra_vars" | "rubric_vars" | "labels" | "metadata" => {
            Shape::Mapping
        }
        "expected_output" => Shape::Any,
        "expected_turns" => Shape::List,
        "expected_outcomes" | "tags" => Shape::Texts,
        _ => return None,
    })
}

/// Who may speak in a turn.
pub const ROLES: &[&str] = &["user", "hitl", "system", "assistant"];

/// The names of the case fields, in the order they are written.
pub fn field_names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().copied()
}

/// Whether a case knows a field of this name.
pub fn is_field(name: &str) -> bool {
    shape_of(name).is_some()
}

/// Whether the rules of a case look inside a field of this name.
pub fn looks_into(name: &str) -> bool {
    matches!(shape_of(name), Some(Shape::Texts | Shape::Mappings | Shape::Turns | Shape::Seeds | Shape::List))
}

/// Whether a field of this name holds an answer, so that it must never be open by accident.
pub fn is_answer(name: &str) -> bool {
    let start = |prefix: &str| name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
    start("expected") || start("rubric") || name == "ground_truth"
}

/// Every known field of a case that has the wrong shape, and an `input` that is missing or empty.
pub fn problems(fields: &Object<'_>, problems: &mut Vec<Problem>) {
    match fields.get("input") {
        None | Some(Value::Null) => problems.push(
            Problem::new(Code::E014, Path::root(), "there is no `input`").help("add the first user message as `input`"),
        ),
        Some(Value::String(text)) if text.is_empty() => problems.push(
            Problem::new(Code::E014, Path::key("input"), "`input` is empty")
                .help("write the first user message into `input`"),
        ),
        Some(_) => {}
    }
    turns_and_answers(fields, problems);
    for (name, value) in fields.iter() {
        if let Some(shape) = shape_of(name) {
            check(shape, value, name, problems);
        }
    }
}

/// Answers for each turn are as many as there are messages.
fn turns_and_answers(fields: &Object<'_>, problems: &mut Vec<Problem>) {
    let Some(answers) = fields.get("expected_turns").and_then(Value::as_array) else { return };
    let messages = 1 + fields.get("turns").and_then(Value::as_array).map_or(0, <[Value<'_>]>::len);
    if answers.len() != messages {
        let message =
            format!("answers in `expected_turns`: {}, messages in `input` and `turns`: {messages}", answers.len());
        problems.push(
            Problem::new(Code::E017, Path::key("expected_turns"), message)
                .help("give one answer for each message, null where none is expected"),
        );
    }
}

fn check(shape: Shape, value: &Value<'_>, name: &str, problems: &mut Vec<Problem>) {
    let path = || Path::key(name);
    match (shape, value) {
        (Shape::Any, _) | (_, Value::Null) => {}
        (Shape::Text, Value::String(_)) | (Shape::Mapping, Value::Object(_)) | (Shape::List, Value::Array(_)) => {}
        (Shape::Text, Value::Number(number)) => {
            problems.push(wrong_type(path(), name, "text", value).help(format!("put it in quotes: \"{number}\"")))
        }
        (Shape::Text, _) => problems.push(wrong_type(path(), name, "text", value)),
        (Shape::Mapping, _) => problems.push(wrong_type(path(), name, "a mapping", value)),
        (_, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                // The path is made only when a rule needs it: most lists are lists of texts.
                if !is_plain_item(shape, item) {
                    check_item(shape, item, &path().then_index(index), problems);
                }
            }
        }
        (_, _) => problems.push(wrong_type(path(), name, "a list", value)),
    }
}

fn is_plain_item(shape: Shape, item: &Value<'_>) -> bool {
    matches!((shape, item), (Shape::Texts, Value::String(_)) | (Shape::Mappings, Value::Object(_)) | (Shape::List, _))
}

fn check_item(shape: Shape, item: &Value<'_>, path: &Path, problems: &mut Vec<Problem>) {
    match (shape, item) {
        (Shape::Turns, Value::Object(turn)) => check_turn(turn, path, problems),
        (Shape::Seeds, Value::Object(seed)) => check_seed(seed, path, problems),
        (Shape::Texts, _) => problems.push(wrong_type(path.clone(), &path.to_string(), "text", item)),
        _ => problems.push(wrong_type(path.clone(), &path.to_string(), "a mapping", item)),
    }
}

/// Every fault of a turn, which stands at `path`.
pub fn check_turn(turn: &Object<'_>, path: &Path, problems: &mut Vec<Problem>) {
    match turn.get("role") {
        None => problems.push(
            Problem::new(Code::E015, path.clone(), format!("`{path}` has no `role`"))
                .help(format!("add one of {}", quoted(ROLES))),
        ),
        Some(Value::String(role)) if ROLES.contains(&role.as_ref()) => {}
        Some(Value::String(role)) => problems.push(unknown_role(role, path.then_key("role"))),
        Some(other) => problems.push(wrong_type(path.then_key("role"), &format!("{path}.role"), "text", other)),
    }
    text_member(turn, "content", path, problems);
}

/// Every fault of a memory seed, which stands at `path`.
pub fn check_seed(seed: &Object<'_>, path: &Path, problems: &mut Vec<Problem>) {
    for member in ["source", "content"] {
        if !seed.contains(member) {
            problems.push(
                Problem::new(Code::E022, path.clone(), format!("`{path}` has no `{member}`"))
                    .help("a memory seed needs `source` (a label for where it comes from) and `content` (its text)"),
            );
        } else {
            text_member(seed, member, path, problems);
        }
    }
    if seed.get("target_agent").is_some_and(|agent| !agent.is_null()) {
        text_member(seed, "target_agent", path, problems);
    }
    match seed.get("metadata") {
        None | Some(Value::Null | Value::Object(_)) => {}
        Some(other) => {
            problems.push(wrong_type(path.then_key("metadata"), &format!("{path}.metadata"), "a mapping", other))
        }
    }
}

fn text_member(object: &Object<'_>, member: &str, path: &Path, problems: &mut Vec<Problem>) {
    match object.get(member) {
        Some(Value::String(_)) => {}
        Some(other) => problems.push(wrong_type(path.then_key(member), &format!("{path}.{member}"), "text", other)),
        None => problems.push(Problem::new(Code::E015, path.clone(), format!("`{path}` has no `{member}`"))),
    }
}

/// A turn whose role nobody knows.
fn unknown_role(role: &str, path: Path) -> Problem {
    let near = crate::fault::nearest(role, ROLES.iter().copied());
    let help = near.map_or_else(|| format!("use one of {}", quoted(ROLES)), |near| format!("did you mean `{near}`?"));
    Problem::new(Code::E016, path, format!("unknown role `{role}`")).help(help)
}

/// A field that holds something else than it must.
pub fn wrong_type(path: Path, name: &str, expected: &str, found: &Value<'_>) -> Problem {
    Problem::new(Code::E015, path, format!("`{name}` must be {expected}, not {}", found.type_name()))
}

/// Names in backticks, joined by commas.
pub fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_shape() {
        assert_eq!(FIELDS.iter().filter(|name| shape_of(name).is_some()).count(), 22);
    }
}
