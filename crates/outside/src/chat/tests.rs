//! Conversations with a model that does as a script says.

#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::trace::{StepKind, StepStatus};
use serde_json::{Value as Json, json};

use super::*;
use crate::servers::{Reply as Does, Say, Server, openai};
use crate::turns::trial::{hold, net, object, outputs, seed, task, value};

fn agent(mut config: Json, server: &Server) -> Box<dyn Agent> {
    config["base_url"] = server.url("/v1").into();
    config["model"] = "m1".into();
    prepare(&object(config), &net()).unwrap()
}

fn messages(server: &Server, request: usize) -> Json {
    server.seen()[request].json()["messages"].clone()
}

#[test]
fn a_conversation_goes_on_over_its_turns() {
    let server = openai(vec![Say::Text("one"), Say::Text("two")]);
    let config = json!({"system": "be brief", "temperature": 0, "seed": 7, "api_key": "${KEY}"});
    let mut task = task(&["hi", "assistant: earlier", "hitl: go on"]);
    task.seeds = vec![seed("doc-1", "Alice likes trains", None)];
    let (progress, outcome) = hold(&*agent(config, &server), &task);
    assert_eq!(outcome, Ok(()));
    assert_eq!(outputs(&progress), ["one", "two"]);
    let sent = server.seen()[0].json();
    assert_eq!((&sent["model"], &sent["temperature"], &sent["seed"]), (&json!("m1"), &json!(0), &json!(7)));
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer s3cret-value"));
    assert_eq!(server.seen()[0].header("x-session-id"), Some("s1"));
    let said = messages(&server, 1);
    let roles: Vec<_> = said.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "system", "user", "assistant", "assistant", "user"]);
    assert_eq!(said[1]["content"], "[context: known before this conversation]\n\n[source: doc-1]\nAlice likes trains");
    assert_eq!(said[5], json!({"role": "user", "name": "operator", "content": "go on"}));
    assert_eq!((progress.trace.seeds.len(), progress.trace.reported.as_deref()), (1, Some("test-model-1")));
    assert_eq!((progress.trace.turns[1].role.as_str(), progress.trace.usage().input_tokens), ("hitl", Some(6)));
}

#[test]
fn tools_are_answered_by_fixtures_whole_and_in_pieces() {
    for stream in [false, true] {
        let script = vec![
            Say::Both("let me look", ("c1", "find", r#"{"to":"Rome"}"#)),
            Say::Calls(vec![("c2", "book", r#"{"n":2}"#), ("c3", "find", "{nonsense")]),
            Say::Text("all done"),
        ];
        let server = openai(script);
        let mut task = task(&["go"]);
        task.tools = Some(value(json!([{"name": "find", "description": "finds"}])));
        task.runtime = object(json!({"tool_fixtures": {"find": {"trains": [1, 2]}}}));
        let (progress, outcome) = hold(&*agent(json!({"stream": stream, "tools": ["book"]}), &server), &task);
        assert_eq!(outcome, Ok(()), "stream: {stream}");
        assert_eq!(outputs(&progress), ["all done"]);
        let steps = &progress.trace.turns[0].steps;
        let told: Vec<_> = steps.iter().map(|step| (step.kind, step.name.as_deref(), step.status)).collect();
        assert_eq!(
            told,
            [
                (StepKind::Message, None, StepStatus::Ok),
                (StepKind::ToolCall, Some("find"), StepStatus::Ok),
                (StepKind::ToolCall, Some("book"), StepStatus::Error),
                (StepKind::ToolCall, Some("find"), StepStatus::Error),
            ]
        );
        assert_eq!(steps[1].arguments, Some(value(json!({"to": "Rome"}))));
        assert_eq!(steps[1].output, Some(value(json!({"trains": [1, 2]}))));
        assert_eq!(
            (steps[1].call_id.as_deref(), steps[3].error.as_deref()),
            (Some("c1"), Some("the arguments are not JSON"))
        );
        assert_eq!(steps[2].error.as_deref(), Some("no fixture answers the tool `book`"));
        let said = messages(&server, 2);
        assert_eq!(said[2], json!({"role": "tool", "tool_call_id": "c1", "content": r#"{"trains":[1,2]}"#}));
        assert_eq!(said[4]["content"], "error: no fixture answers the tool `book`");
        let tools = server.seen()[0].json()["tools"].clone();
        assert_eq!(tools[0]["function"]["name"], "book");
        assert_eq!(tools[1]["function"]["description"], "finds");
        let turn = &progress.trace.turns[0];
        assert_eq!((turn.usage.input_tokens, turn.usage.output_tokens), (Some(9), Some(6)));
    }
}

#[test]
fn a_model_that_never_answers_is_stopped() {
    let server = openai(vec![Say::Calls(vec![("c", "t", "{}")])]);
    let (progress, outcome) = hold(&*agent(json!({"max_steps": 3}), &server), &task(&["go"]));
    assert_eq!(outcome.unwrap_err(), failure("agent", "no answer after the model was asked 3 times in one turn"));
    assert_eq!((server.seen().len(), progress.trace.turns[0].steps.len()), (3, 3));
}

#[test]
fn a_fault_of_the_server_is_a_failure_with_a_reason() {
    let check = |fault: Does, kind: &str, part: &str| {
        let server = openai(vec![Say::Fault(fault)]);
        let (_, outcome) = hold(&*agent(json!({"max_retries": 0}), &server), &task(&["go"]));
        let failure = outcome.unwrap_err();
        assert!(failure.kind == kind && failure.message.contains(part), "{failure:?}");
    };
    check(Does::Body(200, "<html>".into()), "protocol", "not JSON: `<html>`");
    check(Does::Body(200, r#"{"choices":[]}"#.into()), "protocol", "no chat completion");
    check(Does::Body(200, r#"{"error":{"message":"no credit"}}"#.into()), "agent", "no credit");
    check(Does::Body(401, "who?".into()), "status", "401 Unauthorized: `who?`");
    check(Does::Body(200, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".into()), "protocol", "broke off");
    check(Does::Body(200, "data: {\n\n".into()), "protocol", "not JSON");
    check(Does::Close, "connection", "");
}

#[test]
fn a_target_without_an_address_is_refused() {
    let problem = prepare(&object(json!({"model": "m"})), &net()).err().unwrap();
    assert_eq!(problem.message, "the target has no `base_url`");
    let config = object(json!({"base_url": "http://h/v1", "sistem": "x"}));
    assert_eq!(prepare(&config, &net()).err().unwrap().help.as_deref(), Some("did you mean `system`?"));
}
