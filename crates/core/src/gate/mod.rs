//! Gates: rules over scores, and their verdicts with evidence.
//!
//! *Invariant:* what is not scored is never counted as 0; a verdict names the data and the rule behind it; without any
//! score nothing passes.

mod bar;
mod decide;
mod evidence;
mod measure;
mod members;
mod needed;
mod read;
mod regression;
mod verdict;
mod write;

use crate::fault::Problem;
use crate::path::Path;
use crate::value::Value;

pub use bar::{Bar, Decide, Op};
pub use decide::{MAX_UNSCORED_PERCENT, decide};
pub use evidence::{Case, Evidence, Score};
pub use measure::Aggregation;
pub use verdict::{Answer, Verdict};

/// What decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// How.
    pub kind: Kind,
    /// Fewer scores than this decide nothing.
    pub min_n: Option<u64>,
}

/// How a rule decides.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// One metric against a bar.
    Simple(Simple),
    /// Several metrics, weighted, against a bar.
    WeightedAverage(WeightedAverage),
    /// Several rules, joined.
    Logical(Logical),
    /// One metric against the same metric of another run.
    Regression(Regression),
    /// How much is scored at all.
    Coverage(Coverage),
    /// One rule for each value of a label.
    PerLabel(PerLabel),
}

/// One metric against a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Simple {
    /// The grader whose scores are meant; the first one when absent.
    pub metric_key: Option<String>,
    /// What becomes of its scores.
    pub aggregation: Aggregation,
    /// The score from which a case passes.
    pub pass_threshold: f64,
    /// What is asked of the value.
    pub bar: Bar,
}

/// Several metrics, weighted, against a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedAverage {
    /// What becomes of the scores of each.
    pub aggregation: Aggregation,
    /// The weight of each; together more than 0, in any unit.
    pub weights: Vec<(String, f64)>,
    /// The score from which a case passes.
    pub pass_threshold: f64,
    /// What is asked of the value.
    pub bar: Bar,
}

/// Several rules, joined.
#[derive(Clone, Debug, PartialEq)]
pub struct Logical {
    /// All of them, or one of them.
    pub operator: Join,
    /// The rules; at least one.
    pub conditions: Vec<Rule>,
}

/// How rules are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// All must pass.
    And,
    /// One must pass.
    Or,
}

/// One metric against the same metric of another run, record by record.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// The grader whose scores are meant; the first one when absent.
    pub metric_key: Option<String>,
    /// Of each score: itself, or whether it passes.
    pub aggregation: Aggregation,
    /// The score from which a case passes.
    pub pass_threshold: f64,
    /// The other run; given from outside when absent.
    pub baseline: Option<String>,
    /// How much worse is still fine; not negative.
    pub margin: f64,
    /// `gte` when more is better, `lte` when less is.
    pub op: Op,
    /// Whether the interval decides or the plain difference.
    pub decide: Decide,
}

/// How much is scored at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// The grader whose scores are meant; the first one when absent.
    pub metric_key: Option<String>,
    /// The least share of planned cases that must have a score, from 0 to 1.
    pub min: f64,
}

/// One rule for each value of a label.
#[derive(Clone, Debug, PartialEq)]
pub struct PerLabel {
    /// The label: `category`, or a name among the labels of a case.
    pub label: String,
    /// The values that are asked; every value that occurs when absent, none included.
    pub values: Option<Vec<String>>,
    /// What must hold for each.
    pub rule: Box<Rule>,
}

impl Rule {
    /// The rule that a value is.
    pub fn from_value(value: &Value<'_>, at: &Path) -> Result<Rule, Problem> {
        read::read(value, at)
    }

    /// The rule as a value that reads back to the same rule.
    pub fn to_value(&self) -> Value<'static> {
        write::write(self)
    }

    /// The names of metrics that it asks for, so that a plan can be checked before it is run.
    pub fn metrics(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Simple(rule) => key_of(&rule.metric_key),
            Kind::WeightedAverage(rule) => rule.weights.iter().map(|(name, _)| name.as_str()).collect(),
            Kind::Logical(rule) => rule.conditions.iter().flat_map(Rule::metrics).collect(),
            Kind::Regression(rule) => key_of(&rule.metric_key),
            Kind::Coverage(rule) => key_of(&rule.metric_key),
            Kind::PerLabel(rule) => rule.rule.metrics(),
        }
    }

    /// Whether it compares with another run, and the run that it names for that.
    pub fn baseline(&self) -> Option<Option<&str>> {
        match &self.kind {
            Kind::Regression(rule) => Some(rule.baseline.as_deref()),
            Kind::Logical(rule) => rule.conditions.iter().filter_map(Rule::baseline).max(),
            Kind::PerLabel(rule) => rule.rule.baseline(),
            Kind::Simple(_) | Kind::WeightedAverage(_) | Kind::Coverage(_) => None,
        }
    }
}

fn key_of(key: &Option<String>) -> Vec<&str> {
    key.iter().map(String::as_str).collect()
}
