//! Statistics of scores: rates and means with intervals, paired comparisons, pass@k.
//!
//! *Invariant:* an interval names its method; fewer than two values have none. Nothing here is random: a resampling
//! takes its seed and gives the same answer for the same seed.

mod mean;
mod multiple;
mod paired;
mod percentile;
mod proportion;
mod quantile;
mod repeats;
mod resample;

pub use mean::{clustered, t_interval};
pub use multiple::holm;
pub use paired::{Paired, Pairs, mcnemar_exact, newcombe, paired_t};
pub use percentile::{median, percentile};
pub use proportion::{clustered_wilson, wilson};
pub use quantile::{normal_quantile, t_quantile};
pub use repeats::{mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k};
pub use resample::{RESAMPLES, bootstrap, paired_bootstrap};

/// How sure intervals are, unless another level is asked for.
pub const LEVEL: f64 = 0.95;

/// A mean or a rate, and how far it can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// How many values there were.
    pub n: usize,
    /// Their mean; 0 when there are none, which `n` tells.
    pub mean: f64,
    /// Where the true mean lies at the asked level; absent when the values cannot tell.
    pub interval: Option<(f64, f64)>,
    /// How the interval is made.
    pub method: &'static str,
}

/// The mean of values with the interval that fits them: Wilson's for values that are all 0 or 1, Student's for others,
/// and the clustered form of each when several values share a cluster. `clusters` names the cluster of each value.
pub fn estimate(values: &[f64], clusters: Option<&[usize]>, level: f64) -> Estimate {
    let binary = values.iter().all(|value| *value == 0.0 || *value == 1.0);
    match (clusters.filter(|clusters| repeated(clusters)), binary) {
        (None, true) => wilson(ones(values), values.len(), level),
        (None, false) => t_interval(values, level),
        (Some(clusters), true) => clustered_wilson(values, clusters, level),
        (Some(clusters), false) => clustered(values, clusters, level),
    }
}

/// The plain mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn ones(values: &[f64]) -> usize {
    values.iter().filter(|value| **value == 1.0).count()
}

fn repeated(clusters: &[usize]) -> bool {
    let mut sorted = clusters.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}
