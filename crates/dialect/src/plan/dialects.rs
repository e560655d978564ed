//! Whose form a plan is written in.
//!
//! *Invariant:* what a file says of itself counts before what it looks like.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

/// Whose form a plan is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Native,
    Lab,
    Letta,
}

/// Kinds of targets that only Letta has; `letta_agent` is ours too.
pub(super) const LETTA_TARGETS: &[&str] = &["agent", "letta_agent", "letta_code"];

/// Keys that only an experiment of mas-lab has.
const LAB: &[&str] =
    &["experiment", "mas", "applications", "flavour", "default_flavour", "evaluation", "pipeline_bind", "application"];
/// Keys that only a suite of Letta has.
const LETTA: &[&str] = &["sample_tags", "max_samples", "num_runs", "cleanup", "sandbox"];
/// Keys that a suite of Letta does not have.
const NOT_LETTA: &[&str] = &[
    "select",
    "scenarios",
    "run",
    "memory_seeds",
    "max_errors",
    "execution",
    "grade",
    "mas",
    "applications",
    "experiment",
];
/// Keys of which a plan has some.
const PLAN: &[&str] = &["dataset", "target", "graders", "gate", "scenarios", "run"];

/// The dialect of a file, or why it is no plan.
pub(super) fn find(root: &Object<'_>) -> Result<Dialect, Box<Problem>> {
    let has = |keys: &[&str]| keys.iter().any(|key| root.contains(key));
    let text = |key: &str| root.get(key).and_then(Value::as_str);
    let is_lab = text("apiVersion").is_some_and(|version| version.starts_with("lab/"));
    check_kind(root, is_lab)?;
    if is_lab || text("apiVersion").is_none() && root.get("experiment").is_some_and(|inner| inner.as_object().is_some())
    {
        return Ok(Dialect::Lab);
    }
    if text("apiVersion").is_some() {
        return Ok(Dialect::Native);
    }
    let target = root.get("target").and_then(Value::as_object);
    let kind = target.and_then(|target| target.get("kind")).and_then(Value::as_str);
    let has_handles = target.is_some_and(|target| target.contains("model_handles"));
    let surely_letta = matches!(kind, Some("agent" | "letta_code")) || has_handles || root.contains("reward");
    let maybe_letta = kind == Some("letta_agent") || has(LETTA) || has_letta_gate(root);
    if text("kind").is_none() && (surely_letta || maybe_letta && !has(NOT_LETTA)) {
        return Ok(Dialect::Letta);
    }
    if has(LAB) || dataset_has(root, &["filter", "group", "limit", "name"]) {
        return Ok(Dialect::Lab);
    }
    if has(PLAN) {
        return Ok(Dialect::Native);
    }
    Err(Box::new(no_plan(root)))
}

/// What stands inside of `experiment:` or `spec:`, and where; what the envelope says is taken along.
pub(super) fn lab_body<'a>(root: &Object<'a>) -> (Object<'a>, Path) {
    if let Some(Value::Object(inner)) = root.get("experiment") {
        let mut inner = inner.clone();
        // What stands beside it is meant as if it stood inside.
        for (key, value) in
            root.iter().filter(|(key, _)| !["apiVersion", "kind", "metadata", "experiment"].contains(key))
        {
            if !inner.contains(key) {
                inner.set(key.to_owned(), value.clone());
            }
        }
        return (inner, Path::key("experiment"));
    }
    let Some(Value::Object(spec)) = root.get("spec") else { return (root.clone(), Path::root()) };
    let mut inner = spec.clone();
    for key in ["name", "description"] {
        let said = root.get("metadata").and_then(Value::as_object).and_then(|metadata| metadata.get(key));
        if let Some(said) = said.filter(|_| !inner.contains(key)) {
            inner.set(key, said.clone());
        }
    }
    (inner, Path::key("spec"))
}

/// Whether there is a gate that Letta could have, over a dataset that it could have.
fn has_letta_gate(root: &Object<'_>) -> bool {
    let Some(gate) = root.get("gate").and_then(Value::as_object) else { return false };
    let kind = gate.get("kind").and_then(Value::as_str);
    matches!(kind, None | Some("simple" | "weighted_average" | "logical"))
        && !["decide", "min_n"].iter().any(|key| gate.contains(key))
        && root.get("dataset").is_some_and(|dataset| dataset.as_str().is_some())
}

fn dataset_has(root: &Object<'_>, keys: &[&str]) -> bool {
    let dataset = root.get("dataset").and_then(Value::as_object);
    dataset.is_some_and(|dataset| keys.iter().any(|key| dataset.contains(key)))
}

fn check_kind(root: &Object<'_>, is_lab: bool) -> Result<(), Box<Problem>> {
    let invalid = |key: &str, message: String, help: &str| {
        Err(Box::new(Problem::new(Code::E051, Path::key(key), message).help(help)))
    };
    match root.get("kind") {
        None | Some(Value::Null) => {}
        Some(Value::String(kind)) if kind == "Experiment" => {}
        Some(Value::String(kind)) if kind == "Dataset" => {
            return invalid("kind", "this is a dataset, not a plan".to_owned(), "name it under `dataset:` in a plan");
        }
        Some(other) => {
            let shown = other.as_str().map_or_else(|| other.type_name().to_owned(), |kind| format!("`{kind}`"));
            return invalid(
                "kind",
                format!("the kind of a plan is `Experiment`, not {shown}"),
                "write `kind: Experiment`",
            );
        }
    }
    match root.get("apiVersion") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(version)) if version == "heldset/v1" || is_lab => Ok(()),
        Some(other) => {
            let shown = other.as_str().map_or_else(|| other.type_name().to_owned(), |version| format!("`{version}`"));
            invalid("apiVersion", format!("plans of {shown} are not known here"), "write `apiVersion: heldset/v1`")
        }
    }
}

fn no_plan(root: &Object<'_>) -> Problem {
    let (message, help) = if root.contains("items") || root.contains("testCases") || root.contains("spec") {
        ("this looks like a dataset, not a plan".to_owned(), "name it under `dataset:` in a plan")
    } else {
        let message = "this is no plan: it has neither `dataset` nor `target`".to_owned();
        (message, "a plan has `name`, `dataset` and `target` at least; see `heldset explain E051`")
    };
    Problem::new(Code::E051, Path::root(), message).help(help)
}
