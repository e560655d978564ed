//! Traces as JSON, under all names that are read.

use heldset_core::json;
use heldset_core::trace::{Delivery, Step, StepKind, StepStatus, Trace, TurnTrace, Usage};
use heldset_core::value::Value;
use proptest::prelude::*;

fn value(text: &str) -> Value<'static> {
    json::read(text).unwrap().into_owned()
}

fn written(step: &str) -> Value<'static> {
    Step::from_value(&value(step)).unwrap().to_value()
}

#[test]
fn steps_are_read_under_many_names() {
    for (step, expected) in [
        (
            r#"{"tool":"t","args":{"a":1},"result":5}"#,
            r#"{"type":"tool_call","name":"t","arguments":{"a":1},"output":5}"#,
        ),
        (
            r#"{"type":"step","kind":"tool_result","id":"c","content":"x"}"#,
            r#"{"type":"tool_result","call_id":"c","output":"x"}"#,
        ),
        (r#"{"type":"step","name":"t"}"#, r#"{"type":"tool_call","name":"t"}"#),
        (r#"{"type":"step","content":"hi"}"#, r#"{"type":"message","output":"hi"}"#),
        (r#""hi""#, r#"{"type":"message","output":"hi"}"#),
        (
            r#"{"type":"action","content":"calling","toolName":"t","toolArgs":{},"status":"FAILURE","latencyMs":5}"#,
            r#"{"type":"tool_call","name":"t","arguments":{},"status":"error","elapsed_ms":5,"more":{"content":"calling"}}"#,
        ),
        (
            r#"{"type":"tool_call","name":"t","arguments":"{\"a\": 1}"}"#,
            r#"{"type":"tool_call","name":"t","arguments":{"a":1}}"#,
        ),
        (
            r#"{"type":"tool_call","name":"t","arguments":"a b"}"#,
            r#"{"type":"tool_call","name":"t","arguments":"a b"}"#,
        ),
        (r#"{"type":"response","text":"r","status":"SUCCESS"}"#, r#"{"type":"message","output":"r"}"#),
        (r#"{"type":"retrieval","source":"s"}"#, r#"{"type":"retrieval","sources":["s"]}"#),
        (r#"{"type":"retrieval","sources":[{"source":"s","x":1},"t"]}"#, r#"{"type":"retrieval","sources":["s","t"]}"#),
        (
            r#"{"type":"strange","content":"x","k":[1]}"#,
            r#"{"type":"message","output":"x","more":{"type":"strange","k":[1]}}"#,
        ),
        (
            r#"{"name":"t","error":{"code":1},"parent_call_id":"p"}"#,
            r#"{"type":"tool_call","name":"t","parent":"p","status":"error","error":"{\"code\":1}"}"#,
        ),
    ] {
        assert_eq!(written(step), value(expected), "{step}");
    }
    assert_eq!(Step::from_value(&value("5")), None);
}

#[test]
fn usage_is_read_under_both_names() {
    let usage = Usage::from_value(&value(r#"{"prompt_tokens":3,"output_tokens":4,"cost":0.5}"#));
    assert_eq!(usage, Usage { input_tokens: Some(3), output_tokens: Some(4), cost: Some(0.5) });
    assert!(Usage::from_value(&value("null")).is_empty());
}

#[test]
fn a_result_is_joined_to_its_call() {
    let trace = Trace::from_value(&value(
        r#"{"turns":[{"role":"user","content":"q","steps":[
        {"type":"tool_call","name":"a","call_id":"1"},{"type":"tool_call","name":"b","call_id":"2","arguments":{"x":1}},
        {"type":"tool_result","call_id":"1","output":"A"},{"type":"tool_result","call_id":"2","status":"error","error":"no"},
        {"type":"action","toolName":"c"},{"type":"tool_result","content":"C"},{"type":"tool_result","name":"d","output":"D"},
        {"type":"tool_result","call_id":"9","output":"lost"}]}]}"#,
    ))
    .unwrap();
    let told: Vec<String> = trace
        .tool_calls()
        .map(|call| {
            format!("{} {:?} {}", call.name, call.output.and_then(Value::as_str), call.status == StepStatus::Error)
        })
        .collect();
    assert_eq!(told, [r#"a Some("A") false"#, "b None true", r#"c Some("C") false"#, r#"d Some("D") false"#]);
}

fn text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("[a-z]{0,4}")
}

fn step() -> impl Strategy<Value = Step> {
    let kind = (0..StepKind::ALL.len()).prop_map(|place| StepKind::ALL[place].0);
    let values =
        || proptest::option::of(prop_oneof![any::<i64>().prop_map(Value::from), "[a-z ]{0,4}".prop_map(Value::from)]);
    let more = proptest::option::of("[a-z]{1,4}".prop_map(|key| {
        [(key.into(), Value::Bool(true))].into_iter().collect::<heldset_core::value::Object<'static>>().into()
    }));
    (
        kind,
        text(),
        text(),
        text(),
        values(),
        values(),
        proptest::bool::ANY,
        proptest::collection::vec("[a-z]{1,3}", 0..3),
        more,
    )
        .prop_map(|(kind, name, agent, call_id, arguments, output, failed, sources, more)| Step {
            kind,
            name,
            agent: agent.clone(),
            call_id,
            parent: agent,
            arguments,
            output,
            status: if failed { StepStatus::Error } else { StepStatus::Ok },
            error: None,
            sources,
            elapsed_ms: Some(1.5),
            more,
        })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(steps in proptest::collection::vec(step(), 0..4), output in text(), reported in text()) {
        let turn = TurnTrace {
            role: "hitl".to_owned(),
            content: "c".to_owned(),
            output: output.map(Value::from),
            steps,
            usage: Usage { input_tokens: Some(1), output_tokens: None, cost: Some(0.25) },
            elapsed_ms: 2.5,
            model_ms: 0.0,
        };
        let trace = Trace {
            turns: vec![turn, TurnTrace { role: "user".to_owned(), ..TurnTrace::default() }],
            seeds: vec![Delivery { source: "s".to_owned(), agent: None }, Delivery { source: "s".to_owned(), agent: Some("a".to_owned()) }],
            memory: Some(Value::from("m")),
            reported,
            log: None,
        };
        prop_assert_eq!(Trace::from_value(&trace.to_value()), Some(trace));
    }
}
