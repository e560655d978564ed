//! One run, ready to be paired: what each record came to in each scenario, repeats averaged.
//!
//! *Invariant:* a score that is absent is in no average.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::Row;

/// What is paired: a record, and a scenario when both runs have several.
pub(super) type Key = (String, Option<String>);

/// A run.
#[derive(Default)]
pub(super) struct Side {
    pub(super) units: BTreeMap<Key, Unit>,
    pub(super) metrics: Vec<String>,
}

/// What a record came to.
#[derive(Default)]
pub(super) struct Unit {
    /// What it was; empty when its rows are of different content.
    pub(super) leaf: String,
    /// For each metric, the sum of its scores and how many there are.
    sums: Vec<(f64, u64)>,
}

/// Which rows are paired, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scenarios {
    /// By scenario too.
    Apart,
    /// Only those of this scenario.
    One(String),
    /// All of a record together.
    Together,
}

impl Side {
    /// Adds a row.
    pub(super) fn add(&mut self, row: &Row, scenarios: &Scenarios) {
        let scenario = match scenarios {
            Scenarios::One(one) if row.scenario != *one => return,
            Scenarios::Apart => Some(row.scenario.clone()),
            _ => None,
        };
        let numbers: Vec<(usize, f64)> = row
            .scores
            .iter()
            .filter_map(|score| Some((self.metric(&score.name), score.score.filter(|score| score.is_finite())?)))
            .collect();
        let unit = self.units.entry((row.record_id.clone(), scenario)).or_default();
        if unit.sums.is_empty() && unit.leaf.is_empty() {
            unit.leaf.clone_from(&row.leaf);
        }
        for (metric, score) in numbers {
            if unit.sums.len() <= metric {
                unit.sums.resize(metric + 1, (0.0, 0));
            }
            unit.sums[metric].0 += score;
            unit.sums[metric].1 += 1;
        }
    }

    fn metric(&mut self, name: &str) -> usize {
        self.metrics.iter().position(|known| known == name).unwrap_or_else(|| {
            self.metrics.push(name.to_owned());
            self.metrics.len() - 1
        })
    }

    /// The average of a record in a metric.
    pub(super) fn value(&self, unit: &Unit, metric: &str) -> Option<f64> {
        let at = self.metrics.iter().position(|known| known == metric)?;
        let (sum, n) = unit.sums.get(at)?;
        (*n > 0).then(|| sum / *n as f64)
    }
}

/// How rows are paired, by the scenarios of both runs.
pub(super) fn scenarios(a: &BTreeSet<String>, b: &BTreeSet<String>) -> (Scenarios, Scenarios) {
    let same = |one: &BTreeSet<String>, several: &BTreeSet<String>| {
        let name = one.iter().find(|name| several.contains(*name));
        name.map_or(Scenarios::Together, |name| Scenarios::One(name.clone()))
    };
    match (a.len() > 1, b.len() > 1) {
        (true, true) => (Scenarios::Apart, Scenarios::Apart),
        (true, false) => (same(b, a), Scenarios::Together),
        (false, true) => (Scenarios::Together, same(a, b)),
        (false, false) => (Scenarios::Together, Scenarios::Together),
    }
}
