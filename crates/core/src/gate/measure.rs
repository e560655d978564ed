//! From scores to the one value that a bar is held against.
//!
//! *Invariant:* unscored cases enter only on purpose, at the lowest or the highest score.

use super::evidence::{Case, Scope};
use crate::statistics::{LEVEL, estimate, percentile};

/// What becomes of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// Their mean.
    AvgScore,
    /// The share of scores that reach the threshold, from 0 to 1.
    Accuracy,
    /// The share of cases that their grader calls passed, from 0 to 1.
    PassRate,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The middle one.
    Median,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
}

/// How unscored cases are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Not at all.
    Absent,
    /// As the lowest score.
    Lowest,
    /// As the highest score.
    Highest,
}

/// The one value, and how far it can be trusted.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) value: f64,
    pub(super) n: usize,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) method: &'static str,
    /// How many independent units there are: scores, or clusters of them.
    pub(super) units: usize,
}

/// The values of cases, each with its cluster, and the clusters of cases that have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    pub(super) values: Vec<f64>,
    pub(super) clusters: Vec<usize>,
    pub(super) missing: Vec<usize>,
}

impl Aggregation {
    /// Every aggregation with its name; of two names for one the first is written.
    pub(super) const NAMES: &'static [(&'static str, Aggregation)] = &[
        ("avg_score", Aggregation::AvgScore),
        ("accuracy", Aggregation::Accuracy),
        ("pass_rate", Aggregation::PassRate),
        ("min", Aggregation::Min),
        ("max", Aggregation::Max),
        ("median", Aggregation::Median),
        ("p50", Aggregation::Median),
        ("p95", Aggregation::P95),
        ("p99", Aggregation::P99),
    ];

    /// The name that it is written by.
    pub fn name(self) -> &'static str {
        Aggregation::NAMES.iter().find(|(_, known)| *known == self).map_or("avg_score", |(name, _)| name)
    }

    /// Whether it is a mean over cases, which has an interval.
    pub fn is_mean(self) -> bool {
        matches!(self, Aggregation::AvgScore) || self.is_share()
    }

    /// Whether it is a share from 0 to 1.
    pub fn is_share(self) -> bool {
        matches!(self, Aggregation::Accuracy | Aggregation::PassRate)
    }

    /// The value of one case.
    pub(super) fn of_case(self, case: &Case, metric: &str, threshold: f64) -> Option<f64> {
        let (score, pass) = case.score(metric)?;
        let reaches = score >= threshold;
        Some(match self {
            Aggregation::Accuracy => f64::from(u8::from(reaches)),
            Aggregation::PassRate => f64::from(u8::from(pass.unwrap_or(reaches))),
            _ => score,
        })
    }

    /// The value of all cases.
    pub(super) fn of_sample(self, sample: &Sample) -> Measured {
        let n = sample.values.len();
        if self.is_mean() {
            let found = estimate(&sample.values, Some(&sample.clusters), LEVEL);
            let (interval, method) = (found.interval, found.method);
            return Measured { value: found.mean, n, interval, method, units: sample.units() };
        }
        let percent = match self {
            Aggregation::Min => 0.0,
            Aggregation::Max => 100.0,
            Aggregation::P95 => 95.0,
            Aggregation::P99 => 99.0,
            _ => 50.0,
        };
        let value = percentile(&sample.values, percent).unwrap_or_default();
        Measured { value, n, interval: None, method: "point", units: n }
    }
}

impl Sample {
    /// The values of all cases of a scope; what was planned and is no case at all is missing, each on its own.
    pub(super) fn of(scope: &Scope<'_>, value: impl Fn(&Case) -> Option<f64>) -> Self {
        let mut sample = Sample::default();
        for case in &scope.cases {
            match value(case) {
                Some(value) => {
                    sample.values.push(value);
                    sample.clusters.push(case.cluster);
                }
                None => sample.missing.push(case.cluster),
            }
        }
        let absent = scope.planned.saturating_sub(scope.cases.len());
        sample.missing.extend((0..absent).map(|place| usize::MAX - place));
        sample
    }

    /// The sample with its missing values counted in that way.
    pub(super) fn filled(&self, fill: Fill) -> Sample {
        let Some(extreme) = fill.value(&self.values) else { return self.clone() };
        let mut filled = Sample { missing: Vec::new(), ..self.clone() };
        filled.values.extend(self.missing.iter().map(|_| extreme));
        filled.clusters.extend(&self.missing);
        filled
    }

    fn units(&self) -> usize {
        let mut clusters = self.clusters.clone();
        clusters.sort_unstable();
        clusters.dedup();
        clusters.len()
    }
}

impl Fill {
    /// Scores are from 0 to 1, or as far beyond as some are.
    pub(super) fn value(self, values: &[f64]) -> Option<f64> {
        match self {
            Fill::Absent => None,
            Fill::Lowest => Some(values.iter().copied().fold(0.0, f64::min)),
            Fill::Highest => Some(values.iter().copied().fold(1.0, f64::max)),
        }
    }
}
