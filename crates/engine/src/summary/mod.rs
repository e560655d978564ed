//! What the results of a run come to: means and rates with intervals, by metric, scenario, category and label.
//!
//! *Invariant:* planned = scored + unscored + error + skipped; what is not scored is in no mean.

mod figures;
mod tally;
mod value;
mod verdict;

pub use figures::{BARS, Metric, Spread, Tries};
pub use tally::Tally;
pub(crate) use tally::plain;
pub(crate) use value::balance as balance_value;
pub(crate) use value::{count, interval, members, number, optional, short};

pub use heldset_core::gate::{Answer, Verdict};

use heldset_core::gate::Rule;
use heldset_core::trace::Usage;
use heldset_store::run::BalanceDoc;

use crate::results::RowOutcome;
use tally::{CATEGORY, Kept, LABEL};

/// A label with more values than this is not broken down: it is rather an id.
const MOST_VALUES: usize = 100;

/// What the results of a run come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The metric that counts when none is named.
    pub primary: Option<String>,
    /// Every metric over all rows, in the order of the plan.
    pub metrics: Vec<Metric>,
    /// How the rows of all scenarios ended.
    pub outcomes: Outcomes,
    /// By scenario, in the order of the plan.
    pub scenarios: Vec<Group>,
    /// By category, sorted.
    pub categories: Vec<Group>,
    /// By label, as `key=value`, sorted.
    pub labels: Vec<Group>,
    /// How long rows took, in milliseconds.
    pub latency: Option<Spread>,
    /// Tokens and cost.
    pub usage: Usage,
    /// How many rows came from the cache.
    pub cached: u64,
    /// Where every row ended.
    pub balance: BalanceDoc,
    /// What the gate says, if there is one.
    pub verdict: Option<Verdict>,
}

/// Some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// How they ended.
    pub outcomes: Outcomes,
    /// Every metric over them.
    pub metrics: Vec<Metric>,
    /// How long they took, in milliseconds.
    pub latency: Option<Spread>,
}

/// How rows ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes([u64; 5]);

impl Outcomes {
    /// How many ended so.
    pub fn count(&self, outcome: RowOutcome) -> u64 {
        self.0[outcome as usize]
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The share that passes, of those with a score.
    pub fn pass_rate(&self) -> Option<f64> {
        let scored = self.count(RowOutcome::Pass) + self.count(RowOutcome::Fail);
        (scored > 0).then(|| self.count(RowOutcome::Pass) as f64 / scored as f64)
    }
}

impl Tally {
    /// What the rows come to; and what the gate says, against the rows of another run if it asks for it.
    pub fn finish(&self, primary: Option<&str>, gate: Option<&Rule>, baseline: Option<&Tally>) -> Summary {
        let all = self.broken_down(1, |_| &[0]);
        let names: Vec<String> = self.scenarios.all().iter().map(|name| name.to_string()).collect();
        let scenarios = self.broken_down(names.len(), |row| std::slice::from_ref(&row.scenario));
        let groups = self.broken_down(self.groups.all().len(), |row| self.groups_of(row));
        let (mut categories, mut labels) = (Vec::new(), Vec::new());
        for (name, group) in self.groups.all().iter().zip(groups) {
            match (name.strip_prefix(CATEGORY), name.strip_prefix(LABEL)) {
                (Some(category), _) => categories.push(group.named(category)),
                (_, Some(label)) => labels.push(group.named(label)),
                _ => {}
            }
        }
        let [all] = <[Group; 1]>::try_from(all).expect("one group was asked for");
        Summary {
            verdict: gate.map(|rule| self.judge(rule, primary, baseline)),
            primary: primary.map(str::to_owned).or_else(|| all.metrics.first().map(|metric| metric.name.clone())),
            metrics: all.metrics,
            outcomes: all.outcomes,
            scenarios: names.iter().zip(scenarios).map(|(name, group)| group.named(name)).collect(),
            categories: sorted(categories),
            labels: sorted(few_values(labels)),
            latency: all.latency,
            usage: self.usage,
            cached: self.cached,
            balance: self.balance,
        }
    }

    /// All figures, for each group.
    fn broken_down<'t>(&'t self, groups: usize, of: impl Fn(&'t Kept) -> &'t [u32]) -> Vec<Group> {
        let mut outcomes = vec![Outcomes::default(); groups];
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); groups];
        for row in &self.rows {
            for group in of(row) {
                outcomes[*group as usize].0[row.outcome as usize] += 1;
                if row.outcome != RowOutcome::Skipped {
                    times[*group as usize].push(row.run_ms);
                }
            }
        }
        let mut metrics = vec![Vec::with_capacity(self.metrics.len()); groups];
        for marks in &self.metrics {
            for (metrics, sample) in metrics.iter_mut().zip(self.samples(marks, groups, &of)) {
                metrics.push(Metric::of(&marks.name, &sample));
            }
        }
        let parts = outcomes.into_iter().zip(times).zip(metrics);
        let group = |((outcomes, times), metrics): ((Outcomes, Vec<f64>), Vec<Metric>)| {
            let latency = Spread::of(&times);
            Group { name: String::new(), outcomes, metrics, latency }
        };
        parts.map(group).collect()
    }
}

impl Summary {
    /// The metric of that name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

impl Group {
    fn named(self, name: &str) -> Group {
        Group { name: name.to_owned(), ..self }
    }
}

fn sorted(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    groups
}

/// The labels that divide rows into few groups.
fn few_values(labels: Vec<Group>) -> Vec<Group> {
    let key = |group: &Group| group.name.split('=').next().unwrap_or_default().to_owned();
    let mut counts = std::collections::HashMap::new();
    for label in &labels {
        *counts.entry(key(label)).or_insert(0usize) += 1;
    }
    labels.into_iter().filter(|label| counts.get(&key(label)).is_some_and(|count| *count <= MOST_VALUES)).collect()
}

#[cfg(test)]
mod tests;
