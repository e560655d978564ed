//! Sets: the same elements in any order.
//!
//! *Invariant:* an element counts once, however often it is named.

use std::collections::BTreeSet;

use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::value::Value;

use super::Verdict;
use crate::case::{Case, Submission};
use crate::settings::Settings;
use crate::text::{lower, strip, text_of};

/// Compares two sets of texts.
#[derive(Debug)]
pub(crate) struct SetMatch {
    separator: Option<String>,
    partial: bool,
    ignore_case: bool,
}

impl SetMatch {
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, Problem> {
        let separator = settings.text("separator")?;
        if separator.as_deref() == Some("") {
            return Err(settings.fault("separator", "`separator` must not be empty"));
        }
        let partial = settings.word("mode", &["exact", "f1"])? == "f1";
        Ok(SetMatch { separator, partial, ignore_case: settings.flag("ignore_case")? })
    }

    pub(super) fn score(&self, case: &Case<'_>, submission: &Submission) -> Verdict {
        let Some(reference) = case.reference else { return Verdict::Unscored("no reference".to_owned()) };
        let wanted = self.elements(reference);
        let said = match &submission.value {
            Some(value) => self.elements(value),
            None => self.elements(&Value::from(submission.text.as_str())),
        };
        let shared = wanted.intersection(&said).count();
        let (missing, extra) = (wanted.len() - shared, said.len() - shared);
        let rationale = format!("{shared} of {} found, {missing} missing, {extra} more", wanted.len());
        if !self.partial {
            return Verdict::yes_or_no(missing == 0 && extra == 0, rationale);
        }
        let total = wanted.len() + said.len();
        Verdict::score(if total == 0 { 1.0 } else { 2.0 * shared as f64 / total as f64 }, rationale)
    }

    /// The elements of a list, of a list in a text, or of a text that is cut at its separators.
    fn elements(&self, value: &Value<'_>) -> BTreeSet<String> {
        match value {
            Value::Array(items) => items.iter().map(|item| self.element(&text_of(item))).collect(),
            Value::String(text) => match json::read(strip(text)) {
                Ok(list @ Value::Array(_)) => self.elements(&list),
                _ => self.cut(text),
            },
            other => BTreeSet::from([self.element(&text_of(other))]),
        }
    }

    fn cut(&self, text: &str) -> BTreeSet<String> {
        let parts: Vec<&str> = match &self.separator {
            Some(separator) => text.split(separator.as_str()).collect(),
            None => text.split([',', '\n']).collect(),
        };
        parts.into_iter().map(|part| self.element(part)).filter(|part| !part.is_empty()).collect()
    }

    fn element(&self, text: &str) -> String {
        let text = strip(text);
        if self.ignore_case { lower(text) } else { text.to_owned() }
    }
}
