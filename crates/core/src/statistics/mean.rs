//! Means of numbers: Student's interval, and the cluster-robust one.
//!
//! *Invariant:* the degrees of freedom count what is independent: values, or clusters when values share one.

use std::collections::BTreeMap;

use super::quantile::{t_quantile, upper};
use super::{Estimate, mean};

/// The mean with Student's interval.
pub fn t_interval(values: &[f64], level: f64) -> Estimate {
    let (n, centre) = (values.len(), mean(values));
    let interval = (n >= 2).then(|| {
        let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        let freedom = n as f64 - 1.0;
        around(centre, (squares / freedom / n as f64).sqrt(), freedom, level)
    });
    Estimate { n, mean: centre, interval, method: "t" }
}

/// The mean over all values with the cluster-robust (sandwich) interval: clusters of any size, Student's distribution
/// with one degree of freedom less than there are clusters. `clusters` names the cluster of each value.
pub fn clustered(values: &[f64], clusters: &[usize], level: f64) -> Estimate {
    let (n, centre) = (values.len(), mean(values));
    let grouped = Clusters::of(values, clusters, centre);
    let interval = (grouped.count() >= 2)
        .then(|| around(centre, grouped.variance_of_mean().sqrt(), grouped.count() as f64 - 1.0, level));
    Estimate { n, mean: centre, interval, method: "clustered t" }
}

fn around(centre: f64, error: f64, freedom: f64, level: f64) -> (f64, f64) {
    let half = t_quantile(upper(level), freedom) * error;
    (centre - half, centre + half)
}

/// What clusters add up to.
pub(super) struct Clusters {
    n: f64,
    /// How many values each has, and the sum of their deviations from the mean.
    sums: Vec<(f64, f64)>,
}

impl Clusters {
    pub(super) fn of(values: &[f64], clusters: &[usize], centre: f64) -> Self {
        let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (value, cluster) in values.iter().zip(clusters) {
            let sum = sums.entry(*cluster).or_default();
            *sum = (sum.0 + 1.0, sum.1 + value - centre);
        }
        Clusters { n: values.len() as f64, sums: sums.into_values().collect() }
    }

    pub(super) fn count(&self) -> usize {
        self.sums.len()
    }

    /// The sandwich estimator with the usual correction for few clusters.
    pub(super) fn variance_of_mean(&self) -> f64 {
        let count = self.count() as f64;
        let squares: f64 = self.sums.iter().map(|(_, deviation)| deviation * deviation).sum();
        squares / (self.n * self.n) * count / (count - 1.0)
    }

    /// How many values there would be if all values of a cluster were one.
    pub(super) fn kish(&self) -> f64 {
        self.n * self.n / self.sums.iter().map(|(size, _)| size * size).sum::<f64>()
    }
}
