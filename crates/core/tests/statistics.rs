//! Statistics, compared with what SciPy, statsmodels and NumPy say, and with what must hold of any interval.

use heldset_core::json;
use heldset_core::statistics::{self as stat, Estimate, LEVEL, Pairs};
use heldset_core::value::{Object, Value};

const TEXT: &str = include_str!("data/statistics.json");
const CLOSE: f64 = 1e-9;

fn rows(name: &str) -> Vec<Object<'static>> {
    let vectors: Value<'static> = json::read(TEXT).unwrap();
    let rows = vectors.as_object().unwrap().get(name).unwrap().as_array().unwrap().to_vec();
    assert!(rows.len() >= 5, "{name} has few rows");
    rows.into_iter().map(|row| row.as_object().unwrap().clone()).collect()
}

fn number(value: &Value<'_>) -> f64 {
    match value {
        Value::Number(number) => number.as_f64(),
        other => panic!("{} is no number", other.type_name()),
    }
}

fn one(row: &Object<'_>, key: &str) -> f64 {
    number(row.get(key).unwrap())
}

fn count(row: &Object<'_>, key: &str) -> usize {
    one(row, key) as usize
}

fn many(row: &Object<'_>, key: &str) -> Vec<f64> {
    row.get(key).unwrap().as_array().unwrap().iter().map(number).collect()
}

fn clusters(row: &Object<'_>) -> Vec<usize> {
    many(row, "clusters").into_iter().map(|cluster| cluster as usize).collect()
}

fn close(found: f64, expected: f64, of: &impl std::fmt::Debug) {
    let off = (found - expected).abs() / expected.abs().max(1.0);
    assert!(off < CLOSE, "{found} is not {expected}: {of:?}");
}

fn close_interval(found: Option<(f64, f64)>, row: &Object<'_>) {
    let (low, high) = found.unwrap();
    let expected = many(row, "interval");
    close(low, expected[0], row);
    close(high, expected[1], row);
}

#[test]
fn wilson_is_that_of_statsmodels() {
    for row in rows("wilson") {
        close_interval(stat::wilson(count(&row, "successes"), count(&row, "n"), one(&row, "level")).interval, &row);
    }
}

#[test]
fn student_is_that_of_scipy() {
    for row in rows("t_quantiles") {
        close(stat::t_quantile(one(&row, "probability"), one(&row, "freedom")), one(&row, "point"), &row);
    }
    for row in rows("t") {
        let found = stat::t_interval(&many(&row, "values"), one(&row, "level"));
        close(found.mean, one(&row, "mean"), &row);
        close_interval(found.interval, &row);
    }
}

#[test]
fn clusters_are_those_of_statsmodels() {
    for row in rows("clustered") {
        let found = stat::clustered(&many(&row, "values"), &clusters(&row), one(&row, "level"));
        close(found.mean, one(&row, "mean"), &row);
        close_interval(found.interval, &row);
    }
    for row in rows("clustered_wilson") {
        let found = stat::clustered_wilson(&many(&row, "values"), &clusters(&row), one(&row, "level"));
        close(found.mean, one(&row, "mean"), &row);
        close_interval(found.interval, &row);
    }
}

#[test]
fn repeats_are_hypergeometric() {
    for row in rows("repeats") {
        let (n, passed, k) = (one(&row, "n") as u64, one(&row, "passed") as u64, one(&row, "k") as u64);
        close(stat::pass_at_k(n, passed, k).unwrap(), one(&row, "at"), &row);
        close(stat::pass_hat_k(n, passed, k).unwrap(), one(&row, "hat"), &row);
    }
    assert_eq!(stat::pass_at_k(3, 1, 4), None, "fewer runs than k");
    assert_eq!(stat::pass_at_k(3, 1, 0), None);
    let over = stat::mean_pass_at_k(&[(4, 2), (4, 4), (1, 1)], 2, LEVEL).unwrap();
    assert_eq!(over.n, 2, "a record with one run has no pass@2");
    close(over.mean, (1.0 - 1.0 / 6.0 + 1.0) / 2.0, &over);
    close(stat::mean_pass_hat_k(&[(4, 2), (4, 4)], 2, LEVEL).unwrap().mean, (1.0 / 6.0 + 1.0) / 2.0, &over);
    assert_eq!(stat::mean_pass_at_k(&[(1, 1)], 2, LEVEL), None);
}

#[test]
fn pairs_are_those_of_statsmodels_and_newcombe() {
    for row in rows("mcnemars") {
        close(stat::mcnemar_exact(count(&row, "first"), count(&row, "second")), one(&row, "p"), &row);
    }
    for row in rows("newcombe") {
        let counts: Vec<usize> = many(&row, "pairs").into_iter().map(|count| count as usize).collect();
        let [both, first, second, neither] = counts[..] else { panic!("four counts") };
        let found = stat::newcombe(Pairs { both, first, second, neither }, LEVEL);
        close(found.difference, one(&row, "difference"), &row);
        close_interval(found.interval, &row);
    }
}

