//! Rules: how a submission, or what an agent did, becomes a score.
//!
//! *Invariant:* a wrong answer scores 0 with a reason; what cannot be scored is `Unscored` or `Error`, never 0.

mod budget;
mod custom;
mod json;
mod numeric;
mod retrieval;
mod set;
mod similarity;
mod texts;
mod tools;

use heldset_core::fault::Problem;
use heldset_core::value::{Object, Value};

use crate::case::{Case, Submission};
use crate::judge::{Outcomes, Rubric};
use crate::settings::Settings;
use crate::{Answer, Ask};

pub(crate) use json::is_subset;

/// A configured rule.
#[derive(Debug)]
pub(crate) enum Rule {
    Text(texts::TextRule),
    Numeric(numeric::Numeric),
    Json(json::JsonRule),
    Set(set::SetMatch),
    Similarity(similarity::Similarity),
    Tools(tools::ToolRule),
    Budget(budget::Budget),
    Retrieval(retrieval::Retrieval),
    Custom(custom::Custom),
    Rubric(Box<Rubric>),
    Outcomes(Box<Outcomes>),
}

/// What a rule comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Score { score: f64, rationale: Option<String>, details: Option<Object<'static>> },
    Unscored(String),
    Error(String),
}

/// A verdict, or what must be asked first.
#[derive(Debug)]
pub(crate) enum Next {
    Done(Verdict),
    Ask(Vec<Ask>),
}

impl Rule {
    /// The rule of that kind; absent when there is none.
    pub(crate) fn read(kind: &str, settings: &Settings<'_>, compat: bool) -> Result<Option<Rule>, Problem> {
        Ok(Some(match kind {
            "exact_match" | "contains" | "regex_match" | "ascii_printable_only" => {
                Rule::Text(texts::TextRule::read(kind, settings, compat)?)
            }
            "numeric" => Rule::Numeric(numeric::Numeric::read(settings)?),
            "json_equal" | "json_subset" | "json_schema" => Rule::Json(json::JsonRule::read(kind, settings)?),
            "set_match" => Rule::Set(set::SetMatch::read(settings)?),
            "similarity" => Rule::Similarity(similarity::Similarity::read(settings)?),
            "tool_called" | "tool_arguments" | "tool_order" | "max_tool_calls" => {
                Rule::Tools(tools::ToolRule::read(kind, settings)?)
            }
            "latency" | "tokens" => Rule::Budget(budget::Budget::read(kind, settings)?),
            "retrieval" => Rule::Retrieval(retrieval::Retrieval::read(settings)?),
            "command" | "http" | "python" | "custom" => Rule::Custom(custom::Custom::read(kind, settings)?),
            "rubric" | "model_judge" | "letta_judge" => Rule::Rubric(Box::new(Rubric::read(kind, settings)?)),
            "outcomes" => Rule::Outcomes(Box::new(Outcomes::read(settings)?)),
            _ => return Ok(None),
        }))
    }

    /// Scores, or asks.
    pub(crate) fn start(&self, case: &Case<'_>, submission: &Submission, compat: bool) -> Next {
        Next::Done(match self {
            Rule::Text(rule) => rule.score(case, submission, compat),
            Rule::Numeric(rule) => rule.score(case, submission),
            Rule::Json(rule) => rule.score(case, submission),
            Rule::Set(rule) => rule.score(case, submission),
            Rule::Similarity(rule) => return rule.start(case, submission),
            Rule::Tools(rule) => rule.score(case),
            Rule::Budget(rule) => rule.score(case),
            Rule::Retrieval(rule) => rule.score(case),
            Rule::Custom(rule) => return Next::Ask(vec![rule.ask(case, submission)]),
            Rule::Rubric(rule) => return rule.start(case, submission),
            Rule::Outcomes(rule) => return rule.start(case),
        })
    }

    /// Goes on with the answers to all that was asked.
    pub(crate) fn finish(&self, case: &Case<'_>, answers: Vec<Answer>) -> Verdict {
        match self {
            Rule::Similarity(_) => similarity::finish(answers),
            Rule::Custom(_) => custom::finish(answers),
            Rule::Rubric(rule) => rule.finish(answers),
            Rule::Outcomes(rule) => rule.finish(case, answers),
            _ => Verdict::Error("an answer that nobody asked for".to_owned()),
        }
    }

    /// Whether it looks at what the agent said, through an extractor.
    pub(crate) fn reads_output(&self) -> bool {
        !matches!(self, Rule::Tools(_) | Rule::Budget(_) | Rule::Retrieval(_) | Rule::Outcomes(_))
    }

    /// Whether it cannot do without a reference.
    pub(crate) fn takes_reference(&self) -> bool {
        match self {
            Rule::Text(rule) => rule.takes_reference(),
            Rule::Json(rule) => rule.takes_reference(),
            Rule::Tools(rule) => rule.takes_reference(),
            Rule::Retrieval(rule) => rule.takes_reference(),
            Rule::Numeric(_) | Rule::Set(_) | Rule::Similarity(_) => true,
            Rule::Budget(_) | Rule::Custom(_) | Rule::Rubric(_) | Rule::Outcomes(_) => false,
        }
    }

    /// The fields where its reference is, the first that is there.
    pub(crate) fn usual(&self) -> &'static [&'static str] {
        match self {
            Rule::Retrieval(_) => &["expected_sources", "metadata.expected_sources"],
            Rule::Tools(tools::ToolRule::Order { .. }) => &["expected_trajectory", "expected_output"],
            _ => &["expected_output"],
        }
    }

    /// Whether it grades turn by turn when each turn has an answer of its own. What is about the session as a whole,
    /// and has nothing to compare with such an answer, does not.
    pub(crate) fn grades_turns(&self) -> bool {
        match self {
            Rule::Retrieval(_) | Rule::Budget(_) | Rule::Outcomes(_) => false,
            Rule::Tools(rule) => rule.takes_reference(),
            _ => true,
        }
    }

    /// What is wrong with a case before anything is run, its reference being there.
    pub(crate) fn problem(&self, fields: &Object<'_>, reference: Option<&Value<'_>>, compat: bool) -> Option<String> {
        match self {
            Rule::Text(rule) => rule.problem(reference, compat),
            Rule::Numeric(_) => numeric::problem(reference?),
            Rule::Rubric(rule) => rule.problem(fields),
            Rule::Outcomes(_) => crate::judge::outcomes_problem(fields),
            _ => None,
        }
    }
}

impl Verdict {
    /// A score with its reason.
    pub(crate) fn score(score: f64, rationale: impl Into<String>) -> Verdict {
        Verdict::Score { score, rationale: Some(rationale.into()), details: None }
    }

    /// All or nothing.
    pub(crate) fn yes_or_no(yes: bool, rationale: impl Into<String>) -> Verdict {
        Verdict::score(if yes { 1.0 } else { 0.0 }, rationale)
    }
}
