//! Deterministic graders, extractors, and the two pure halves of a judge: its prompt and the reading of its answer.
//!
//! *Invariant:* no network, no disk: what must be asked of somebody else comes out as an [`Ask`] and goes in as its
//! answer. A failure is never a score.

mod ask;
mod case;
mod configure;
mod conform;
mod extract;
mod grader;
mod grading;
mod judge;
mod pattern;
mod rules;
mod settings;
mod text;

pub use ask::{Answer, Ask, Move, Pending};
pub use configure::{KINDS, default_graders};
pub use conform::Conform;
pub use grader::Grader;

use heldset_core::trace::Trace;
use heldset_core::value::{Object, Value};

/// What a grader sees of a case, and of what the agent did with it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// The id of the record.
    pub id: &'s str,
    /// All its fields, as an evaluator sees them.
    pub fields: &'s Object<'s>,
    /// What the agent did.
    pub trace: &'s Trace,
}

/// What a grader comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// The outcome.
    pub outcome: Scored,
    /// Why.
    pub rationale: Option<String>,
    /// What was extracted and graded.
    pub submission: Option<String>,
    /// More: per-turn scores, verdicts of outcomes, improvement strategies, votes, usage of judges.
    pub details: Option<Value<'static>>,
}

/// A score, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Scored {
    /// From 0 to 1; and whether that passes by the grader's own threshold (default: 1 and above).
    Score {
        /// The score.
        score: f64,
        /// Whether it passes.
        pass: bool,
    },
    /// There is none, and nobody is at fault: no reference, no grader, a judge off its schema.
    Unscored(String),
    /// An extractor or grader failed.
    Error(String),
}
