//! How many scores would decide, if what was seen so far went on.
//!
//! *Invariant:* an answer is more than there are; a value that is the bar itself never decides and has none.

use super::bar::Bar;
use super::measure::Measured;
use crate::statistics::{LEVEL, normal_quantile, t_quantile};

/// More than anybody runs.
const MOST: f64 = 1e12;

/// The smallest number of scores whose interval is on one side of the bar, at the value and the spread that were seen.
pub(super) fn needed(bar: &Bar, measured: &Measured) -> Option<u64> {
    let gap = (measured.value - bar.value).abs();
    if gap < 1e-12 {
        return None;
    }
    let n = match (measured.method, measured.interval) {
        ("wilson", _) => {
            // The bound is the bar exactly where the score test at the bar rejects.
            let z = normal_quantile(0.5 + LEVEL / 2.0);
            z * z * bar.value * (1.0 - bar.value) / (gap * gap)
        }
        ("t" | "paired t" | "clustered t", Some(interval)) => by_student(measured, half(interval, measured, bar), gap),
        (_, Some(interval)) => measured.n as f64 * (half(interval, measured, bar) / gap).powi(2),
        (_, None) => return None,
    };
    let n = n.max(0.0).ceil();
    (n < MOST).then(|| (n as u64).max(measured.n as u64 + 1).max(2))
}

/// The width of the interval on the side of the bar.
fn half((low, high): (f64, f64), measured: &Measured, bar: &Bar) -> f64 {
    if measured.value > bar.value { measured.value - low } else { high - measured.value }
}

/// Units are added until Student's half width fits the gap; scores grow with units.
fn by_student(measured: &Measured, half: f64, gap: f64) -> f64 {
    let units = measured.units as f64;
    let quantile = |units: f64| t_quantile(0.5 + LEVEL / 2.0, units - 1.0);
    let spread = half / quantile(units) * units.sqrt();
    let fits = |units: f64| quantile(units) * spread / units.sqrt() <= gap;
    let (mut low, mut high) = (units, units * 2.0);
    while !fits(high) && high < MOST {
        (low, high) = (high, high * 2.0);
    }
    while high - low > 1.0 {
        let middle = ((low + high) / 2.0).floor();
        if fits(middle) { high = middle } else { low = middle }
    }
    high * measured.n as f64 / units
}
