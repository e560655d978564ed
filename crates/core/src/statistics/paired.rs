//! Two runs over the same records: McNemar's test and intervals for the difference.
//!
//! *Invariant:* only pairs count; what stands on one side alone never enters.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::proportion::bounds;
use super::t_interval;

/// A difference between two runs over the same records: the first less the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// How many pairs there were.
    pub n: usize,
    /// The mean difference.
    pub difference: f64,
    /// Where the true difference lies; absent when the pairs cannot tell.
    pub interval: Option<(f64, f64)>,
    /// How probable a difference this large is if there is none, two-sided; absent when it was not asked.
    pub p: Option<f64>,
    /// How the interval is made.
    pub method: &'static str,
}

/// Pairs of two yes-or-no values, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Both passed.
    pub both: usize,
    /// Only the first did.
    pub first: usize,
    /// Only the second did.
    pub second: usize,
    /// Neither did.
    pub neither: usize,
}

impl Pairs {
    /// How many there are.
    pub fn n(&self) -> usize {
        self.both + self.first + self.second + self.neither
    }
}

/// McNemar's exact test, two-sided: how probable it is that so many pairs, or more, fall on one side.
pub fn mcnemar_exact(first: usize, second: usize) -> f64 {
    let n = (first + second) as u64;
    let few = first.min(second) as u64;
    Binomial::new(0.5, n).map_or(1.0, |fair| (2.0 * fair.cdf(few)).min(1.0))
}

/// The difference of two paired rates with Newcombe's score interval (his method 10) and McNemar's exact test.
pub fn newcombe(pairs: Pairs, level: f64) -> Paired {
    let n = pairs.n();
    let count = n.max(1) as f64;
    let (p1, p2) = ((pairs.both + pairs.first) as f64 / count, (pairs.both + pairs.second) as f64 / count);
    let difference = (pairs.first as f64 - pairs.second as f64) / count;
    let interval = (n >= 2).then(|| {
        let ((l1, u1), (l2, u2)) = (bounds(p1, count, level), bounds(p2, count, level));
        let phi = phi(pairs);
        let reach = |a: f64, b: f64| (a * a - 2.0 * phi * a * b + b * b).max(0.0).sqrt();
        (difference - reach(p1 - l1, u2 - p2), difference + reach(u1 - p1, p2 - l2))
    });
    let p = (n >= 2).then(|| mcnemar_exact(pairs.first, pairs.second));
    Paired { n, difference, interval, p, method: "newcombe paired" }
}

/// The mean of paired differences with Student's interval.
pub fn paired_t(differences: &[f64], level: f64) -> Paired {
    let estimate = t_interval(differences, level);
    Paired { n: estimate.n, difference: estimate.mean, interval: estimate.interval, p: None, method: "paired t" }
}

/// The correlation of the two sides, drawn towards 0 as Newcombe does.
fn phi(pairs: Pairs) -> f64 {
    let [a, b, c, d] = [pairs.both, pairs.first, pairs.second, pairs.neither].map(|count| count as f64);
    let margins = (a + b) * (c + d) * (a + c) * (b + d);
    if margins == 0.0 {
        return 0.0;
    }
    let product = a * d - b * c;
    let corrected = if product > 0.0 { (product - pairs.n() as f64 / 2.0).max(0.0) } else { product };
    corrected / margins.sqrt()
}
