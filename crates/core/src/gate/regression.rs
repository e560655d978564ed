//! A run against another one: the differences of paired records, and how much worse is fine.
//!
//! *Invariant:* only records that both runs scored are compared; what one of them lacks is said, never counted as 0.

use std::collections::BTreeMap;

use super::bar::{Bar, Op};
use super::decide::{Facts, settle};
use super::evidence::{Case, Scope};
use super::measure::{Fill, Measured, Sample};
use super::verdict::{Answer, Verdict};
use super::{Regression, Rule};
use crate::statistics::{LEVEL, Paired, Pairs, newcombe, paired_t};

/// The values of each key.
type ByKey<'e> = BTreeMap<&'e str, Vec<f64>>;

pub(super) fn decide(rule: &Rule, regression: &Regression, scope: &Scope<'_>) -> Verdict {
    let metric = scope.metric(&regression.metric_key);
    let value = |case: &Case| regression.aggregation.of_case(case, metric, regression.pass_threshold);
    let Some(baseline) = &scope.evidence.baseline else {
        let reason = "there is no baseline run to compare with".to_owned();
        return Verdict::bare(rule, Answer::Fail, "none", reason);
    };
    let before = by_key(baseline.iter(), &value, None);
    let sample = Sample::of(scope, value);
    let measure = |fill: Fill| {
        let now = by_key(scope.cases.iter().copied(), &value, fill.value(&sample.values));
        measured(&compared(&now, &before))
    };
    let paired = measure(Fill::Absent).n;
    // Without a pair there is no score that counts here.
    let scored = if paired == 0 { 0 } else { sample.values.len() };
    let facts = Facts {
        what: format!("change of {} of `{metric}` against the baseline", regression.aggregation.name()),
        scored,
        missing: sample.missing.len(),
    };
    let verdict = settle(rule, &bar(regression), &facts, measure);
    let records = by_key(scope.cases.iter().copied(), &value, None).len();
    with_unpaired(verdict, records.saturating_sub(paired))
}

fn bar(regression: &Regression) -> Bar {
    let value = if regression.op == Op::Lte { regression.margin } else { 0.0 - regression.margin };
    Bar { op: regression.op, value, decide: regression.decide }
}

fn with_unpaired(verdict: Verdict, alone: usize) -> Verdict {
    match alone {
        0 => verdict,
        _ => {
            Verdict { reason: format!("{}; {alone} records have no score in the baseline", verdict.reason), ..verdict }
        }
    }
}

fn by_key<'e>(
    cases: impl Iterator<Item = &'e Case>,
    value: &impl Fn(&Case) -> Option<f64>,
    missing: Option<f64>,
) -> ByKey<'e> {
    let mut found = ByKey::new();
    for case in cases {
        if let Some(value) = value(case).or(missing) {
            found.entry(case.key.as_str()).or_default().push(value);
        }
    }
    found
}

/// Yes-or-no values that pair one to one are compared as such; others by their means.
fn compared(now: &ByKey<'_>, before: &ByKey<'_>) -> Paired {
    let pairs: Vec<_> = now.iter().filter_map(|(key, now)| Some((now, before.get(key)?))).collect();
    let binary = |values: &[f64]| matches!(values, [value] if *value == 0.0 || *value == 1.0);
    let mut counts = Pairs::default();
    for (now, before) in &pairs {
        match (now[0] == 1.0, before[0] == 1.0) {
            (true, true) => counts.both += 1,
            (true, false) => counts.first += 1,
            (false, true) => counts.second += 1,
            (false, false) => counts.neither += 1,
        }
    }
    // Where no record changed, the plain differences say so: there is nothing that spreads.
    let changed = counts.first + counts.second > 0;
    if changed && pairs.iter().all(|(now, before)| binary(now) && binary(before)) {
        return newcombe(counts, LEVEL);
    }
    let mean = crate::statistics::mean;
    let differences: Vec<f64> = pairs.iter().map(|(now, before)| mean(now) - mean(before)).collect();
    paired_t(&differences, LEVEL)
}

fn measured(paired: &Paired) -> Measured {
    let Paired { n, difference, interval, method, .. } = *paired;
    Measured { value: difference, n, interval, method, units: n }
}
