//! A summary as a value, for programs and for the store.
//!
//! *Invariant:* the names are a promise: more may come, none goes.

use heldset_core::gate::Verdict;
use heldset_core::number::Number;
use heldset_core::statistics::Estimate;
use heldset_core::value::{Object, Value};
use heldset_store::run::BalanceDoc;

use super::{Group, Metric, Outcomes, Spread, Summary, Tries};
use crate::results::RowOutcome;

impl Summary {
    /// The whole summary.
    pub fn to_value(&self) -> Value<'static> {
        let groups = |groups: &[Group]| Value::Array(groups.iter().map(Group::to_value).collect());
        members([
            ("primary", self.primary.clone().map_or(Value::Null, Value::from)),
            ("balance", balance(&self.balance)),
            ("cached", count(self.cached)),
            ("outcomes", self.outcomes.to_value()),
            ("scores", self.scores()),
            ("scenarios", groups(&self.scenarios)),
            ("categories", groups(&self.categories)),
            ("labels", groups(&self.labels)),
            ("latency_ms", self.latency.map_or(Value::Null, Spread::to_value)),
            ("usage", self.usage.to_value()),
            ("gate", self.verdict.as_ref().map_or(Value::Null, Verdict::to_value)),
        ])
    }

    /// Every metric by its name.
    pub fn scores(&self) -> Value<'static> {
        scores(&self.metrics)
    }
}

impl Group {
    /// The group.
    pub fn to_value(&self) -> Value<'static> {
        members([
            ("name", self.name.clone().into()),
            ("rows", count(self.outcomes.total())),
            ("outcomes", self.outcomes.to_value()),
            ("scores", scores(&self.metrics)),
            ("latency_ms", self.latency.map_or(Value::Null, Spread::to_value)),
        ])
    }
}

impl Outcomes {
    /// How many of each.
    pub fn to_value(&self) -> Value<'static> {
        let named = RowOutcome::ALL.iter().map(|(outcome, name)| ((*name).into(), count(self.count(*outcome))));
        Value::Object(named.collect())
    }
}

impl Metric {
    /// The metric without its name.
    pub fn to_value(&self) -> Value<'static> {
        let mut metric = estimate_members(&self.scores);
        metric.set("pass_rate", estimate(&self.passes));
        for (name, number) in [("unscored", self.unscored), ("errors", self.errors), ("skipped", self.skipped)] {
            metric.set(name, count(number));
        }
        if let Some(spread) = self.spread {
            spread.members().into_iter().for_each(|(name, value)| metric.set(name, value));
        }
        if !self.tries.is_empty() {
            metric.set("tries", Value::Array(self.tries.iter().map(Tries::to_value).collect()));
        }
        metric.into()
    }
}

impl Spread {
    /// The spread.
    pub fn to_value(self) -> Value<'static> {
        self.members().into()
    }

    fn members(self) -> Object<'static> {
        let named = [("min", self.min), ("median", self.median), ("p95", self.p95), ("max", self.max)];
        named.into_iter().map(|(name, value)| (name.into(), number(value))).collect()
    }
}

impl Tries {
    fn to_value(&self) -> Value<'static> {
        members([
            ("k", count(self.k)),
            ("pass_at_k", estimate(&self.pass_at)),
            ("pass_hat_k", estimate(&self.pass_all)),
        ])
    }
}

/// An estimate: `n`, `mean`, `interval`, `method`.
pub(crate) fn estimate(estimate: &Estimate) -> Value<'static> {
    estimate_members(estimate).into()
}

fn estimate_members(estimate: &Estimate) -> Object<'static> {
    let mut members = Object::new();
    members.set("n", count(estimate.n as u64));
    members.set("mean", if estimate.n == 0 { Value::Null } else { number(estimate.mean) });
    members.set("interval", interval(estimate.interval));
    members.set("method", estimate.method.into());
    members
}

/// A balance.
pub(crate) fn balance(balance: &BalanceDoc) -> Value<'static> {
    members([
        ("planned", count(balance.planned)),
        ("scored", count(balance.scored)),
        ("unscored", count(balance.unscored)),
        ("error", count(balance.error)),
        ("skipped", count(balance.skipped)),
    ])
}

/// A mapping of these.
pub(crate) fn members<const N: usize>(members: [(&'static str, Value<'static>); N]) -> Value<'static> {
    Value::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// A number; null when it is none.
pub(crate) fn number(value: f64) -> Value<'static> {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// A number, or null.
pub(crate) fn optional(value: Option<f64>) -> Value<'static> {
    value.map_or(Value::Null, number)
}

/// A count.
pub(crate) fn count(value: u64) -> Value<'static> {
    Value::Number(Number::from_u64(value))
}

/// An interval, or null.
pub(crate) fn interval(interval: Option<(f64, f64)>) -> Value<'static> {
    interval.map_or(Value::Null, |(low, high)| Value::Array(vec![number(low), number(high)]))
}

/// A number with few digits, for people.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn scores(metrics: &[Metric]) -> Value<'static> {
    Value::Object(metrics.iter().map(|metric| (metric.name.clone().into(), metric.to_value())).collect())
}
