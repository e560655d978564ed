//! Rates: Wilson's score interval, alone and for values that come in clusters.
//!
//! *Invariant:* an interval lies within 0 and 1 and is never of no width, however equal the values are.

use super::mean::Clusters;
use super::quantile::{normal_quantile, t_quantile, upper};
use super::{Estimate, mean};

/// The rate of successes with Wilson's score interval.
pub fn wilson(successes: usize, n: usize, level: f64) -> Estimate {
    let mean = if n == 0 { 0.0 } else { successes as f64 / n as f64 };
    let interval = (n >= 2).then(|| bounds(mean, n as f64, level));
    Estimate { n, mean, interval, method: "wilson" }
}

/// The rate of ones among zeros and ones that come in clusters: Wilson's interval at the effective number of values,
/// which is what the variance between clusters says, with the small-sample correction of Korn and Graubard. It is at
/// most the number of values, and at least what it would be if all values of a cluster were one (Kish).
pub fn clustered_wilson(values: &[f64], clusters: &[usize], level: f64) -> Estimate {
    let (n, mean) = (values.len(), mean(values));
    let grouped = Clusters::of(values, clusters, mean);
    let interval = (grouped.count() >= 2).then(|| {
        let least = grouped.kish();
        let variance = grouped.variance_of_mean();
        let correction = normal_quantile(upper(level)) / t_quantile(upper(level), grouped.count() as f64 - 1.0);
        let spread = mean * (1.0 - mean);
        // All alike tells nothing on how alike clusters are: then each counts as one value.
        let told = if spread == 0.0 { least } else { spread / variance * correction * correction };
        bounds(mean, told.clamp(least, n as f64), level)
    });
    Estimate { n, mean, interval, method: "clustered wilson" }
}

/// Wilson's bounds, also for a number of values that is not whole.
pub(super) fn bounds(rate: f64, n: f64, level: f64) -> (f64, f64) {
    let z = normal_quantile(upper(level));
    let square = z * z / n;
    let centre = (rate + square / 2.0) / (1.0 + square);
    let half = z / (1.0 + square) * (rate * (1.0 - rate) / n + square / (4.0 * n)).sqrt();
    // At the ends the formula gives the ends up to rounding.
    let lower = if rate <= 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let upper = if rate >= 1.0 { 1.0 } else { (centre + half).min(1.0) };
    (lower, upper)
}
