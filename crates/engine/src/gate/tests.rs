//! Verdicts of made-up runs, and what of them leaves the store.
#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::json;
use heldset_core::visibility::Viewer;

use super::*;
use crate::results::made_up::{doc, numbered, row, session, stored, unscored};

const PLAN: &str =
    r#"{"name":"trip","gate":{"kind":"simple","metric_key":"exact","aggregation":"avg_score","op":"gte","value":0.5}}"#;

/// As many records as there are letters: `+` passes, `-` fails, `!` is an error.
fn rows(signs: &str) -> Vec<Row> {
    let one = |(index, sign): (usize, char)| {
        let id = format!("q{index}");
        match sign {
            '+' => row(&id, 1.0),
            '-' => row(&id, 0.0),
            '.' => unscored(&id, RowOutcome::Skipped, "skipped: stopped"),
            _ => {
                let failed = unscored(&id, RowOutcome::Error, "error: SECRET-REASON");
                Row { failure: Some("timeout: SECRET-FAILURE".to_owned()), ..failed }
            }
        }
    };
    numbered(signs.chars().enumerate().map(one).collect())
}

fn gated(signs: &str) -> Gated {
    let session = session(Viewer::Owner);
    stored(&session, "run-1", &json::read(PLAN).unwrap(), &rows(signs));
    gate(&session, &GateRequest { run: "last", rule: None, baseline: None }).map_err(|refusal| refusal.message).unwrap()
}

#[test]
fn a_gate_passes_fails_or_cannot_say_and_an_incomplete_run_comes_first() {
    for (signs, ending) in [
        ("++++++++++++++++++++", Ending::Pass),
        ("--------------------", Ending::Fail),
        ("++++++++++----------", Ending::Inconclusive),
        ("++++++++++++++++++.", Ending::Incomplete),
        ("++++++++!!!", Ending::Incomplete),
        ("----------!!!", Ending::Incomplete),
    ] {
        assert_eq!(gated(signs).ending(), ending, "{signs}");
    }
}

#[test]
fn errors_count_against_the_limit_of_the_plan() {
    for (signs, limit, complete) in [
        ("+++++++++!", "10%", true),
        ("++++++++!!", "10%", false),
        ("+++++++++!", "0", false),
        ("++++++++!!", "2", true),
        ("+++++++!!!", "2", false),
    ] {
        let mut doc = doc("run-1", &rows(signs));
        doc.max_errors = limit.to_owned();
        assert_eq!(incomplete(&doc).is_none(), complete, "{signs} {limit}");
    }
}

#[test]
fn the_answer_names_verdict_rule_and_data() {
    let value = gated("++++++++++++++++++++").to_value();
    let value = value.as_object().unwrap();
    for (name, expected) in [
        ("verdict", r#""pass""#),
        ("value", "1"),
        ("n", "20"),
        ("method", r#""wilson""#),
        ("digest", r#""sha256:aa""#),
        ("dataset", r#""trips""#),
        ("version", "3"),
        ("run", r#""run-1""#),
        ("incomplete", "null"),
    ] {
        assert_eq!(value.get(name), Some(&json::read(expected).unwrap()), "{name}");
    }
    assert!(value.get("rule").unwrap().as_object().is_some());
    assert_eq!(value.get("interval").unwrap().as_array().unwrap().len(), 2);
}

#[test]
fn a_rule_is_needed_and_a_baseline_only_where_the_rule_compares() {
    let session = session(Viewer::Owner);
    stored(&session, "run-1", &json::read(r#"{"name":"trip"}"#).unwrap(), &rows("++-"));
    stored(&session, "run-2", &json::read(PLAN).unwrap(), &rows("+++"));
    let refused = |run: &str, rule: Option<&str>, baseline: Option<&str>| {
        let rule = rule.map(|text| json::read(text).unwrap());
        gate(&session, &GateRequest { run, rule: rule.as_ref(), baseline }).map_err(|refusal| refusal.message)
    };
    assert_eq!(refused("run-1", None, None).unwrap_err(), "run `run-1` has no gate in its plan, and none is given");
    let regression = r#"{"gate":{"kind":"regression","metric_key":"exact","margin":0.1,"decide":"point"}}"#;
    let message = "the rule compares with another run, and none is named";
    assert_eq!(refused("run-1", Some(regression), None).unwrap_err(), message);
    let message = "a baseline is given, and the rule compares with none";
    assert_eq!(refused("run-2", None, Some("run-1")).unwrap_err(), message);
    assert_eq!(refused("run-2", Some(regression), Some("run-1")).unwrap().ending(), Ending::Pass);
    assert_eq!(refused("run-1", Some(regression), Some("run-2")).unwrap().ending(), Ending::Fail);
}

#[test]
fn whoever_may_not_see_scores_gets_no_verdict() {
    let session = session(Viewer::parse("operator").unwrap());
    let refused = gate(&session, &GateRequest { run: "none", rule: None, baseline: None });
    assert_eq!(refused.unwrap_err().code, Code::E120);
}

#[test]
fn files_for_continuous_integration_hold_no_sealed_text() {
    let mut gated = gated("+++++++++!");
    gated.cases[0].name = "a<b>&\"::error::%\n|".to_owned();
    let junit = gated.junit().unwrap();
    let (annotations, summary) = (gated.annotations(), gated.step_summary());
    for text in [&junit, &annotations, &summary] {
        for sealed in ["SECRET", "because", "answer to", "leaf of", "q0"] {
            assert!(!text.contains(sealed), "{sealed} in {text}");
        }
    }
    insta::assert_snapshot!(junit);
    insta::assert_snapshot!(annotations);
    insta::assert_snapshot!(summary);
}

#[test]
fn an_annotation_cannot_be_ended_by_a_name() {
    let mut gated = gated("-+++++++++");
    gated.cases[0].name = "x%\r\n::error::y".to_owned();
    let annotations = gated.annotations();
    assert_eq!(annotations.lines().count(), 2, "{annotations}");
    assert!(annotations.contains("x%25%0D%0A::error::y in base"), "{annotations}");
}

#[test]
fn the_verdict_is_in_the_log() {
    let session = session(Viewer::Owner);
    stored(&session, "run-1", &json::read(PLAN).unwrap(), &rows("+"));
    gate(&session, &GateRequest { run: "run-1", rule: None, baseline: None })
        .map_err(|refusal| refusal.message)
        .unwrap();
    let log = session.store.catalog().scan("audit", "").unwrap();
    let told = log.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("run run-1: inconclusive"));
    assert!(told, "{} entries", log.len());
}
