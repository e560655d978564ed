//! The four rules on text, as Letta has them.
//!
//! *Invariant:* for text answers and text references the scores are those of the released functions.

use heldset_core::fault::Problem;
use heldset_core::value::Value;

use super::Verdict;
use crate::case::{Case, Submission};
use crate::pattern::Pattern;
use crate::settings::Settings;
use crate::text::{lower, strip, text_of};

/// A rule on text.
#[derive(Debug)]
pub(crate) enum TextRule {
    Exact { ignore_case: bool },
    Contains { ignore_case: bool },
    Regex { pattern: Option<Box<Pattern>> },
    Ascii,
}

impl TextRule {
    pub(super) fn read(kind: &str, settings: &Settings<'_>, compat: bool) -> Result<Self, Problem> {
        Ok(match kind {
            "exact_match" => TextRule::Exact { ignore_case: settings.flag("ignore_case")? },
            "contains" => TextRule::Contains { ignore_case: !settings.flag("case_sensitive")? },
            "regex_match" => {
                let pattern = settings.text("pattern")?.map(|text| {
                    let invalid = |error| settings.fault("pattern", format!("`{text}` is no valid pattern: {error}"));
                    Pattern::new(&text, compat).map_err(invalid)
                });
                TextRule::Regex { pattern: pattern.transpose()?.map(Box::new) }
            }
            _ => TextRule::Ascii,
        })
    }

    pub(super) fn takes_reference(&self) -> bool {
        !matches!(self, TextRule::Ascii | TextRule::Regex { pattern: Some(_) })
    }

    pub(super) fn score(&self, case: &Case<'_>, submission: &Submission, compat: bool) -> Verdict {
        if compat && self.takes_reference() && !matches!(case.reference, Some(Value::String(_))) {
            return Verdict::Error("the reference is not text".to_owned());
        }
        let reference = case.reference.map(text_of).unwrap_or_default();
        let text = &submission.text;
        match self {
            TextRule::Exact { ignore_case } => {
                let (mut said, mut wanted) = (strip(text).to_owned(), strip(&reference).to_owned());
                if *ignore_case {
                    (said, wanted) = (lower(&said), lower(&wanted));
                }
                Verdict::yes_or_no(
                    said == wanted,
                    if said == wanted { "the answer matches" } else { "the answer differs" },
                )
            }
            TextRule::Contains { ignore_case } => {
                let found = match ignore_case {
                    true => lower(text).contains(&lower(&reference)),
                    false => text.contains(&reference),
                };
                Verdict::yes_or_no(
                    found,
                    if found { "the answer contains it" } else { "the answer does not contain it" },
                )
            }
            TextRule::Regex { pattern: Some(pattern) } => searched(pattern, text),
            TextRule::Regex { pattern: None } => match Pattern::new(&reference, compat) {
                Ok(pattern) => searched(&pattern, text),
                Err(error) if compat => Verdict::score(0.0, format!("invalid pattern: {error}")),
                Err(error) => Verdict::Error(format!("the reference is no valid pattern: {error}")),
            },
            TextRule::Ascii => printable(text),
        }
    }

    pub(super) fn problem(&self, reference: Option<&Value<'_>>, compat: bool) -> Option<String> {
        match self {
            TextRule::Regex { pattern: None } if !compat => {
                let error = Pattern::new(&text_of(reference?), compat).err()?;
                Some(format!("the reference is no valid pattern: {error}"))
            }
            _ => None,
        }
    }
}

fn searched(pattern: &Pattern, text: &str) -> Verdict {
    match pattern.is_match(text) {
        Ok(true) => Verdict::score(1.0, "the pattern matches"),
        Ok(false) => Verdict::score(0.0, "the pattern does not match"),
        Err(failure) => Verdict::Error(failure),
    }
}

/// Code points 32 to 126; line ends are not looked at.
fn printable(text: &str) -> Verdict {
    let other = text.chars().find(|character| !matches!(character, ' '..='~' | '\n' | '\r'));
    match other {
        None => Verdict::score(1.0, "all characters are printable ASCII"),
        Some(other) => Verdict::score(0.0, format!("U+{:04X} is not printable ASCII", u32::from(other))),
    }
}
