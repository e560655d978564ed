//! Records that are run several times: pass@k (one of k passes) and pass^k (all of k pass).
//!
//! *Invariant:* unbiased: the share among all choices of k of the n runs. Fewer than k runs have no value.

use super::{Estimate, estimate};

/// How probable it is that at least one of `k` runs passes, when `passed` of `n` did.
pub fn pass_at_k(n: u64, passed: u64, k: u64) -> Option<f64> {
    fits(n, passed, k).then(|| 1.0 - share_of_choices(n, n - passed, k))
}

/// How probable it is that all of `k` runs pass, when `passed` of `n` did.
pub fn pass_hat_k(n: u64, passed: u64, k: u64) -> Option<f64> {
    fits(n, passed, k).then(|| share_of_choices(n, passed, k))
}

/// pass@k over records, each with its runs and how many of them passed. Records with fewer than `k` runs are left out,
/// as `n` tells; absent when all are.
pub fn mean_pass_at_k(records: &[(u64, u64)], k: u64, level: f64) -> Option<Estimate> {
    over(records, level, |n, passed| pass_at_k(n, passed, k))
}

/// pass^k over records, in the same way.
pub fn mean_pass_hat_k(records: &[(u64, u64)], k: u64, level: f64) -> Option<Estimate> {
    over(records, level, |n, passed| pass_hat_k(n, passed, k))
}

fn over(records: &[(u64, u64)], level: f64, value: impl Fn(u64, u64) -> Option<f64>) -> Option<Estimate> {
    let values: Vec<f64> = records.iter().filter_map(|(n, passed)| value(*n, *passed)).collect();
    (!values.is_empty()).then(|| estimate(&values, None, level))
}

fn fits(n: u64, passed: u64, k: u64) -> bool {
    (1..=n).contains(&k) && passed <= n
}

/// The share of the choices of `k` out of `n` that lie within `of` of them, factor by factor.
fn share_of_choices(n: u64, of: u64, k: u64) -> f64 {
    if of < k {
        return 0.0;
    }
    (0..k).map(|taken| (of - taken) as f64 / (n - taken) as f64).product()
}
