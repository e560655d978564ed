//! Several tests at once: Holm's step-down correction.
//!
//! *Invariant:* an adjusted value is never smaller than the plain one, and keeps its place in the list.

/// The adjusted probabilities, in the order of the plain ones.
pub fn holm(plain: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..plain.len()).collect();
    order.sort_by(|left, right| plain[*left].total_cmp(&plain[*right]));
    let mut adjusted = vec![0.0; plain.len()];
    let mut largest: f64 = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        largest = largest.max(plain[index] * (plain.len() - rank) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}
