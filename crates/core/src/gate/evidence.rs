//! What a gate decides on: the planned cases of a run and their scores.
//!
//! *Invariant:* a case without a score stays in the evidence; leaving it out would make the run look better than it was.

use std::collections::BTreeMap;

/// A run as a gate sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The names of all metrics, in the order of the plan.
    pub metrics: Vec<String>,
    /// How many cases were planned; those that `cases` lacks count as unscored.
    pub planned: usize,
    /// One for each record, scenario and repeat, also when it ended without a score.
    pub cases: Vec<Case>,
    /// The cases of the run that a regression is measured against.
    pub baseline: Option<Vec<Case>>,
}

/// One case of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// What pairs it with cases of another run: the record, and what else must be the same. Cases that share a key are
    /// averaged before they are paired.
    pub key: String,
    /// Cases of one cluster are not independent: the repeats of a record, or what shares a cluster key.
    pub cluster: usize,
    /// Names of labels and their values; a name that occurs several times puts the case into several groups.
    pub labels: Vec<(String, String)>,
    /// The scores by metric; absent when it has none.
    pub scores: BTreeMap<String, Score>,
}

/// What a grader said of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// The number; absent when the case could not be scored.
    pub score: Option<f64>,
    /// Whether the grader itself calls it passed.
    pub pass: Option<bool>,
}

/// The cases that a rule is asked about: of the whole run, or of one value of a label.
pub(super) struct Scope<'e> {
    pub(super) evidence: &'e Evidence,
    pub(super) cases: Vec<&'e Case>,
    pub(super) planned: usize,
}

impl<'e> Scope<'e> {
    pub(super) fn whole(evidence: &'e Evidence) -> Self {
        let planned = evidence.planned.max(evidence.cases.len());
        Scope { evidence, cases: evidence.cases.iter().collect(), planned }
    }

    /// The cases whose label has that value; those that lack the label for none.
    pub(super) fn with(&self, label: &str, value: Option<&str>) -> Self {
        let fits = |case: &&&Case| match value {
            Some(value) => case.values(label).any(|other| other == value),
            None => case.values(label).next().is_none(),
        };
        let cases: Vec<_> = self.cases.iter().filter(fits).copied().collect();
        Scope { evidence: self.evidence, planned: cases.len(), cases }
    }

    /// The values of a label that occur, in order; none comes first.
    pub(super) fn values_of(&self, label: &str) -> Vec<Option<&'e str>> {
        let each = |case: &&'e Case| {
            let mut values: Vec<_> = case.values(label).map(Some).collect();
            if values.is_empty() {
                values.push(None);
            }
            values
        };
        let mut values: Vec<_> = self.cases.iter().flat_map(each).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The metric that is meant: the named one, or the first.
    pub(super) fn metric<'n>(&'n self, key: &'n Option<String>) -> &'n str {
        key.as_deref().or_else(|| self.evidence.metrics.first().map(String::as_str)).unwrap_or("score")
    }
}

impl Case {
    /// The score of a metric, when it is a number.
    pub(super) fn score(&self, metric: &str) -> Option<(f64, Option<bool>)> {
        let found = self.scores.get(metric)?;
        found.score.filter(|score| score.is_finite()).map(|score| (score, found.pass))
    }

    fn values<'c>(&'c self, label: &str) -> impl Iterator<Item = &'c str> {
        self.labels.iter().filter(move |(name, _)| name == label).map(|(_, value)| value.as_str())
    }
}
