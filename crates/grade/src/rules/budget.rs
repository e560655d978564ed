//! Budgets: time and tokens of a session.
//!
//! *Invariant:* what is not known is unscored, not within the budget.

use heldset_core::fault::Problem;
use heldset_core::trace::Usage;

use super::Verdict;
use crate::case::Case;
use crate::settings::Settings;

/// A limit on what a session may take.
#[derive(Debug)]
pub(crate) enum Budget {
    Latency { max_ms: f64 },
    Tokens { max: u64 },
}

impl Budget {
    pub(super) fn read(kind: &str, settings: &Settings<'_>) -> Result<Self, Problem> {
        Ok(match kind {
            "latency" => {
                Budget::Latency { max_ms: settings.amount("max_ms")?.ok_or_else(|| settings.lacks("max_ms"))? }
            }
            _ => Budget::Tokens { max: settings.count("max")?.ok_or_else(|| settings.lacks("max"))? },
        })
    }

    pub(super) fn score(&self, case: &Case<'_>) -> Verdict {
        match self {
            Budget::Latency { max_ms } => {
                let elapsed: f64 = case.turns.iter().map(|turn| turn.elapsed_ms).sum();
                Verdict::yes_or_no(elapsed <= *max_ms, format!("{elapsed:.1} ms, at most {max_ms} ms"))
            }
            Budget::Tokens { max } => {
                let usage = case.turns.iter().fold(Usage::default(), |sum, turn| sum.plus(turn.usage));
                if usage.input_tokens.is_none() && usage.output_tokens.is_none() {
                    return Verdict::Unscored("the agent reports no tokens".to_owned());
                }
                let total = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
                Verdict::yes_or_no(total <= *max, format!("{total} tokens, at most {max}"))
            }
        }
    }
}
