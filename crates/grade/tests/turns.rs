//! Records with an answer for each turn.

use crate::scene::{graded, grader, line, object, outcome, trace, value};

const TWO: &str = r#"{"turns":[{"role":"user","content":"a","output":"one"},{"role":"user","content":"b","output":"two"},
{"role":"user","content":"c","output":"three"}]}"#;

fn record(expected: &str) -> String {
    format!(
        r#"{{"input":"a","turns":[{{"role":"user","content":"b"}},{{"role":"user","content":"c"}}],"expected_turns":{expected}}}"#
    )
}

#[test]
fn the_score_is_the_mean_over_turns_that_have_an_answer() {
    let contains = r#"{"kind":"contains"}"#;
    let two = trace(TWO);
    for (expected, line) in [
        (r#"["one","two","three"]"#, "1 pass"),
        (r#"["one",null,"x"]"#, "0.5 fail"),
        (r#"[null,"two",null]"#, "1 pass"),
        (r#"[null,null,null]"#, "unscored: no reference: `expected_output` is missing"),
        (r#"["one","two","three","four"]"#, "error: turn 4 was not answered"),
    ] {
        assert_eq!(outcome(contains, &record(expected), &two), line, "{expected}");
    }
    let found = graded(&grader(contains), &record(r#"["one",null,"x"]"#), &two, &mut |_| panic!("asked"));
    let turns = found.details.unwrap();
    let expected = r#"{"turns":[{"turn":0,"score":1,"rationale":"the answer contains it","submission":"one"},
        {"turn":2,"score":0,"rationale":"the answer does not contain it","submission":"three"}]}"#;
    assert_eq!(turns, value(expected));
}

#[test]
fn history_takes_no_turn() {
    let record = r#"{"input":"a","turns":[{"role":"assistant","content":"h"},{"role":"user","content":"b"}],
        "expected_turns":["one",null,"two"]}"#;
    assert_eq!(outcome(r#"{"kind":"exact_match"}"#, record, &trace(TWO)), "1 pass");
}

#[test]
fn what_is_about_the_session_stays_whole() {
    let record = record(r#"["one","two","three"]"#);
    assert_eq!(outcome(r#"{"kind":"max_tool_calls","max":0}"#, &record, &trace(TWO)), "1 pass");
    assert_eq!(outcome(r#"{"kind":"contains","expected":"three"}"#, &record, &trace(TWO)), "1 pass");
}

#[test]
fn a_reference_may_be_anywhere() {
    let grader = grader(r#"{"kind":"exact_match","reference":"metadata.answers.1"}"#);
    let fields = object(r#"{"metadata":{"answers":["x","three"]},"expected_turns":["q"]}"#);
    let found = graded(&grader, r#"{"metadata":{"answers":["x","three"]}}"#, &trace(TWO), &mut |_| panic!("asked"));
    assert_eq!(line(&found), "1 pass");
    assert!(grader.used(&fields).contains("metadata"));
    assert_eq!(grader.problem_of(&object("{}")).as_deref(), Some("no reference: `metadata.answers.1` is missing"));
    assert_eq!(grader.problem_of(&fields), None);
}
