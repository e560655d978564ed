//! Quantiles of the distributions that intervals are made with.
//!
//! *Invariant:* exact to about twelve digits: the library's first answer is polished with its own distribution function.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom Student's distribution is the normal one to six digits.
const MANY: f64 = 1e7;

/// The point below which a standard normal value falls with this probability, strictly between 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    polish(&Normal::standard(), probability)
}

/// The same of Student's distribution, for at least one degree of freedom.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(student) if freedom < MANY => polish(&student, probability),
        _ => normal_quantile(probability),
    }
}

/// The probability below the upper end of a two-sided interval.
pub(super) fn upper(level: f64) -> f64 {
    0.5 + level / 2.0
}

/// Newton's steps; of the upper half as of the lower one, where a small probability keeps its digits.
fn polish<D: ContinuousCDF<f64, f64> + Continuous<f64, f64>>(distribution: &D, probability: f64) -> f64 {
    let tail = probability.min(1.0 - probability);
    let mut point = distribution.inverse_cdf(tail);
    for _ in 0..4 {
        let density = distribution.pdf(point);
        let step = (distribution.cdf(point) - tail) / density;
        if density <= 0.0 || !step.is_finite() {
            break;
        }
        point -= step;
    }
    if probability > 0.5 { -point } else { point }
}
