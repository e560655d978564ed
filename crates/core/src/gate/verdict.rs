//! What a gate says, with the evidence for it.
//!
//! *Invariant:* a verdict holds numbers, names and labels, never the text of a record.

use super::Rule;
use super::bar::shown;
use super::measure::Measured;
use crate::number::Number;
use crate::value::{Object, Value};

/// The three answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The bar is met.
    Pass,
    /// The bar is missed.
    Fail,
    /// The evidence does not decide.
    Inconclusive,
}

/// What a gate says.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The answer.
    pub verdict: Answer,
    /// The value that was held against the bar; absent when there is none, as for joined rules.
    pub value: Option<f64>,
    /// How many scores there were; of joined rules the least.
    pub n: usize,
    /// Where the true value lies; absent when the scores cannot tell.
    pub interval: Option<(f64, f64)>,
    /// How the interval is made, or `point`.
    pub method: &'static str,
    /// Why, in one line for people.
    pub reason: String,
    /// How many planned cases have no score.
    pub unscored: usize,
    /// How many scores would decide, when it is inconclusive and more would.
    pub needed_n: Option<u64>,
    /// The label and its value that this is about, none when cases lack the label.
    pub label: Option<(String, Option<String>)>,
    /// The verdicts of the rules that are joined here.
    pub children: Vec<Verdict>,
    /// The rule.
    pub rule: Value<'static>,
}

impl Answer {
    /// The name that it is written by.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Pass => "pass",
            Answer::Fail => "fail",
            Answer::Inconclusive => "inconclusive",
        }
    }
}

impl Verdict {
    /// A verdict without numbers.
    pub(super) fn bare(rule: &Rule, verdict: Answer, method: &'static str, reason: String) -> Self {
        Verdict {
            verdict,
            value: None,
            n: 0,
            interval: None,
            method,
            reason,
            unscored: 0,
            needed_n: None,
            label: None,
            children: Vec::new(),
            rule: rule.to_value(),
        }
    }

    /// The same verdict with what was measured.
    pub(super) fn measured(self, measured: &Measured) -> Self {
        let Measured { value, n, interval, method, .. } = measured;
        Verdict { value: Some(*value), n: *n, interval: *interval, method, ..self }
    }

    /// The verdict as a value: `verdict`, `value`, `n`, `interval`, `method`, `rule`, `reason`, `unscored`, `needed_n`,
    /// and, where they apply, `label` and `conditions`.
    pub fn to_value(&self) -> Value<'static> {
        let mut object = Object::new();
        object.set("verdict", self.verdict.name().into());
        object.set("value", self.value.map_or(Value::Null, double));
        object.set("n", count(self.n as u64));
        let interval = self.interval.map(|(low, high)| Value::Array(vec![double(low), double(high)]));
        object.set("interval", interval.unwrap_or(Value::Null));
        object.set("method", self.method.into());
        object.set("rule", self.rule.clone());
        object.set("reason", self.reason.clone().into());
        object.set("unscored", count(self.unscored as u64));
        object.set("needed_n", self.needed_n.map_or(Value::Null, count));
        if let Some((label, value)) = &self.label {
            let value = value.clone().map_or(Value::Null, Value::from);
            object.set("label", Value::Object([(label.clone().into(), value)].into_iter().collect()));
        }
        if !self.children.is_empty() {
            object.set("conditions", Value::Array(self.children.iter().map(Verdict::to_value).collect()));
        }
        object.into()
    }
}

/// What was measured, in the words of a reason.
pub(super) fn told(what: &str, measured: &Measured) -> String {
    let Measured { value, n, interval, .. } = measured;
    let scores = if *n == 1 { "1 score" } else { &format!("{n} scores") };
    let interval = interval.map(|(low, high)| format!(", 95 % interval {} to {}", shown(low), shown(high)));
    format!("{what} is {} ({scores}{})", shown(*value), interval.unwrap_or_default())
}

pub(super) fn double(number: f64) -> Value<'static> {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

pub(super) fn count(number: u64) -> Value<'static> {
    Value::Number(Number::from_u64(number))
}
