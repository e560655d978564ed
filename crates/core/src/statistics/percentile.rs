//! Percentiles, by linear interpolation between the two nearest values.
//!
//! *Invariant:* the 0th is the smallest value, the 100th the largest, of no values there is none.

/// The value below which `percent` of a hundred values lie.
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| of_sorted(&sorted, percent))
}

/// The value in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    percentile(values, 50.0)
}

/// The percentile of values that are sorted and not empty.
pub(super) fn of_sorted(sorted: &[f64], percent: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = (percent.clamp(0.0, 100.0) / 100.0) * last as f64;
    let below = (place.floor() as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (high - low) * (place - below as f64)
}
