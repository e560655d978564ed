//! Pairs, what is left out, and what the pairs say.
#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::value::Value;
use heldset_core::visibility::Viewer;

use super::*;
use crate::results::RowOutcome;
use crate::results::made_up::{doc, numbered, row, score, session, stored, unscored};

fn compared(a: Vec<Row>, b: Vec<Row>) -> Comparison {
    let (a, b) = (numbered(a), numbered(b));
    let each_a = |take: &mut dyn FnMut(&Row)| {
        a.iter().for_each(take);
        Ok(())
    };
    let each_b = |take: &mut dyn FnMut(&Row)| {
        b.iter().for_each(take);
        Ok(())
    };
    paired((&doc("run-a", &a), &each_a), (&doc("run-b", &b), &each_b)).map_err(|refusal| refusal.message).unwrap()
}

/// `passes` of ten records pass, from the first on.
fn ten(passes: usize) -> Vec<Row> {
    (0..10).map(|index| row(&format!("q{index}"), if index < passes { 1.0 } else { 0.0 })).collect()
}

#[test]
fn binary_metrics_are_paired_by_record_and_tested_exactly() {
    let found = compared(ten(2), ten(8));
    assert_eq!((found.pairs, found.left_out.total()), (10, 0));
    let exact = &found.metrics[0];
    assert_eq!((exact.a, exact.b), (0.2, 0.8));
    assert!((exact.difference - 0.6).abs() < 1e-12, "{}", exact.difference);
    // Six pairs, all on one side: 2 · 0.5⁶.
    assert!((exact.p.unwrap() - 0.03125).abs() < 1e-12, "{:?}", exact.p);
    let (low, high) = exact.interval.unwrap();
    assert!(low > 0.0 && low < 0.6 && high > 0.6 && high < 1.0, "{low} {high}");
    assert_eq!(exact.method, "exact mcnemar, newcombe interval");
    let improved: Vec<&str> = found.improved.iter().map(|moved| moved.id.as_str()).collect();
    assert_eq!(improved, ["q2", "q3", "q4", "q5", "q6", "q7"]);
    assert!(found.regressed.is_empty());
    let turned = compared(ten(8), ten(2));
    assert!((turned.metrics[0].difference + 0.6).abs() < 1e-12);
    assert_eq!((turned.regressed.len(), turned.improved.len()), (6, 0));
}

#[test]
fn other_content_missing_records_and_errors_are_left_out() {
    let mut a = ten(10);
    let mut b = ten(10);
    b[0].leaf = "other".to_owned();
    b[1] = unscored("q1", RowOutcome::Error, "error: timeout");
    a.push(row("only-a", 1.0));
    b.push(row("only-b", 0.0));
    let found = compared(a, b);
    assert_eq!(found.pairs, 8);
    let expected = LeftOut { only_a: 1, only_b: 1, unscored: 1, content_differs: vec!["q0".to_owned()] };
    assert_eq!(found.left_out, expected);
    assert_eq!((found.metrics[0].a, found.metrics[0].b), (1.0, 1.0));
    assert_eq!(found.metrics[0].p, Some(1.0));
}

#[test]
fn repeats_are_averaged_and_numbers_are_resampled() {
    let twice = |first: f64, second: f64| {
        let one = |index: usize, repeat: u64, value: f64| Row { repeat, ..row(&format!("q{index}"), value) };
        (0..6).flat_map(|index| [one(index, 0, first), one(index, 1, second)]).collect::<Vec<_>>()
    };
    let found = compared(twice(0.0, 1.0), twice(1.0, 1.0));
    assert_eq!(found.pairs, 6);
    let exact = &found.metrics[0];
    assert_eq!((exact.a, exact.b, exact.method.as_str()), (0.5, 1.0, "paired bootstrap"));
    assert_eq!(exact.interval, Some((0.5, 0.5)));
}

#[test]
fn several_metrics_are_corrected_and_lone_ones_told() {
    let with = |rows: Vec<Row>, name: &str| {
        let add = |row: Row| {
            let value = row.scores[0].score.unwrap();
            Row { scores: vec![score("exact", value), score("tone", value), score(name, value)], ..row }
        };
        rows.into_iter().map(add).collect::<Vec<_>>()
    };
    let found = compared(with(ten(2), "old"), with(ten(8), "new"));
    assert_eq!(found.other_metrics, ["old", "new"]);
    let plain: Vec<_> = found.metrics.iter().map(|metric| metric.p_plain.unwrap()).collect();
    let p: Vec<_> = found.metrics.iter().map(|metric| metric.p.unwrap()).collect();
    let near = |values: &[f64], expected: f64| values.len() == 2 && values.iter().all(|p| (p - expected).abs() < 1e-12);
    assert!(near(&plain, 0.03125) && near(&p, 0.0625), "{plain:?} {p:?}");
}

#[test]
fn scenarios_are_paired_when_both_runs_have_several() {
    let both = |value: f64| {
        let of = |scenario: &str| Row { scenario: scenario.to_owned(), ..row("q1", value) };
        vec![of("base"), of("tuned")]
    };
    assert_eq!(compared(both(0.0), both(1.0)).pairs, 2);
    // One scenario against several: those of its name.
    let found = compared(vec![row("q1", 1.0)], both(0.0));
    assert_eq!((found.pairs, found.left_out.total()), (1, 0));
}

#[test]
fn stored_runs_are_compared_and_others_are_unknown() {
    let session = session(Viewer::Owner);
    let plan = Value::Object(heldset_core::value::Object::new());
    stored(&session, "run-a", &plan, &numbered(ten(2)));
    stored(&session, "run-b", &plan, &numbered(ten(8)));
    let found = compare(&session, &CompareRequest { a: "run-a", b: "run-b" }).map_err(|refusal| refusal.message);
    let value = found.unwrap().to_value();
    let value = value.as_object().unwrap();
    assert_eq!(value.get("pairs"), Some(&Value::from(10)));
    assert_eq!(value.get("left_out"), Some(&Value::from(0)));
    let unknown = compare(&session, &CompareRequest { a: "run-a", b: "run-z" });
    assert_eq!(unknown.map_err(|refusal| refusal.message).unwrap_err(), "there is no run `run-z`");
}
