//! What the parts of a plan have wrong with one another.
//!
//! *Invariant:* all problems are told, with the paths of the native form; a secret is named, never shown.

use std::collections::HashSet;

use super::{Design, Factor, Plan};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::run::Target;
use crate::value::{Object, Value};

pub(super) fn problems(plan: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    scenarios(plan, &mut problems);
    design(plan, &mut problems);
    graders(plan, &mut problems);
    if let Some(gate) = &plan.gate
        && !plan.graders.is_empty()
    {
        metrics(&gate.to_value(), &Path::key("gate"), plan, &mut problems);
    }
    secrets(&Value::Object(plan.target.clone()), &Path::key("target"), &mut problems);
    problems
}

fn scenarios(plan: &Plan, problems: &mut Vec<Problem>) {
    let mut seen = HashSet::new();
    for (place, scenario) in plan.scenarios.iter().enumerate() {
        let at = Path::key("scenarios").then_index(place);
        if !seen.insert(scenario.id.as_str()) {
            let message = format!("scenario `{}` is there twice", scenario.id);
            problems.push(Problem::new(Code::E051, at.then_key("id"), message).help("give each an id of its own"));
        }
        secrets(&Value::Object(scenario.overlay.clone()), &at.then_key("overlay"), problems);
    }
}

fn design(plan: &Plan, problems: &mut Vec<Problem>) {
    let at = Path::key("execution").then_key("design");
    let mut known = |id: &str, at: Path| {
        let ids = || plan.scenarios.iter().map(|scenario| scenario.id.as_str());
        if ids().any(|known| known == id) {
            return;
        }
        problems.push(unknown(at, format!("there is no scenario `{id}`"), id, ids()));
    };
    match &plan.design {
        Design::Coupled(couplings) => {
            for (place, (scenario, _)) in couplings.iter().enumerate() {
                known(scenario, at.then_key("couplings").then_index(place).then_key("scenario"));
            }
        }
        Design::OneFactor(Factor::Records(Some(scenario))) => known(scenario, at.then_key("pin_scenario")),
        Design::OneFactor(_) | Design::Cartesian => {}
    }
}

fn graders(plan: &Plan, problems: &mut Vec<Problem>) {
    let mut seen = HashSet::new();
    for grader in &plan.graders {
        let at = Path::key("graders").then_key(&grader.name);
        if !seen.insert(grader.name.as_str()) {
            let message = format!("grader `{}` is there twice", grader.name);
            problems.push(Problem::new(Code::E051, at.clone(), message).help("give each a name of its own"));
        }
        secrets(&Value::Object(grader.config.clone()), &at, problems);
    }
}

/// Names of scores in a gate that no grader gives.
fn metrics(gate: &Value<'_>, at: &Path, plan: &Plan, problems: &mut Vec<Problem>) {
    let mut known = |name: &str, at: Path| {
        let names = || plan.graders.iter().map(|grader| grader.name.as_str());
        if !names().any(|known| known == name) {
            problems.push(unknown(at, format!("no grader is named `{name}`"), name, names()));
        }
    };
    let Value::Object(gate) = gate else { return };
    if let Some(name) = gate.get("metric_key").and_then(Value::as_str) {
        known(name, at.then_key("metric_key"));
    }
    for (name, _) in gate.get("weights").and_then(Value::as_object).iter().flat_map(|weights| weights.iter()) {
        known(name, at.then_key("weights").then_key(name));
    }
    if let Some(rule) = gate.get("rule") {
        metrics(rule, &at.then_key("rule"), plan, problems);
    }
    let conditions = gate.get("conditions").and_then(Value::as_array).unwrap_or_default();
    for (place, condition) in conditions.iter().enumerate() {
        metrics(condition, &at.then_key("conditions").then_index(place), plan, problems);
    }
}

fn unknown<'k>(at: Path, message: String, name: &str, known: impl Iterator<Item = &'k str>) -> Problem {
    let known: Vec<&str> = known.collect();
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", crate::case::quoted(&known)),
    };
    Problem::new(Code::E051, at, message).help(help)
}

/// Secrets that are written out, each with its path.
fn secrets(value: &Value<'static>, at: &Path, problems: &mut Vec<Problem>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter() {
                let at = at.then_key(key);
                if is_secret(key, value) {
                    let message = format!("`{at}` holds a secret in the clear");
                    let help = "write `${NAME}`: the value is taken from the environment, and never stored";
                    problems.push(Problem::new(Code::E057, at, message).help(help));
                } else {
                    secrets(value, &at, problems);
                }
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                secrets(item, &at.then_index(place), problems);
            }
        }
        _ => {}
    }
}

/// Whether a key and its value alone, without what is inside, are refused as a target.
fn is_secret(key: &str, value: &Value<'static>) -> bool {
    let bare = match value {
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Object::new()),
        scalar => scalar.clone(),
    };
    Target::new(std::iter::once((key.to_owned().into(), bare)).collect()).is_err()
}
