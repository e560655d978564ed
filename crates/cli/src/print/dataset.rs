//! Datasets as they are described, for people and programs.

use std::io::{self, Write};

use heldset_core::canonical;
use heldset_core::fault::Problem;
use heldset_core::value::{Object, Value};
use heldset_engine::dataset::{Described, Reviewed};
use heldset_engine::status;

use super::{Severity, clean, fault, json, styled};
use crate::args::Cli;
use crate::exit::{Exit, Failure};

/// A dataset as one JSON object.
pub(crate) fn object(described: &Described) -> Object<'static> {
    let mut object = described.fields.clone();
    if !described.warnings.is_empty() {
        let warnings = described.warnings.iter().map(|fault| json::fault_value(fault, Severity::Hint));
        object.set("warnings", Value::Array(warnings.collect()));
    }
    object
}

/// A dataset, one line for each field that is stated.
pub(crate) fn text(described: &Described) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (name, value) in described.fields.iter().filter(|(name, _)| !matches!(*name, "declared" | "computed")) {
        if let Some(shown) = shown(value) {
            lines.push(format!("{name:<20}{}", clean::line(&shown)));
        }
    }
    lines.join("\n")
}

/// A dataset in a list.
pub(crate) fn line(described: &Described) -> String {
    let dataset = &described.dataset;
    let (slug, state) = (&dataset.slug, status::of(dataset).name());
    let version = if dataset.head == 0 { String::new() } else { format!("@{}", dataset.head) };
    format!("{slug}{version}  {state}  {}", clean::line(&dataset.name))
}

/// A value in words; nothing for what is not stated.
pub(crate) fn shown(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.to_string()),
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => Some(items.iter().filter_map(shown).collect::<Vec<_>>().join(", ")),
        other => Some(String::from_utf8_lossy(&canonical::bytes(other)).into_owned()),
    }
}

/// Where a dataset is in its life, and where it can go.
pub(crate) fn status(described: &Described) -> Object<'static> {
    let dataset = &described.dataset;
    let state = status::of(dataset);
    let moves = state.moves().iter().map(|to| Value::from(to.name())).collect();
    json::object([
        ("dataset", Value::from(dataset.slug.clone())),
        ("status", Value::from(state.name())),
        ("certification_level", Value::from(status::level_of(dataset).name())),
        ("moves", Value::Array(moves)),
        ("etag", described.fields.get("etag").cloned().unwrap_or(Value::Null)),
    ])
}

/// The same in words.
pub(crate) fn status_text(described: &Described) -> String {
    let dataset = &described.dataset;
    let state = status::of(dataset);
    let level = match status::level_of(dataset).name() {
        "none" => String::new(),
        level => format!(", certified {level}"),
    };
    let moves: Vec<&str> = state.moves().iter().map(|to| to.name()).collect();
    let next = if moves.is_empty() { String::new() } else { format!(" (can become {})", moves.join(" or ")) };
    format!("{} is {}{level}{next}", dataset.slug, state.name())
}

/// A review as one JSON object.
pub(crate) fn review(reviewed: &Reviewed) -> Object<'static> {
    let by = |review: &heldset_store::registry::ReviewDoc| {
        Value::Object(json::object([
            ("principal", Value::from(review.principal.clone())),
            ("name", Value::from(review.name.clone())),
            ("time", Value::from(review.time.clone())),
            ("message", review.message.clone().map_or(Value::Null, Value::from)),
        ]))
    };
    json::object([
        ("dataset", Value::from(reviewed.resolved.dataset.slug.clone())),
        ("version", json::number(reviewed.resolved.version.number)),
        ("digest", Value::from(reviewed.resolved.version.digest.clone())),
        ("principal", Value::from(reviewed.principal.id.clone())),
        ("reviews", Value::Array(reviewed.reviews.iter().map(by).collect())),
    ])
}

/// The same in words.
pub(crate) fn review_text(reviewed: &Reviewed) -> String {
    let names: Vec<String> = reviewed.reviews.iter().map(|review| clean::line(&review.name)).collect();
    let (slug, number) = (&reviewed.resolved.dataset.slug, reviewed.resolved.version.number);
    format!("{slug}@{number} is reviewed by {}", names.join(", "))
}

/// Tells where what is stated and what is computed differ.
pub(crate) fn warnings(cli: &Cli, described: &Described) {
    if cli.json || cli.quiet {
        return;
    }
    for warning in &described.warnings {
        let text = fault::text("", warning, Severity::Hint, styled(cli.color, &io::stderr()));
        // A closed stderr is no reason to keep the answer back.
        drop(writeln!(io::stderr(), "{text}"));
    }
}

/// Tells whether fields are valid, and everything that is not.
pub(crate) fn validity(cli: &Cli, file: &str, problems: &[Problem]) -> Result<Exit, Failure> {
    let out = match (cli.json, problems.len()) {
        (true, count) => json::text(&json::object([("valid", Value::Bool(count == 0)), ("errors", errors(problems))])),
        (false, 0) => "valid".to_owned(),
        (false, count) => {
            tell(cli, file, problems);
            format!("not valid: {count} {}", if count == 1 { "error" } else { "errors" })
        }
    };
    writeln!(io::stdout(), "{out}").map_err(|error| crate::commands::broken(&error))?;
    Ok(if problems.is_empty() { Exit::Fine } else { Exit::Invalid })
}

/// Tells why fields are not taken.
pub(crate) fn invalid(cli: &Cli, file: &str, problems: &[Problem]) -> Result<Exit, Failure> {
    if !cli.json {
        tell(cli, file, problems);
        return Ok(Exit::Invalid);
    }
    let mut object = Object::new();
    if let Some(first) = problems.first() {
        let mut error = Object::new();
        if let Value::Object(fault) = json::fault_value(&first.clone().of_file(), Severity::Error) {
            error = fault;
        }
        error.remove("severity");
        error.set("file", if file.is_empty() { Value::Null } else { Value::from(file.to_owned()) });
        object.set("error", Value::Object(error));
    }
    object.set("errors", errors(problems));
    writeln!(io::stdout(), "{}", json::text(&object)).map_err(|error| crate::commands::broken(&error))?;
    Ok(Exit::Invalid)
}

fn tell(cli: &Cli, file: &str, problems: &[Problem]) {
    for problem in problems {
        let told = problem.clone().of_file();
        let text = fault::text(file, &told, Severity::Error, styled(cli.color, &io::stderr()));
        // A closed stderr is no reason to end differently.
        drop(writeln!(io::stderr(), "{text}"));
    }
}

fn errors(problems: &[Problem]) -> Value<'static> {
    let error = |problem: &Problem| {
        let field = (!problem.path.is_root()).then(|| problem.path.to_string());
        Value::Object(json::object([
            ("field", field.map_or(Value::Null, Value::from)),
            ("message", Value::from(problem.message.clone())),
            ("code", Value::from(problem.code.name())),
            ("help", problem.help.clone().map_or(Value::Null, Value::from)),
        ]))
    };
    Value::Array(problems.iter().map(error).collect())
}
