//! The figures of one metric over some rows.
//!
//! *Invariant:* every mean and rate has its n, and an interval with its method or none: fewer than two values have no
//! interval. Rows of one record are one cluster.

use std::collections::BTreeMap;

use heldset_core::statistics::{Estimate, LEVEL, estimate, mean_pass_at_k, mean_pass_hat_k, percentile};

use super::tally::Sample;

/// How many bars a distribution has.
pub const BARS: usize = 10;

/// A score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) record: u32,
    pub(super) scenario: u32,
    pub(super) score: f64,
    pub(super) pass: bool,
}

/// One metric over some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// The mean of its scores.
    pub scores: Estimate,
    /// The share of scores that pass.
    pub passes: Estimate,
    /// Rows that nobody could score.
    pub unscored: u64,
    /// Rows where something failed.
    pub errors: u64,
    /// Rows that were not attempted.
    pub skipped: u64,
    /// The least, the median, the 95th percentile and the greatest score.
    pub spread: Option<Spread>,
    /// How many scores lie in each tenth of the range from 0 (or the least) to 1 (or the greatest).
    pub bars: [u64; BARS],
    /// When records were run several times: how many would pass in k tries.
    pub tries: Vec<Tries>,
}

/// Where scores or times lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// Half are at most this.
    pub median: f64,
    /// 95 of 100 are at most this.
    pub p95: f64,
    /// The greatest.
    pub max: f64,
}

/// What k tries come to, by the unbiased estimators, over the records and scenarios with at least k scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Tries {
    /// How many tries.
    pub k: u64,
    /// The chance that one of them passes.
    pub pass_at: Estimate,
    /// The chance that all of them pass.
    pub pass_all: Estimate,
}

impl Metric {
    pub(super) fn of(name: &str, sample: &Sample) -> Metric {
        let points = &sample.points;
        let scores: Vec<f64> = points.iter().map(|point| point.score).collect();
        let passes: Vec<f64> = points.iter().map(|point| if point.pass { 1.0 } else { 0.0 }).collect();
        let records: Vec<usize> = points.iter().map(|point| point.record as usize).collect();
        Metric {
            name: name.to_owned(),
            scores: estimate(&scores, Some(&records), LEVEL),
            passes: estimate(&passes, Some(&records), LEVEL),
            unscored: sample.unscored,
            errors: sample.errors,
            skipped: sample.skipped,
            spread: Spread::of(&scores),
            bars: bars(points),
            tries: tries(points),
        }
    }
}

impl Spread {
    /// Where these lie; absent when there is none.
    pub(super) fn of(values: &[f64]) -> Option<Spread> {
        let at = |percent: f64| percentile(values, percent);
        Some(Spread { min: at(0.0)?, median: at(50.0)?, p95: at(95.0)?, max: at(100.0)? })
    }
}

fn bars(points: &[Point]) -> [u64; BARS] {
    let mut bars = [0; BARS];
    let (low, high) = range(points);
    for point in points {
        let at = (point.score - low) / (high - low) * BARS as f64;
        bars[(at as usize).min(BARS - 1)] += 1;
    }
    bars
}

/// The range of a distribution: from 0 to 1, or wider.
fn range(points: &[Point]) -> (f64, f64) {
    points.iter().fold((0.0, 1.0), |(low, high), point| (point.score.min(low), point.score.max(high)))
}

/// What k tries come to, if there are several.
fn tries(points: &[Point]) -> Vec<Tries> {
    let mut counts: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for point in points {
        let (n, passes) = counts.entry((point.record, point.scenario)).or_default();
        *n += 1;
        *passes += u64::from(point.pass);
    }
    let most = counts.values().map(|(n, _)| *n).max().unwrap_or(0);
    if most < 2 {
        return Vec::new();
    }
    let counts: Vec<(u64, u64)> = counts.into_values().collect();
    let listed = (1..=most).filter(|k| *k <= 5 || *k == most || k.is_multiple_of(10));
    let of = |k| {
        let (pass_at, pass_all) = (mean_pass_at_k(&counts, k, LEVEL)?, mean_pass_hat_k(&counts, k, LEVEL)?);
        Some(Tries { k, pass_at, pass_all })
    };
    listed.filter_map(of).collect()
}
