//! Judges: their prompts, and the strict reading of their answers.
//!
//! *Invariant:* the agent's text reaches a judge only fenced and marked as data; an answer off the schema is unscored;
//! scores and verdicts are computed here, not by the model.

mod answer;
mod checks;
pub(crate) mod endpoint;
mod fence;
mod outcomes;
mod rubric;
mod template;
mod votes;

pub(crate) use outcomes::{Outcomes, problem as outcomes_problem};
pub(crate) use rubric::Rubric;

/// The number of the rules by which prompts are made and answers are read; a part of a judge's identity.
pub(crate) const PARSER: i64 = 1;
