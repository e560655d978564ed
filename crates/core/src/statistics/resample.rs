//! Bootstraps: intervals and tests from resampling the values themselves.
//!
//! *Invariant:* the same values and the same seed give the same answer on every machine.

use super::paired::Paired;
use super::percentile::of_sorted;
use super::{Estimate, LEVEL, mean};

/// How many times values are drawn anew.
pub const RESAMPLES: usize = 2_000;

/// The mean with a percentile bootstrap interval.
pub fn bootstrap(values: &[f64], level: f64, seed: u64) -> Estimate {
    let interval = (values.len() >= 2).then(|| ends(&mut resampled_means(values, seed), level));
    Estimate { n: values.len(), mean: mean(values), interval, method: "bootstrap" }
}

/// The mean of paired differences with a percentile bootstrap interval, and the two-sided probability of a mean this
/// far from 0 if there were no difference.
pub fn paired_bootstrap(differences: &[f64], seed: u64) -> Paired {
    let centre = mean(differences);
    let method = "paired bootstrap";
    if differences.len() < 2 {
        return Paired { n: differences.len(), difference: centre, interval: None, p: None, method };
    }
    let mut means = resampled_means(differences, seed);
    // Under no difference the means scatter around 0 as they do here around the centre. Rounding may not decide.
    let far = |resampled: &&f64| (**resampled - centre).abs() >= centre.abs() * (1.0 - 1e-12);
    let extreme = means.iter().filter(far).count();
    let p = (extreme + 1) as f64 / (RESAMPLES + 1) as f64;
    Paired {
        n: differences.len(),
        difference: centre,
        interval: Some(ends(&mut means, LEVEL)),
        p: Some(p.min(1.0)),
        method,
    }
}

fn resampled_means(values: &[f64], seed: u64) -> Vec<f64> {
    let mut generator = SplitMix(seed);
    let n = values.len();
    let one = |_| (0..n).map(|_| values[generator.below(n)]).sum::<f64>() / n as f64;
    (0..RESAMPLES).map(one).collect()
}

fn ends(means: &mut [f64], level: f64) -> (f64, f64) {
    means.sort_unstable_by(f64::total_cmp);
    let tail = 50.0 * (1.0 - level);
    (of_sorted(means, tail), of_sorted(means, 100.0 - tail))
}

/// The generator SplitMix64: a counter and a mixing function.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`: the upper half of a product, whose bias is n / 2⁶⁴.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut generator = SplitMix(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| generator.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
