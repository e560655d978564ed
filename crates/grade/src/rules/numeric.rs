//! Numbers, within a tolerance.
//!
//! *Invariant:* without a tolerance whole numbers are compared exactly, however long.

use std::sync::LazyLock;

use heldset_core::fault::Problem;
use heldset_core::value::Value;
use regex::Regex;

use super::Verdict;
use crate::case::{Case, Submission};
use crate::settings::Settings;
use crate::text::{strip, text_of};

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
        .expect("the pattern of a number is fixed and valid")
});

/// Compares the number in the answer with that of the reference.
#[derive(Debug)]
pub(crate) struct Numeric {
    tolerance: f64,
    relative: f64,
}

/// A number as it was written.
#[derive(Debug, PartialEq)]
struct Written {
    exact: Option<i128>,
    near: f64,
}

impl Numeric {
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, Problem> {
        let tolerance = settings.amount("tolerance")?.unwrap_or(0.0);
        Ok(Numeric { tolerance, relative: settings.amount("relative")?.unwrap_or(0.0) })
    }

    pub(super) fn score(&self, case: &Case<'_>, submission: &Submission) -> Verdict {
        let Some(wanted) = case.reference.and_then(whole) else {
            return Verdict::Unscored("the reference is not a number".to_owned());
        };
        let Some(said) = last(&submission.text) else { return Verdict::score(0.0, "the answer has no number") };
        let equal = self.equal(&said, &wanted);
        let word = if equal { "is" } else { "is not" };
        Verdict::yes_or_no(equal, format!("{} {word} {} within the tolerance", said.near, wanted.near))
    }

    fn equal(&self, said: &Written, wanted: &Written) -> bool {
        let allowed = self.tolerance.max(self.relative * wanted.near.abs());
        if allowed == 0.0 {
            return match (said.exact, wanted.exact) {
                (Some(said), Some(wanted)) => said == wanted,
                _ => said.near == wanted.near,
            };
        }
        // A difference of decimals is rarely exact: 3.15 - 3.14 is a little more than 0.01.
        let slack = 1e-12 * said.near.abs().max(wanted.near.abs()).max(allowed);
        (said.near - wanted.near).abs() <= allowed + slack
    }
}

/// Why a reference is of no use.
pub(super) fn problem(reference: &Value<'_>) -> Option<String> {
    whole(reference).is_none().then(|| "the reference is not a number".to_owned())
}

/// The number that a reference is, when it is nothing but that.
fn whole(reference: &Value<'_>) -> Option<Written> {
    if !matches!(reference, Value::String(_) | Value::Number(_)) {
        return None;
    }
    let text = plain(&text_of(reference));
    let text = strip(&text).trim_end_matches(['.', '%']).trim_start_matches(['$', '€', '£']);
    let found = NUMBER.find(text)?;
    (found.as_str() == text).then(|| written(text)).flatten()
}

/// The last number of an answer: the answer itself when it is one.
fn last(text: &str) -> Option<Written> {
    let text = plain(text);
    let found = NUMBER.find_iter(&text).last()?;
    let before = text[..found.start()].chars().next_back();
    let literal = found.as_str();
    // A hyphen after a word or number joins or subtracts; it is no sign.
    let joined = before.is_some_and(char::is_alphanumeric);
    written(if joined { literal.trim_start_matches(['-', '+']) } else { literal })
}

fn plain(text: &str) -> String {
    text.replace(['\u{2212}', '\u{2013}'], "-")
}

fn written(literal: &str) -> Option<Written> {
    let literal = literal.replace(',', "");
    let near: f64 = literal.parse().ok()?;
    near.is_finite().then(|| Written { exact: literal.parse().ok(), near })
}