#[test]
fn holm_and_percentiles_are_those_of_statsmodels_and_numpy() {
    for row in rows("holms") {
        for (found, expected) in stat::holm(&many(&row, "plain")).into_iter().zip(many(&row, "adjusted")) {
            close(found, expected, &row);
        }
    }
    for row in rows("percentiles") {
        for (percent, expected) in many(&row, "percents").into_iter().zip(many(&row, "points")) {
            close(stat::percentile(&many(&row, "values"), percent).unwrap(), expected, &row);
        }
    }
    assert_eq!(stat::median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(stat::percentile(&[], 50.0), None);
}

#[test]
fn values_get_the_interval_that_fits_them() {
    let method = |values: &[f64], clusters: Option<&[usize]>| stat::estimate(values, clusters, LEVEL).method;
    assert_eq!(method(&[0.0, 1.0, 1.0], None), "wilson");
    assert_eq!(method(&[0.0, 0.5, 1.0], None), "t");
    assert_eq!(method(&[0.0, 1.0, 1.0], Some(&[0, 1, 2])), "wilson", "no cluster has two");
    assert_eq!(method(&[0.0, 1.0, 1.0], Some(&[0, 1, 1])), "clustered wilson");
    assert_eq!(method(&[0.0, 0.5, 1.0], Some(&[0, 1, 1])), "clustered t");
}

#[test]
fn fewer_than_two_have_no_interval() {
    for (values, clusters) in
        [(vec![], vec![]), (vec![1.0], vec![0]), (vec![0.3], vec![0]), (vec![1.0, 0.0], vec![5, 5])]
    {
        let found = stat::estimate(&values, Some(&clusters), LEVEL);
        assert_eq!((found.n, found.interval), (values.len(), None), "{values:?}");
    }
    assert_eq!(stat::bootstrap(&[0.4], LEVEL, 1).interval, None);
    assert_eq!(stat::newcombe(Pairs { both: 1, ..Pairs::default() }, LEVEL).interval, None);
    let alone = stat::paired_bootstrap(&[0.4], 1);
    assert_eq!((alone.interval, alone.p), (None, None));
}

#[test]
fn equal_numbers_have_an_interval_of_that_number() {
    assert_eq!(stat::t_interval(&[0.25; 4], LEVEL).interval, Some((0.25, 0.25)));
    assert_eq!(stat::bootstrap(&[0.25; 4], LEVEL, 3).interval, Some((0.25, 0.25)));
}

#[test]
fn repeats_that_all_pass_count_no_more_than_their_records() {
    let clusters: Vec<usize> = (0..50).map(|place| place / 5).collect();
    let repeated = stat::estimate(&[1.0; 50], Some(&clusters), LEVEL).interval;
    assert_eq!(repeated, stat::wilson(10, 10, LEVEL).interval, "fifty runs of ten records are ten records");
}

#[test]
fn a_bootstrap_is_the_same_for_the_same_seed() {
    let values: Vec<f64> = (0..200).map(|place| f64::from(place % 7) / 7.0).collect();
    let found = stat::bootstrap(&values, LEVEL, 11);
    assert_eq!(found, stat::bootstrap(&values, LEVEL, 11));
    assert_ne!(found.interval, stat::bootstrap(&values, LEVEL, 12).interval);
    let (Estimate { interval: Some(resampled), .. }, Some(student)) =
        (&found, stat::t_interval(&values, LEVEL).interval)
    else {
        panic!("there are intervals")
    };
    assert!(
        (resampled.0 - student.0).abs() < 0.01 && (resampled.1 - student.1).abs() < 0.01,
        "{resampled:?} {student:?}"
    );
}

#[test]
fn a_paired_bootstrap_sees_a_difference_and_none() {
    let noise = |place: usize| ((place * 37) % 11) as f64 / 11.0 - 5.0 / 11.0;
    let none: Vec<f64> = (0..110).map(noise).collect();
    let some: Vec<f64> = (0..110).map(|place| noise(place) + 0.2).collect();
    let (none, some) = (stat::paired_bootstrap(&none, 5), stat::paired_bootstrap(&some, 5));
    assert!(none.p.unwrap() > 0.9 && none.interval.unwrap().0 < 0.0, "{none:?}");
    assert!(some.p.unwrap() < 0.001 && some.interval.unwrap().0 > 0.0, "{some:?}");
    assert_eq!(stat::paired_bootstrap(&[0.0; 9], 5).p, Some(1.0));
}

/// How probable each number of successes is.
fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut log_choose = 0.0;
    let each = (0..=n).map(|k| {
        if k > 0 {
            log_choose += ((n - k + 1) as f64 / k as f64).ln();
        }
        (log_choose + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln()).exp()
    });
    each.collect()
}

#[test]
fn wilson_covers_as_often_as_it_says() {
    let mut all = Vec::new();
    for n in [5, 10, 20, 50, 100, 200] {
        for step in 1..100 {
            let p = f64::from(step) / 100.0;
            let covers = |k: usize| {
                let (low, high) = stat::wilson(k, n, LEVEL).interval.unwrap();
                low <= p && p <= high
            };
            let masses = binomial(n, p);
            all.push(masses.iter().enumerate().filter(|(k, _)| covers(*k)).map(|(_, mass)| mass).sum::<f64>());
        }
    }
    let mean = stat::mean(&all);
    let least = all.iter().copied().fold(1.0, f64::min);
    assert!((mean - 0.95).abs() < 0.006, "covers {mean} on average");
    assert!(least > 0.83, "covers {least} at worst");
}
