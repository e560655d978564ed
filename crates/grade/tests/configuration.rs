//! Faults of configurations, found before anything is run (E059, E057, E055).

use heldset_core::code::Code;
use heldset_grade::{Grader, default_graders};

use crate::scene::{grader, object, spec};

#[test]
fn faults_name_what_is_nearest() {
    for (config, message, help) in [
        (r#"{"kind":"exact_mach"}"#, "unknown kind `exact_mach`", "did you mean `exact_match`?"),
        (r#"{"kind":"tool","function":"contain"}"#, "unknown function `contain`", "did you mean `contains`?"),
        (r#"{"kind":"numeric","tolerence":1}"#, "unknown key `tolerence`", "did you mean `tolerance`?"),
        (
            r#"{"kind":"contains","extractor":"last_asistant"}"#,
            "unknown extractor `last_asistant`",
            "did you mean `last_assistant`?",
        ),
        (r#"{"kind":"set_match","mode":"f2"}"#, "unknown mode `f2`", "did you mean `f1`?"),
        (r#"{"kind":"contains","extractor":{"kind":"turn","indx":1}}"#, "unknown key `indx`", "did you mean `index`?"),
        (r#"{"kind":"contains","compat":"inspect"}"#, "unknown compatibility `inspect`", "use `letta/0.26`"),
    ] {
        let problem = Grader::new(&spec(config)).unwrap_err();
        assert_eq!(problem.code, Code::E059, "{config}");
        assert_eq!((problem.message.as_str(), problem.help.as_deref()), (message, Some(help)), "{config}");
    }
}

#[test]
fn faults_without_a_neighbour() {
    for (config, message) in [
        ("{}", "`kind` is missing"),
        (r#"{"kind":"tool"}"#, "`function` is missing"),
        (r#"{"kind":"latency"}"#, "`max_ms` is missing"),
        (r#"{"kind":"contains","weight":-1}"#, "`weight` must be a number from 0, not a number"),
        (r#"{"kind":"contains","threshold":2}"#, "`threshold` must be from 0 to 1"),
        (r#"{"kind":"contains","negate":"yes"}"#, "`negate` must be true or false, not text"),
        (r#"{"kind":"regex_match","pattern":"["}"#, "`[` is no valid pattern: unterminated character set"),
        (r#"{"kind":"contains","extractor":"pattern"}"#, "`pattern` is missing"),
        (r#"{"kind":"python","function":"f"}"#, "`f` names no Python function"),
        (r#"{"kind":"rubric","prompt_path":"x.txt"}"#, "the file of `prompt_path` was not read"),
        (r#"{"kind":"rubric","prompt":"p","repeats":0}"#, "`repeats` must be from 1 to 100"),
    ] {
        let problem = Grader::new(&spec(config)).unwrap_err();
        assert_eq!((problem.code, problem.message.as_str()), (Code::E059, message), "{config}");
    }
    let schema = Grader::new(&spec(r#"{"kind":"json_schema","schema":{"type":5}}"#)).unwrap_err();
    assert!(schema.message.starts_with("invalid JSON Schema: "), "{}", schema.message);
}

#[test]
fn a_key_is_named_and_not_written() {
    let problem = Grader::new(&spec(r#"{"kind":"rubric","prompt":"p","api_key":"sk-1"}"#)).unwrap_err();
    assert_eq!(problem.code, Code::E057);
    assert!(!format!("{problem:?}").contains("sk-1"));
    grader(r#"{"kind":"rubric","prompt":"p","api_key":"${KEY}"}"#);
}

#[test]
fn a_name_that_no_record_has_is_found_before_the_run() {
    let grader = grader(r#"{"kind":"rubric","prompt":"By {tonne}: {submission} as {\"score\": 1}"}"#);
    let fields = object(r#"{"input":"q","rubric_vars":{"tone":"kind"}}"#);
    let fault = grader.fault_of(&fields).unwrap();
    assert_eq!(fault.code, Code::E055);
    assert_eq!(fault.help.as_deref(), Some("did you mean `{tone}`?"));
    let told = grader.problem_of(&fields).unwrap();
    assert_eq!(told, "E055: unknown name `{tonne}` in the rubric; did you mean `{tone}`?");
    assert_eq!(grader.problem_of(&object(r#"{"rubric_vars":{"tonne":null}}"#)), None);
}

#[test]
fn a_case_that_cannot_be_scored_is_told_before_the_run() {
    for (config, record, expected) in [
        (r#"{"kind":"contains"}"#, r#"{"expected_output":""}"#, Some("no reference: `expected_output` is missing")),
        (r#"{"kind":"contains"}"#, r#"{"expected_output":0}"#, None),
        (r#"{"kind":"contains"}"#, r#"{"input":"q","expected_turns":["a"]}"#, None),
        (r#"{"kind":"numeric"}"#, r#"{"expected_output":"x"}"#, Some("the reference is not a number")),
        (
            r#"{"kind":"regex_match"}"#,
            r#"{"expected_output":"("}"#,
            Some("the reference is no valid pattern: missing ), unterminated subpattern"),
        ),
        (r#"{"kind":"outcomes"}"#, "{}", Some("no expected outcomes")),
        (r#"{"kind":"rubric"}"#, "{}", Some("no rubric")),
        (r#"{"kind":"rubric"}"#, r#"{"rubric":"good?"}"#, None),
        (r#"{"kind":"latency","max_ms":1}"#, "{}", None),
    ] {
        assert_eq!(grader(config).problem_of(&object(record)).as_deref(), expected, "{config} {record}");
    }
}

#[test]
fn identity_covers_the_rules_and_not_the_looks() {
    let id = |config: &str| grader(config).identity();
    assert_eq!(
        id(r#"{"kind":"contains"}"#),
        id(r#"{"kind":"tool","function":"contains","weight":2,"display_name":"C"}"#)
    );
    assert_ne!(id(r#"{"kind":"contains"}"#), id(r#"{"kind":"exact_match"}"#));
    assert_ne!(id(r#"{"kind":"contains"}"#), id(r#"{"kind":"contains","extractor":"last_turn"}"#));
    assert_ne!(id(r#"{"kind":"rubric","prompt":"a"}"#), id(r#"{"kind":"rubric","prompt":"b"}"#));
    assert_ne!(id(r#"{"kind":"rubric","prompt":"a"}"#), id(r#"{"kind":"rubric","prompt":"a","model":"m"}"#));
    assert_eq!(
        id(r#"{"kind":"rubric","prompt":"a","timeout":3}"#),
        id(r#"{"kind":"model_judge","prompt":"a","api_key":"${K}"}"#)
    );
    assert_ne!(id(r#"{"kind":"python","function":"a:b"}"#), id(r#"{"kind":"python","function":"a:c"}"#));
    assert_ne!(
        id(r#"{"kind":"python","function":"a:b","digest":"1"}"#),
        id(r#"{"kind":"python","function":"a:b","digest":"2"}"#)
    );
}

#[test]
fn without_graders_there_is_contains() {
    let specs = default_graders();
    let grader = Grader::new(&specs[0]).unwrap();
    assert_eq!((specs.len(), grader.name(), grader.weight(), grader.pass_threshold()), (1, "contains", 1.0, 1.0));
    assert_eq!(grader.uses(), ["expected_output", "expected_turns"]);
}

#[test]
fn graders_go_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Grader>();
}
