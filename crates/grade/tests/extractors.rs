//! Which text of a session is graded.

use heldset_grade::{Ask, Scored};

use crate::scene::{graded, grader, line, said, trace, value};

const SESSION: &str = r#"{"turns":[
{"role":"user","content":"1","output":"one 1","steps":[{"type":"message","output":"zero 0"},{"type":"message","output":"one 1"}]},
{"role":"user","content":"2","output":"Answer: two 2 Answer: 3 ","steps":[
{"type":"tool_call","name":"t","call_id":"c","arguments":{"b":1,"a":2}},{"type":"tool_result","call_id":"c","output":{"r":[1]}}]}],
"memory":{"human":"Ann","list":[1]}}"#;

#[test]
fn what_is_found() {
    for (extractor, expected) in [
        (r#""last_assistant""#, "Answer: two 2 Answer: 3 "),
        (r#""first_assistant""#, "zero 0"),
        (r#"{"kind":"all_assistant","separator":"|"}"#, "zero 0|one 1|Answer: two 2 Answer: 3 "),
        (r#""last_turn""#, "Answer: two 2 Answer: 3 "),
        (r#"{"name":"pattern","pattern":"(\\w+) (?P<n>\\d)","group":"n","search_all":true}"#, "2"),
        (r#"{"kind":"pattern","pattern":"(\\w+) (\\d)","group":2}"#, "2"),
        (r#"{"kind":"tool_arguments","tool_name":"t"}"#, r#"{"a":2,"b":1}"#),
        (r#"{"kind":"tool_output","tool":"t"}"#, r#"{"r":[1]}"#),
        (r#"{"kind":"after_marker","marker":"Answer:"}"#, "two 2 Answer: 3"),
        (r#"{"kind":"after_marker","marker":"two","include_marker":true}"#, "two 2 Answer: 3"),
        (r#"{"kind":"memory_block","block_label":"human"}"#, "Ann"),
        (r#"{"kind":"turn","index":0}"#, "one 1"),
        (r#"{"kind":"turn","index":-1}"#, "Answer: two 2 Answer: 3 "),
    ] {
        let grader = grader(&format!(r#"{{"kind":"ascii_printable_only","extractor":{extractor}}}"#));
        let found = graded(&grader, "{}", &trace(SESSION), &mut |_| panic!("asked"));
        assert_eq!(found.submission.as_deref(), Some(expected), "{extractor}");
    }
}

#[test]
fn json_is_pointed_into() {
    for (answer, pointer, expected) in [
        (r#"{"a":[{"b/c":"x"}]}"#, "/a/0/b~1c", "x"),
        (r#""{\"a\": 5}""#, "/a", "5"),
        (r#""{\"a\": 5}""#, "", r#"{"a":5}"#),
    ] {
        let config = format!(
            r#"{{"kind":"contains","expected":"q","extractor":{{"kind":"json_pointer","pointer":"{pointer}"}}}}"#
        );
        let found = graded(&grader(&config), "{}", &said(answer), &mut |_| panic!("asked"));
        assert_eq!(found.submission.as_deref(), Some(expected), "{answer} {pointer}");
    }
}

#[test]
fn nothing_found_is_an_error_and_never_a_score() {
    for (extractor, expected) in [
        (r#"{"kind":"pattern","pattern":"nowhere"}"#, "no message matches the pattern"),
        (r#"{"kind":"tool_arguments","tool_name":"x"}"#, "the tool `x` was not called"),
        (r#"{"kind":"tool_output","tool_name":"x"}"#, "the tool `x` was not called"),
        (r#"{"kind":"after_marker","marker":"@@"}"#, "no message has the marker `@@`"),
        (r#"{"kind":"memory_block","block_label":"x"}"#, "the memory has no block `x`"),
        (r#"{"kind":"json_pointer","pointer":"/x"}"#, "the answer has nothing at `/x`"),
        (r#"{"kind":"turn","index":9}"#, "there is no turn 9 of 2"),
    ] {
        let grader = grader(&format!(r#"{{"kind":"ascii_printable_only","extractor":{extractor}}}"#));
        let found = graded(&grader, "{}", &trace(SESSION), &mut |_| panic!("asked"));
        assert_eq!(line(&found), format!("error: extractor found nothing: {expected}"));
    }
}

#[test]
fn a_custom_extractor_is_asked_and_then_graded() {
    let grader = grader(r#"{"kind":"exact_match","extractor":"e.py:f","extractor_config":{"k":1}}"#);
    for (answer, expected) in [
        (Ok(value(r#""Paris""#)), "1 pass"),
        (Ok(value("null")), "error: extractor found nothing: the extractor gave null"),
        (Err("boom".to_owned()), "error: the extractor failed: boom"),
    ] {
        let found = graded(&grader, r#"{"expected_output":"Paris"}"#, &trace(SESSION), &mut |ask| {
            let Ask::Python { role, payload, .. } = ask else { panic!("{ask:?}") };
            assert_eq!(*role, "extractor");
            assert_eq!(payload.as_object().unwrap().get("config"), Some(&value(r#"{"k":1}"#)));
            answer.clone()
        });
        assert_eq!(line(&found), expected);
        assert!(!matches!(found.outcome, Scored::Unscored(_)));
    }
}
