//! What each rule makes of an answer.

use crate::scene::{graded, grader, line, outcome, said, trace, value};

/// A rule, a reference, an answer (all in JSON), and how it goes.
fn check(rows: &[(&str, &str, &str, &str)]) {
    for (config, reference, answer, expected) in rows {
        let record = format!(r#"{{"input":"q","expected_output":{reference}}}"#);
        assert_eq!(outcome(config, &record, &said(answer)), *expected, "{config} {reference} {answer}");
    }
}

#[test]
fn texts() {
    check(&[
        (r#"{"kind":"exact_match"}"#, r#""Paris""#, r#""\u001c Paris\n""#, "1 pass"),
        (r#"{"kind":"exact_match"}"#, r#""Paris""#, r#""paris""#, "0 fail"),
        (r#"{"kind":"exact_match","ignore_case":true}"#, r#""Paris""#, r#""paris""#, "1 pass"),
        (r#"{"kind":"exact_match"}"#, "42", r#""42""#, "1 pass"),
        (r#"{"kind":"exact_match"}"#, r#"{"b":1,"a":[2]}"#, r#"{"a":[2.0],"b":1}"#, "1 pass"),
        (r#"{"kind":"exact_match"}"#, r#""x""#, r#""""#, "0 fail"),
        (r#"{"kind":"contains"}"#, r#""paris""#, r#""It is PARIS.""#, "1 pass"),
        (r#"{"kind":"contains","case_sensitive":true}"#, r#""paris""#, r#""It is PARIS.""#, "0 fail"),
        (r#"{"kind":"contains","negate":true}"#, r#""paris""#, r#""Rome""#, "1 pass"),
        (r#"{"kind":"contains"}"#, "null", r#""Rome""#, "unscored: no reference: `expected_output` is missing"),
        (r#"{"kind":"contains"}"#, r#""""#, r#""Rome""#, "unscored: no reference: `expected_output` is missing"),
        (r#"{"kind":"contains","compat":"letta"}"#, r#""""#, r#""Rome""#, "0 fail"),
        (r#"{"kind":"contains","compat":"letta"}"#, r#"["Rome"]"#, r#""Rome""#, "error: the reference is not text"),
        (r#"{"kind":"contains","expected":"Rome"}"#, "null", r#""Rome""#, "1 pass"),
        (r#"{"kind":"regex_match"}"#, r#""^(?P<n>a)(?P=n)$""#, r#""aa\n""#, "1 pass"),
        (r#"{"kind":"regex_match","pattern":"\\p{Lu}"}"#, "null", r#""aB""#, "1 pass"),
        (
            r#"{"kind":"regex_match"}"#,
            r#""(""#,
            r#""a""#,
            "error: the reference is no valid pattern: missing ), unterminated subpattern",
        ),
        (r#"{"kind":"regex_match","compat":"letta"}"#, r#""(""#, r#""a""#, "0 fail"),
        (r#"{"kind":"ascii_printable_only"}"#, "null", r#""a~ \r\n""#, "1 pass"),
        (r#"{"kind":"ascii_printable_only"}"#, "null", r#""a\tb""#, "0 fail"),
    ]);
}

#[test]
fn a_pattern_that_never_ends_is_an_error() {
    let answer = format!(r#""{}b""#, "a".repeat(60));
    let record = r#"{"expected_output":"^(a|aa|a+)+\\1$"}"#;
    assert_eq!(
        outcome(r#"{"kind":"regex_match"}"#, record, &said(&answer)),
        "error: the pattern needs more than 1000000 steps"
    );
}

#[test]
fn numbers() {
    let near = r#"{"kind":"numeric","tolerance":0.01}"#;
    let relative = r#"{"kind":"numeric","relative":0.1}"#;
    let exact = r#"{"kind":"numeric"}"#;
    check(&[
        (near, "3.14", r#""about 3.15""#, "1 pass"),
        (near, "3.14", r#""3.16""#, "0 fail"),
        (relative, r#""100""#, r#""109.9""#, "1 pass"),
        (relative, "100", r#""111""#, "0 fail"),
        (exact, "1234567", r#""1,234,567.""#, "1 pass"),
        (exact, "9007199254740993", r#""9007199254740992""#, "0 fail"),
        (exact, "-5", r#""minus: −5""#, "1 pass"),
        (exact, "5", r#""10-5""#, "1 pass"),
        (exact, "42", "42.0", "1 pass"),
        (exact, "42", r#""the 42nd of 7""#, "0 fail"),
        (exact, "42", r#""none""#, "0 fail"),
        (exact, r#""forty""#, r#""40""#, "unscored: the reference is not a number"),
    ]);
}

#[test]
fn json() {
    let schema =
        r#"{"kind":"json_schema","schema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}}"#;
    check(&[
        (r#"{"kind":"json_equal"}"#, r#"{"a":1,"b":[1,2]}"#, r#""{\"b\": [1.0, 2], \"a\": 1}""#, "1 pass"),
        (r#"{"kind":"json_equal"}"#, r#"{"a":1}"#, r#"{"a":1,"b":2}"#, "0 fail"),
        (r#"{"kind":"json_equal"}"#, r#""{\"a\":1}""#, r#"{"a":1}"#, "1 pass"),
        (r#"{"kind":"json_equal"}"#, r#""Paris""#, r#""Paris\n""#, "1 pass"),
        (r#"{"kind":"json_subset"}"#, r#"{"a":{"x":1}}"#, r#"{"a":{"x":1,"y":2},"b":2}"#, "1 pass"),
        (r#"{"kind":"json_subset"}"#, r#"[{"a":1},{"b":1}]"#, r#"[{"a":1,"b":1},{"a":1}]"#, "1 pass"),
        (r#"{"kind":"json_subset"}"#, "[1,1]", "[1,2]", "0 fail"),
        (schema, "null", r#"{"a":1}"#, "1 pass"),
        (schema, "null", r#""{\"a\":\"x\"}""#, "0 fail"),
        (schema, "null", r#""no json""#, "0 fail"),
        (r#"{"kind":"json_schema"}"#, r#"{"type":"array"}"#, "[]", "1 pass"),
    ]);
}

#[test]
fn sets_and_similarity() {
    check(&[
        (r#"{"kind":"set_match"}"#, r#"["a","b"]"#, r#""b, a""#, "1 pass"),
        (r#"{"kind":"set_match"}"#, r#""a\nb""#, r#"["b","a","a"]"#, "1 pass"),
        (r#"{"kind":"set_match"}"#, r#"["a","b"]"#, r#""a""#, "0 fail"),
        (r#"{"kind":"set_match","mode":"f1"}"#, r#"["a","b"]"#, r#""a, c""#, "0.5 fail"),
        (r#"{"kind":"set_match","separator":";"}"#, r#""a,b;c""#, r#""c; a,b""#, "1 pass"),
        (r#"{"kind":"similarity","threshold":0.7}"#, r#""kitten""#, r#""sitten""#, "0.8333333333333334 pass"),
        (r#"{"kind":"similarity","method":"token"}"#, r#""the cat sat""#, r#""The cat, sat!""#, "1 pass"),
        (r#"{"kind":"similarity","method":"token"}"#, r#""a b""#, r#""a c""#, "0.5 fail"),
    ]);
}

#[test]
fn meaning_is_asked_for() {
    let grader =
        grader(r#"{"kind":"similarity","method":"semantic","model":"m","base_url":"http://x","threshold":0.5}"#);
    let run = |answer: &str| {
        let reply = value(answer);
        line(&graded(&grader, r#"{"expected_output":"a"}"#, &said(r#""b""#), &mut |_| Ok(reply.clone())))
    };
    assert_eq!(run("[[1,0],[1,1]]"), "0.7071067811865475 pass");
    assert_eq!(run(r#"{"data":[{"embedding":[1,0]},{"embedding":[-1,0]}]}"#), "0 fail");
    assert_eq!(run("[[1],[1,1]]"), "error: the embeddings are not two lists of numbers of one length");
}

const TOOLS: &str = r#"{"turns":[{"role":"user","content":"q","output":"done","elapsed_ms":120,
"usage":{"input_tokens":10,"output_tokens":5},"steps":[
{"type":"tool_call","name":"search","call_id":"1","arguments":{"q":"x","k":3}},{"type":"tool_result","call_id":"1","output":"hit"},
{"type":"retrieval","sources":["s1","s2"]},{"type":"tool_call","name":"book","arguments":"{\"id\": 7}","status":"error"},
{"type":"retrieval","sources":["s1","s3"]}]}]}"#;

#[test]
fn what_the_agent_did() {
    let trace = trace(TOOLS);
    for (config, record, expected) in [
        (r#"{"kind":"tool_called","name":"book"}"#, "{}", "1 pass"),
        (r#"{"kind":"tool_called"}"#, r#"{"expected_output":"pay"}"#, "0 fail"),
        (r#"{"kind":"tool_called"}"#, r#"{"expected_output":["book","search"]}"#, "1 pass"),
        (r#"{"kind":"tool_called"}"#, "{}", "unscored: no reference: `expected_output` is missing"),
        (r#"{"kind":"tool_arguments","name":"book","arguments":{"id":7}}"#, "{}", "1 pass"),
        (r#"{"kind":"tool_arguments","name":"search","arguments":{"q":"x"}}"#, "{}", "0 fail"),
        (r#"{"kind":"tool_arguments","name":"search","arguments":{"q":"x"},"mode":"subset"}"#, "{}", "1 pass"),
        (r#"{"kind":"tool_arguments"}"#, r#"{"expected_output":{"name":"book","arguments":{"id":7}}}"#, "1 pass"),
        (r#"{"kind":"tool_order","order":["search","book"]}"#, "{}", "1 pass"),
        (r#"{"kind":"tool_order","order":["book","search"]}"#, "{}", "0 fail"),
        (r#"{"kind":"tool_order","order":["book","search"],"mode":"any_order"}"#, "{}", "1 pass"),
        (r#"{"kind":"tool_order","order":["search"],"mode":"exact"}"#, "{}", "0 fail"),
        (
            r#"{"kind":"tool_order"}"#,
            r#"{"expected_trajectory":[{"description":"d","required_tools":["search"]}]}"#,
            "1 pass",
        ),
        (r#"{"kind":"max_tool_calls","max":2}"#, "{}", "1 pass"),
        (r#"{"kind":"max_tool_calls","max":1}"#, "{}", "0 fail"),
        (r#"{"kind":"max_tool_calls","max":1,"name":"book"}"#, "{}", "1 pass"),
        (r#"{"kind":"latency","max_ms":100}"#, "{}", "0 fail"),
        (r#"{"kind":"latency","max_ms":120}"#, "{}", "1 pass"),
        (r#"{"kind":"tokens","max":15}"#, "{}", "1 pass"),
        (r#"{"kind":"tokens","max":14}"#, "{}", "0 fail"),
        (r#"{"kind":"retrieval"}"#, r#"{"expected_sources":["s1","s9"]}"#, "0.5 fail"),
        (
            r#"{"kind":"retrieval","metric":"precision"}"#,
            r#"{"metadata":{"expected_sources":["s1","s2","s3"]}}"#,
            "1 pass",
        ),
        (r#"{"kind":"retrieval","metric":"hit@2","sources":["s3"]}"#, "{}", "0 fail"),
        (r#"{"kind":"retrieval","metric":"hit@k","k":3,"sources":["s3"]}"#, "{}", "1 pass"),
        (r#"{"kind":"retrieval"}"#, "{}", "unscored: no reference: `expected_sources` is missing"),
    ] {
        assert_eq!(outcome(config, record, &trace), expected, "{config} {record}");
    }
    assert_eq!(outcome(r#"{"kind":"tokens","max":1}"#, "{}", &said("1")), "unscored: the agent reports no tokens");
}

#[test]
fn graders_of_the_users_own() {
    let grader = grader(r#"{"kind":"tool","function":"g.py:f","extra":{"k":1}}"#);
    let run = |answer: Result<&str, &str>| {
        let reply = answer.map(value).map_err(str::to_owned);
        line(&graded(&grader, r#"{"input":"q","expected_output":"p"}"#, &said(r#""s""#), &mut |ask| {
            let heldset_grade::Ask::Python { function, role, payload } = ask else { panic!("{ask:?}") };
            assert_eq!((function.as_str(), *role), ("g.py:f", "grader"));
            let sample = payload.as_object().unwrap().get("sample").unwrap().as_object().unwrap();
            assert_eq!(sample.get("ground_truth"), Some(&value(r#""p""#)));
            assert_eq!(sample.get("id"), Some(&value(r#""r""#)));
            assert_eq!(payload.as_object().unwrap().get("submission"), Some(&value(r#""s""#)));
            assert_eq!(payload.as_object().unwrap().get("extra"), Some(&value(r#"{"k":1}"#)));
            reply.clone()
        }))
    };
    assert_eq!(run(Ok("0.25")), "0.25 fail");
    assert_eq!(run(Ok("true")), "1 pass");
    assert_eq!(run(Ok(r#"{"score":1,"rationale":"r","metadata":{}}"#)), "1 pass");
    assert_eq!(run(Ok("1.5")), "error: the grader's score 1.5 is not from 0 to 1");
    assert_eq!(run(Ok("{}")), "error: the grader's answer has no `score`");
    assert_eq!(run(Ok(r#""yes""#)), "error: the grader's score is text");
    assert_eq!(run(Err("boom")), "error: the grader failed: boom");
}
