//! Counts, means and breakdowns of made-up rows.
#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::value::Object;

use super::*;
use crate::results::made_up::{row, score, tally, unscored};
use crate::results::{Row, Score};

fn labelled(row: Row, category: &str, topic: &str) -> Row {
    let mut labels = Object::new();
    labels.set("topic", topic.to_owned().into());
    Row { category: Some(category.to_owned()), labels, ..row }
}

#[test]
fn every_row_is_in_the_balance_and_only_scores_are_in_means() {
    let off_schema =
        Score { score: None, pass: None, problem: Some("unscored: off the schema".into()), ..score("exact", 0.0) };
    let rows = vec![
        row("a", 1.0),
        row("b", 0.0),
        Row { outcome: RowOutcome::Unscored, scores: vec![off_schema], ..row("c", 0.0) },
        unscored("d", RowOutcome::Error, "error: timeout"),
        unscored("e", RowOutcome::Skipped, "skipped: stopped"),
    ];
    let summary = tally(&rows).finish(None, None, None);
    let balance = summary.balance;
    assert_eq!((balance.planned, balance.scored, balance.unscored), (5, 2, 1));
    assert_eq!((balance.error, balance.skipped), (1, 1));
    assert!(balance.holds());
    let exact = summary.metric("exact").unwrap();
    assert_eq!((exact.scores.n, exact.scores.mean, exact.scores.method), (2, 0.5, "wilson"));
    assert_eq!((exact.unscored, exact.errors, exact.skipped), (1, 1, 1));
    assert_eq!(summary.primary.as_deref(), Some("exact"));
    assert_eq!(summary.outcomes.pass_rate(), Some(0.5));
}

#[test]
fn one_value_has_no_interval_and_none_no_mean() {
    let one = tally(&[row("a", 1.0)]).finish(None, None, None);
    assert_eq!(one.metrics[0].scores.interval, None);
    let text = |summary: &Summary| plain(&summary.scores());
    assert!(text(&one).contains(r#""interval":null,"max":1,"mean":1,"median":1,"method":"wilson","min":1,"n":1"#));
    let problem = Some("error: boom".to_owned());
    let failed = Score { score: None, pass: None, problem, ..score("exact", 0.0) };
    let none = tally(&[Row { outcome: RowOutcome::Error, scores: vec![failed], ..row("a", 0.0) }]);
    let none = none.finish(None, None, None);
    assert!(text(&none).contains(r#""errors":1"#) && text(&none).contains(r#""mean":null"#), "{}", text(&none));
}

#[test]
fn repeats_are_clusters_and_give_tries() {
    let mut rows = Vec::new();
    for (id, scores) in [("a", [1.0, 1.0]), ("b", [1.0, 0.0]), ("c", [0.0, 0.0])] {
        rows.extend((0..).zip(scores).map(|(repeat, value)| Row { repeat, ..row(id, value) }));
    }
    let summary = tally(&rows).finish(None, None, None);
    let exact = &summary.metrics[0];
    assert_eq!((exact.scores.n, exact.scores.method), (6, "clustered wilson"));
    let tries: Vec<_> = exact.tries.iter().map(|tries| (tries.k, tries.pass_at.mean, tries.pass_all.mean)).collect();
    assert_eq!(tries[0], (1, 0.5, 0.5));
    assert!((tries[1].1 - 2.0 / 3.0).abs() < 1e-12 && (tries[1].2 - 1.0 / 3.0).abs() < 1e-12, "{tries:?}");
}

#[test]
fn rows_are_broken_down_by_scenario_category_and_label() {
    let tuned = |row: Row| Row { scenario: "tuned".to_owned(), ..row };
    let rows = vec![
        labelled(row("a", 1.0), "hotel", "x"),
        labelled(row("b", 0.0), "flight", "x"),
        tuned(labelled(row("a", 1.0), "hotel", "x")),
        tuned(labelled(row("b", 1.0), "flight", "y")),
    ];
    let summary = tally(&rows).finish(Some("exact"), None, None);
    let means = |groups: &[Group]| -> Vec<(String, usize, f64)> {
        groups
            .iter()
            .map(|group| (group.name.clone(), group.metrics[0].scores.n, group.metrics[0].scores.mean))
            .collect()
    };
    assert_eq!(means(&summary.scenarios), [("base".to_owned(), 2, 0.5), ("tuned".to_owned(), 2, 1.0)]);
    assert_eq!(means(&summary.categories), [("flight".to_owned(), 2, 0.5), ("hotel".to_owned(), 2, 1.0)]);
    // The labels of a record are those of its first row.
    assert_eq!(means(&summary.labels), [("topic=x".to_owned(), 4, 0.75)]);
    assert_eq!(summary.metrics[0].bars, [1, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
}

#[test]
fn a_label_that_is_rather_an_id_is_not_broken_down() {
    let rows: Vec<Row> =
        (0..101).map(|index| labelled(row(&format!("q{index}"), 1.0), "c", &index.to_string())).collect();
    let summary = tally(&rows).finish(None, None, None);
    assert_eq!((summary.categories.len(), summary.labels.len()), (1, 0));
}
