//! The statistics of pairs: the exact test of McNemar for yes and no, a bootstrap for numbers, Holm over several.
//!
//! *Invariant:* what is paired of one record counts once.

use std::collections::BTreeMap;

use heldset_core::statistics::{LEVEL, Paired, Pairs, holm, mean, newcombe, paired_bootstrap, paired_t};

/// The bootstrap gives the same answer every time.
const SEED: u64 = 0x6865_6c64_7365_7431;
/// Above this many records a bootstrap says what Student's interval says, and takes long.
const MANY: usize = 20_000;

/// A metric in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricDifference {
    /// Its name.
    pub name: String,
    /// How many pairs have a score in both.
    pub pairs: u64,
    /// The mean of the one.
    pub a: f64,
    /// The mean of the other.
    pub b: f64,
    /// The other less the one.
    pub difference: f64,
    /// Where the difference lies with 95 %.
    pub interval: Option<(f64, f64)>,
    /// How probable so great a difference is if there is none, corrected for several metrics.
    pub p: Option<f64>,
    /// The same, without the correction.
    pub p_plain: Option<f64>,
    /// How it was computed.
    pub method: String,
}

/// A pair: the record, and what it came to in the one and in the other.
pub(super) type Pair<'p> = (&'p str, f64, f64);

impl MetricDifference {
    /// What the pairs of a metric say.
    pub(super) fn of(name: &str, pairs: &[Pair<'_>]) -> MetricDifference {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(_, a, b)| (*a, *b)).unzip();
        let (paired, method) = test(pairs);
        MetricDifference {
            name: name.to_owned(),
            pairs: pairs.len() as u64,
            a: mean(&a),
            b: mean(&b),
            difference: mean(&b) - mean(&a),
            interval: paired.interval,
            p: paired.p.map(rounded),
            p_plain: paired.p.map(rounded),
            method,
        }
    }
}

/// Without the last digits, which are those of the summation.
fn rounded(p: f64) -> f64 {
    (p * 1e12).round() / 1e12
}

/// Corrects for several metrics.
pub(super) fn correct(metrics: &mut [MetricDifference]) {
    let tested: Vec<usize> = (0..metrics.len()).filter(|index| metrics[*index].p.is_some()).collect();
    if tested.len() < 2 {
        return;
    }
    let plain: Vec<f64> = tested.iter().filter_map(|index| metrics[*index].p_plain).collect();
    for (index, p) in tested.into_iter().zip(holm(&plain)) {
        metrics[index].p = Some(p);
        metrics[index].method.push_str(", holm");
    }
}

fn test(pairs: &[Pair<'_>]) -> (Paired, String) {
    let mut records: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (record, a, b) in pairs {
        records.entry(record).or_default().push(b - a);
    }
    let is_binary = |value: f64| value == 0.0 || value == 1.0;
    if records.len() == pairs.len() && pairs.iter().all(|(_, a, b)| is_binary(*a) && is_binary(*b)) {
        let count = |b: f64, a: f64| pairs.iter().filter(|pair| (pair.1, pair.2) == (a, b)).count();
        let counted =
            Pairs { both: count(1.0, 1.0), first: count(1.0, 0.0), second: count(0.0, 1.0), neither: count(0.0, 0.0) };
        return (newcombe(counted, LEVEL), "exact mcnemar, newcombe interval".to_owned());
    }
    let differences: Vec<f64> = records.into_values().map(|differences| mean(&differences)).collect();
    let paired = match differences.len() > MANY {
        true => paired_t(&differences, LEVEL),
        false => paired_bootstrap(&differences, SEED),
    };
    let method = paired.method.to_owned();
    (paired, method)
}
