//! The target of a suite of Letta, and its models as scenarios.
//!
//! *Invariant:* other kinds of targets than Letta's stand in a suite as they are.

use heldset_core::path::Path;
use heldset_core::plan::Scenario;
use heldset_core::value::{Object, Value};

use super::dialects::LETTA_TARGETS;
use super::reader::Reader;
use super::{PlanOptions, manifests, scenarios};

const KEYS: &[&str] = &[
    "kind",
    "name",
    "base_url",
    "api_key",
    "timeout",
    "project_id",
    "max_retries",
    "model_handles",
    "model",
    "agent_script",
    "agent_id",
    "agent_file",
];
const IGNORED: &[&str] = &[
    "model_configs",
    "working_dir",
    "sandbox",
    "allowed_tools",
    "disallowed_tools",
    "flags",
    "permission_mode",
    "memory_workspace",
    "memory_dir",
    "pricing",
];
/// How an agent is found; exactly one of them.
const AGENT: &[&str] = &["agent_id", "agent_file", "agent_script"];
const LOCAL: &str = "http://localhost:8283";
const CLOUD: &str = "https://api.letta.com";

/// A target and its variants.
pub(super) struct Suited {
    pub(super) target: Object<'static>,
    pub(super) scenarios: Vec<Scenario>,
}

/// The target of a suite, or the one given in its place; the models stay.
pub(super) fn read(reader: &mut Reader<'_>, root: &Object<'_>, at: &Path, options: &PlanOptions) -> Suited {
    let stated = root.get("target").and_then(Value::as_object);
    let inner = at.then_key("target");
    let empty = Object::new();
    let handles = reader.texts(stated.unwrap_or(&empty), &inner, "model_handles");
    let mut target = manifests::target(reader, root, at, options).unwrap_or_default();
    let kind = target.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if options.target.is_none() && LETTA_TARGETS.contains(&kind.as_str()) {
        target = suited(reader, &target, &inner, &kind);
    }
    target.remove("model_handles");
    let mut variants: Vec<Scenario> = handles.into_iter().map(of_model).collect();
    if variants.is_empty() {
        variants.push(Scenario { id: scenarios::ONLY.to_owned(), overlay: Object::new() });
    }
    Suited { target, scenarios: variants }
}

fn of_model(handle: String) -> Scenario {
    let overlay = std::iter::once(("model".into(), Value::from(handle.clone()))).collect();
    Scenario { id: handle, overlay }
}

/// A target of Letta in its native form.
fn suited(reader: &mut Reader<'_>, stated: &Object<'static>, at: &Path, kind: &str) -> Object<'static> {
    reader.keys(stated, at, KEYS, IGNORED);
    let named: Vec<&str> = AGENT.iter().copied().filter(|key| stated.get(key).is_some_and(|v| !v.is_null())).collect();
    if named.len() > 1 || named.is_empty() && kind != "letta_code" {
        let message = match named.is_empty() {
            true => format!("`{at}` names no agent"),
            false => format!("`{at}` names its agent in several ways"),
        };
        reader.invalid(at.clone(), message, "keep exactly one of `agent_id`, `agent_file` and `agent_script`");
    }
    let mut target: Object<'static> = std::iter::once(("kind".into(), Value::from("letta_agent"))).collect();
    for (key, value) in stated.iter().filter(|(key, value)| *key != "kind" && KEYS.contains(key) && !value.is_null()) {
        target.set(key.to_owned(), value.clone());
    }
    if !target.contains("base_url") {
        target.set("base_url", if kind == "letta_code" { CLOUD } else { LOCAL }.into());
    }
    if let Some(file) = reader.text(stated, at, "agent_file") {
        reader.named(&file);
    }
    if kind == "letta_code" {
        reader.note("target `letta_code` is asked through Letta's REST API: turns are sent one after the other, not joined into one prompt");
    }
    target
}
