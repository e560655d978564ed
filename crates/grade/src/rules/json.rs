//! JSON answers: equal to the reference, holding it, or of a schema.
//!
//! *Invariant:* values are compared, not their text: the order of keys and the spelling of numbers do not count.

use heldset_core::canonical;
use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::value::Value;
use jsonschema::Validator;

use super::Verdict;
use crate::case::{Case, Submission};
use crate::settings::Settings;
use crate::text::{json_of, strip};

/// A rule on JSON.
#[derive(Debug)]
pub(crate) enum JsonRule {
    Equal,
    Subset,
    Schema(Option<Box<Validator>>),
}

impl JsonRule {
    pub(super) fn read(kind: &str, settings: &Settings<'_>) -> Result<Self, Problem> {
        Ok(match kind {
            "json_equal" => JsonRule::Equal,
            "json_subset" => JsonRule::Subset,
            _ => {
                let validator = settings.any("schema").map(|schema| {
                    compiled(schema).map_err(|error| settings.fault("schema", format!("invalid JSON Schema: {error}")))
                });
                JsonRule::Schema(validator.transpose()?.map(Box::new))
            }
        })
    }

    pub(super) fn takes_reference(&self) -> bool {
        !matches!(self, JsonRule::Schema(Some(_)))
    }

    pub(super) fn score(&self, case: &Case<'_>, submission: &Submission) -> Verdict {
        let reference = case.reference.map(value_of);
        match (self, reference) {
            (JsonRule::Schema(Some(validator)), _) => validated(validator, submission),
            (JsonRule::Schema(None), Some(schema)) => match compiled(&schema) {
                Ok(validator) => validated(&validator, submission),
                Err(error) => Verdict::Error(format!("the reference is no valid JSON Schema: {error}")),
            },
            (JsonRule::Equal, Some(wanted)) => {
                let equal = submitted(submission) == wanted;
                Verdict::yes_or_no(equal, if equal { "the values are equal" } else { "the values differ" })
            }
            (JsonRule::Subset, Some(wanted)) => {
                let holds = is_subset(&wanted, &submitted(submission));
                Verdict::yes_or_no(holds, if holds { "the answer holds it" } else { "the answer does not hold it" })
            }
            (_, None) => Verdict::Unscored("no reference".to_owned()),
        }
    }
}

/// Whether a value has all that another one asks for: each key of a mapping, each element of a list (in any order, no
/// element counted twice), and equal values at the ends.
pub(crate) fn is_subset(wanted: &Value<'_>, given: &Value<'_>) -> bool {
    match (wanted, given) {
        (Value::Object(wanted), Value::Object(given)) => {
            wanted.iter().all(|(key, wanted)| given.get(key).is_some_and(|given| is_subset(wanted, given)))
        }
        (Value::Array(wanted), Value::Array(given)) => {
            let fits: Vec<Vec<bool>> =
                wanted.iter().map(|wanted| given.iter().map(|given| is_subset(wanted, given)).collect()).collect();
            let mut taken = vec![None; given.len()];
            (0..fits.len()).all(|element| place(element, &fits, &mut taken, &mut vec![false; given.len()]))
        }
        _ => wanted == given,
    }
}

/// Finds a partner for an element, moving those that can go elsewhere.
fn place(element: usize, fits: &[Vec<bool>], taken: &mut [Option<usize>], tried: &mut [bool]) -> bool {
    for candidate in 0..taken.len() {
        if !fits[element][candidate] || tried[candidate] {
            continue;
        }
        tried[candidate] = true;
        let free = taken[candidate].is_none_or(|other| place(other, fits, taken, tried));
        if free {
            taken[candidate] = Some(element);
            return true;
        }
    }
    false
}

fn submitted(submission: &Submission) -> Value<'static> {
    submission.value.clone().unwrap_or_else(|| json_of(&submission.text))
}

/// A reference that is JSON in a text is that JSON.
fn value_of(reference: &Value<'_>) -> Value<'static> {
    match reference {
        Value::String(text) => json_of(text),
        other => other.clone().into_owned(),
    }
}

fn compiled(schema: &Value<'_>) -> Result<Validator, String> {
    jsonschema::validator_for(&foreign(schema)).map_err(|error| error.to_string())
}

fn validated(validator: &Validator, submission: &Submission) -> Verdict {
    let value = match &submission.value {
        Some(value) => value.clone(),
        None => match json::read(strip(&submission.text)) {
            Ok(value) => value.into_owned(),
            Err(_) => return Verdict::score(0.0, "the answer is not JSON"),
        },
    };
    let value = foreign(&value);
    let first = validator.iter_errors(&value).next().map(|error| match error.instance_path().to_string() {
        path if path.is_empty() => error.to_string(),
        path => format!("{path}: {error}"),
    });
    match first {
        None => Verdict::score(1.0, "the answer fits the schema"),
        Some(error) => Verdict::score(0.0, error),
    }
}

fn foreign(value: &Value<'_>) -> serde_json::Value {
    serde_json::from_slice(&canonical::bytes(value)).unwrap_or(serde_json::Value::Null)
}
