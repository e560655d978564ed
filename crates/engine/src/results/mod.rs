//! The results of a run, row by row: one for each record, scenario and repeat.
//!
//! *Invariant:* what is computed from sealed fields (outcome, scores, rationales) lies under `evaluator_only`, all else
//! of a row under `internal`; nothing of it is open.

mod columns;
#[cfg(test)]
pub(crate) mod made_up;
mod read;
mod write;

pub use read::{RunResults, all_runs, find_run, must_see_scores, too_many_errors};
pub(crate) use write::{Writer, balance_words, begin, finish, sealed, sealed_configs};

use heldset_core::value::{Object, Value};

/// One planned session and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number in the plan.
    pub number: u64,
    /// The record.
    pub record_id: String,
    /// The leaf of the record, in hex: equal content has equal leaves.
    pub leaf: String,
    /// The scenario.
    pub scenario: String,
    /// Which repetition, from 0.
    pub repeat: u64,
    /// The run key, in hex.
    pub run_key: String,
    /// How it ended.
    pub outcome: RowOutcome,
    /// Why there is no score, if there is none.
    pub reason: Option<String>,
    /// How the agent failed, if it did: a stable word, then what happened.
    pub failure: Option<String>,
    /// What the agent answered at last.
    pub output: Option<Value<'static>>,
    /// All that happened, when that is more than the one answer: `core::trace::Trace` as a value.
    pub trace: Option<Value<'static>>,
    /// What each grader says, in the order of the plan.
    pub scores: Vec<Score>,
    /// How long it waited to begin.
    pub queue_ms: f64,
    /// How long it took.
    pub run_ms: f64,
    /// How long models took.
    pub model_ms: f64,
    /// Tokens and cost, as a mapping.
    pub usage: Option<Value<'static>>,
    /// How often something was tried again.
    pub retries: u64,
    /// The run whose result this is, if it was used again.
    pub cached: Option<String>,
    /// The id of the session.
    pub session_id: String,
    /// The category of the record.
    pub category: Option<String>,
    /// The labels of the record.
    pub labels: Object<'static>,
}

/// What one grader says of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The name of the grader.
    pub name: String,
    /// The score, if there is one.
    pub score: Option<f64>,
    /// Whether it passes, if there is a score.
    pub pass: Option<bool>,
    /// Why there is no score: starts with `unscored: ` or `error: `.
    pub problem: Option<String>,
    /// Why the score is what it is.
    pub rationale: Option<String>,
    /// More: turns, verdicts of outcomes, strategies, votes.
    pub details: Option<Value<'static>>,
    /// The score key, in hex.
    pub key: String,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowOutcome {
    /// Scored, and every score passes.
    Pass,
    /// Scored, and some score does not pass.
    Fail,
    /// The agent, an extractor, a grader or a judge failed.
    Error,
    /// Nobody could score it.
    Unscored,
    /// Not attempted.
    Skipped,
}

impl RowOutcome {
    /// Every outcome with its name.
    pub const ALL: [(RowOutcome, &'static str); 5] = [
        (RowOutcome::Pass, "pass"),
        (RowOutcome::Fail, "fail"),
        (RowOutcome::Error, "error"),
        (RowOutcome::Unscored, "unscored"),
        (RowOutcome::Skipped, "skipped"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }

    /// The outcome of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(outcome, _)| *outcome)
    }
}
