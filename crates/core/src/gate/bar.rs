//! A bar, and on which side of it a value or an interval lies.
//!
//! *Invariant:* an interval that touches both sides is inconclusive, never rounded to one of them.

use super::verdict::Answer;

/// What is asked of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// How it is compared.
    pub op: Op,
    /// With what.
    pub value: f64,
    /// Whether the interval decides or the plain value.
    pub decide: Decide,
}

/// How a value is compared with a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Op {
    Gt,
    Gte,
    Lt,
    Lte,
    Eq,
}

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decide {
    /// The interval: all of it must lie on one side.
    Interval,
    /// The plain value.
    Point,
}

/// Sums of decimals are a few units of the last digit off; that may not decide.
const ROUNDING: f64 = 1e-12;

impl Bar {
    /// The answer for a value and its interval, if it has one.
    pub(super) fn judge(&self, value: f64, interval: Option<(f64, f64)>) -> Answer {
        let (low, high) = match (self.decide, interval) {
            _ if self.op == Op::Eq => (value, value),
            (Decide::Point, _) => (value, value),
            (Decide::Interval, Some(interval)) => interval,
            (Decide::Interval, None) => return Answer::Inconclusive,
        };
        match (self.holds(low), self.holds(high)) {
            (true, true) => Answer::Pass,
            (false, false) => Answer::Fail,
            _ => Answer::Inconclusive,
        }
    }

    /// Whether a plain value is on the good side.
    pub(super) fn holds(&self, value: f64) -> bool {
        let slack = ROUNDING * self.value.abs().max(1.0);
        match self.op {
            Op::Gt => value > self.value + slack,
            Op::Gte => value >= self.value - slack,
            Op::Lt => value < self.value - slack,
            Op::Lte => value <= self.value + slack,
            Op::Eq => (value - self.value).abs() <= slack,
        }
    }

    /// The bar in the words of a reason.
    pub(super) fn shown(&self) -> String {
        let side = match self.op {
            Op::Gt => "above",
            Op::Gte => "at least",
            Op::Lt => "below",
            Op::Lte => "at most",
            Op::Eq => "exactly",
        };
        format!("{side} {}", shown(self.value))
    }
}

impl Op {
    /// Every comparison.
    pub const ALL: &'static [Op] = &[Op::Gt, Op::Gte, Op::Lt, Op::Lte, Op::Eq];

    /// The name that it is written by.
    pub fn name(self) -> &'static str {
        match self {
            Op::Gt => "gt",
            Op::Gte => "gte",
            Op::Lt => "lt",
            Op::Lte => "lte",
            Op::Eq => "eq",
        }
    }
}

impl Decide {
    /// The name that it is written by.
    pub fn name(self) -> &'static str {
        match self {
            Decide::Interval => "interval",
            Decide::Point => "point",
        }
    }
}

/// A number in the words of a reason: four digits after the point at most.
pub(super) fn shown(number: f64) -> String {
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
