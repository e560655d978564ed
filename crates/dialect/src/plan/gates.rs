//! What decides in a suite of Letta: gates with and without a kind, and rewards.
//!
//! *Invariant:* an accuracy that could be a fraction or a percentage is never guessed.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::gate::Rule;
use heldset_core::number::Number;
use heldset_core::path::Path;
use heldset_core::plan::GraderSpec;
use heldset_core::value::{Object, Value};

use super::AccuracyUnit;
use super::graders::put_first;
use super::reader::Reader;

/// Gates that say no kind: those of the first releases, and those that the documents mix.
const KINDLESS: &[&str] =
    &["metric", "metric_key", "aggregation", "op", "value", "pass_op", "pass_value", "pass_threshold", "decide"];

/// The gate of a suite; a reward makes its metric the first of the graders.
pub(super) fn letta(
    reader: &mut Reader<'_>,
    root: &Object<'_>,
    at: &Path,
    graders: &mut Vec<GraderSpec>,
    unit: Option<AccuracyUnit>,
) -> Option<Rule> {
    if let Some(reward) = reader.mapping(root, at, "reward") {
        self::reward(reader, reward, &at.then_key("reward"), graders);
    }
    let gate = reader.mapping(root, at, "gate")?;
    let at = at.then_key("gate");
    let mut gate = match gate.contains("kind") {
        true => gate.clone().into_owned(),
        false => with_kind(reader, gate, &at, graders.first().map(|grader| grader.name.as_str()))?,
    };
    units(reader, &mut gate, &at, unit);
    if !gate.contains("decide") {
        gate.set("decide", "point".into());
    }
    match Rule::from_value(&Value::Object(gate), &at) {
        Ok(rule) => Some(rule),
        Err(problem) => {
            reader.problem(problem);
            None
        }
    }
}

fn reward(reader: &mut Reader<'_>, reward: &Object<'_>, at: &Path, graders: &mut Vec<GraderSpec>) {
    reader.keys(reward, at, &["kind", "metric_key", "function"], &[]);
    match reader.word(reward, at, "kind", &[("metric", true), ("custom", false)]) {
        Some(true) => {
            let Some(key) = reader.text(reward, at, "metric_key") else {
                return reader.invalid(at.clone(), "the reward has no `metric_key`", "name one of the graders");
            };
            put_first(reader, graders, &key, &at.then_key("metric_key"));
            reader.note(format!("reward `{key}` has no bar, so nothing decides: add `gate`"));
        }
        Some(false) => {
            let Some(function) = reader.text(reward, at, "function") else {
                return reader.invalid(at.clone(), "the reward has no `function`", "write `file.py:function`");
            };
            reader.named_function(&function);
            let config = [("kind", "python".to_owned()), ("role", "reward".to_owned()), ("function", function)];
            let config = config.into_iter().map(|(key, value)| (key.into(), Value::from(value))).collect();
            graders.push(GraderSpec { name: "reward".to_owned(), config });
            reader.note("grader `reward` has no bar, so nothing decides: add `gate`");
        }
        None if reward.get("kind").is_none_or(Value::is_null) => {
            reader.invalid(at.clone(), "the reward has no `kind`", "write `kind: metric` or `kind: custom`");
        }
        None => {}
    }
}

/// A gate that says no kind, as a simple one.
fn with_kind(reader: &mut Reader<'_>, gate: &Object<'_>, at: &Path, first: Option<&str>) -> Option<Object<'static>> {
    if gate.contains("conditions") || gate.contains("weights") {
        let help = "write `kind: logical` or `kind: weighted_average`";
        reader.invalid(at.clone(), "the gate has no `kind`", help);
        return None;
    }
    reader.keys(gate, at, KINDLESS, &[]);
    let metric_key = reader.text(gate, at, "metric_key").or_else(|| first.map(str::to_owned));
    let aggregation = reader.text(gate, at, "aggregation").or_else(|| reader.text(gate, at, "metric"));
    let aggregation = aggregation.unwrap_or_else(|| "avg_score".to_owned());
    let threshold = if aggregation == "accuracy" { threshold(reader, gate, at) } else { None };
    let mut out: Object<'static> = std::iter::once(("kind".into(), Value::from("simple"))).collect();
    if let Some(key) = metric_key {
        out.set("metric_key", key.into());
    }
    out.set("aggregation", aggregation.into());
    for key in ["op", "value", "pass_threshold", "decide"] {
        if let Some(value) = gate.get(key).filter(|value| !value.is_null()) {
            out.set(key, value.clone().into_owned());
        }
    }
    if let Some(threshold) = threshold {
        out.set("pass_threshold", Value::Number(threshold));
    }
    Some(out)
}

/// The least score that passes, of `pass_op` and `pass_value`.
fn threshold(reader: &mut Reader<'_>, gate: &Object<'_>, at: &Path) -> Option<Number> {
    let bar = match gate.get("pass_value") {
        None | Some(Value::Null) => return None,
        Some(Value::Number(number)) => *number,
        Some(other) => {
            reader.wrong(&at.then_key("pass_value"), "a number", other);
            return None;
        }
    };
    match reader.text(gate, at, "pass_op").as_deref() {
        None | Some("gte") => Some(bar),
        // The next number above is the least that is more.
        Some("gt") => Number::from_f64(bar.as_f64().next_up()).ok(),
        // No score is more than 1.
        Some("eq") if bar.as_f64() == 1.0 => Some(bar),
        Some(other) => {
            let message = format!("`pass_op: {other}` cannot be carried: a score passes from a threshold on");
            reader.invalid(at.then_key("pass_op"), message, "turn the grader round with `negate`, and use `gte`");
            None
        }
    }
}

/// Makes every bar of an accuracy in a gate a fraction.
fn units(reader: &mut Reader<'_>, gate: &mut Object<'static>, at: &Path, unit: Option<AccuracyUnit>) {
    let said = gate.get("aggregation").or_else(|| gate.get("metric")).and_then(Value::as_str);
    if said == Some("accuracy")
        && let Some(Value::Number(value)) = gate.get("value").cloned()
    {
        match fraction(value.as_f64(), unit) {
            Some(fraction) => gate.set("value", Number::from_f64(fraction).map_or(Value::Null, Value::Number)),
            None => {
                let message =
                    format!("an accuracy of {value} is a fraction by Letta's documents and a percentage by its code");
                let help = "say which with `--accuracy-unit fraction` or `--accuracy-unit percent`";
                reader.problem(Problem::new(Code::E056, at.then_key("value"), message).help(help));
            }
        }
    }
    if let Some(Value::Array(conditions)) = gate.get_mut("conditions") {
        for (place, condition) in conditions.iter_mut().enumerate() {
            if let Value::Object(condition) = condition {
                units(reader, condition, &at.then_key("conditions").then_index(place), unit);
            }
        }
    }
}

fn fraction(value: f64, unit: Option<AccuracyUnit>) -> Option<f64> {
    match unit {
        _ if value > 1.0 => Some(value / 100.0),
        _ if value <= 0.0 => Some(value),
        Some(AccuracyUnit::Fraction) => Some(value),
        Some(AccuracyUnit::Percent) => Some(value / 100.0),
        None => None,
    }
}
