//! Sessions with servers that answer over plain HTTP.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value as Json, json};

use super::*;
use crate::servers::{Reply as Does, Server};
use crate::turns::trial::{hold, net, object, outputs, seed, task, value};

fn agent(mut config: Json, server: &Server) -> Box<dyn Agent> {
    config["url"].is_null().then(|| config["url"] = server.url("/run").into());
    prepare(&object(config), &net()).unwrap()
}

fn echo() -> Server {
    Server::start(|_, request| {
        Does::Body(200, json!({"output": request.json()["input"], "sid": "server-7"}).to_string())
    })
}

#[test]
fn every_turn_is_one_request_of_one_session() {
    let server = echo();
    let (progress, outcome) = hold(&*agent(json!({}), &server), &task(&["hello", "assistant: hi", "hitl: approved"]));
    assert_eq!(outcome, Ok(()));
    assert_eq!(outputs(&progress), ["hello", "approved"]);
    let roles: Vec<_> = progress.trace.turns.iter().map(|turn| turn.role.as_str()).collect();
    assert_eq!(roles, ["user", "hitl"]);
    let bodies: Vec<Json> = server.seen().iter().map(|request| request.json()).collect();
    assert_eq!(bodies[0], json!({"input": "hello", "session_id": "s1"}));
    assert_eq!(bodies.len(), 2);
    assert_eq!(server.seen()[0].header("traceparent"), Some(task(&[]).traceparent.as_str()));
    assert_eq!(server.seen()[0].header("content-type"), Some("application/json"));
}

#[test]
fn a_body_takes_values_and_text() {
    let server = echo();
    let body = json!({
        "q": "{input}", "text": "{record_id}/{turn}: {input} {{x}}", "seeds": "{seeds}", "messages": "{messages}",
        "more": ["{args}", 1, null, "{tools}"], "role": "{role}",
    });
    let config = json!({"body": body, "output": "$.output"});
    let mut task = task(&["a \"b\"", "c"]);
    task.seeds = vec![seed("src", "known", None)];
    task.args = Some(value(json!({"k": 1})));
    let agent = agent(config, &server);
    assert!(agent.facts().takes_seeds);
    let (progress, outcome) = hold(&*agent, &task);
    // The answer repeats a field that is not there.
    assert_eq!(outcome.unwrap_err().kind, "protocol");
    assert_eq!(progress.trace.seeds.len(), 1);
    let sent = server.seen()[0].json();
    assert_eq!(sent["q"], "a \"b\"");
    assert_eq!(sent["text"], "r1/0: a \"b\" {x}");
    assert_eq!(sent["seeds"], json!([{"source": "src", "content": "known"}]));
    assert_eq!(sent["messages"], json!([{"role": "user", "content": "a \"b\""}]));
    assert_eq!(sent["more"], json!([{"k": 1}, 1, null, []]));
}

#[test]
fn seeds_are_sent_once_and_history_grows() {
    let server = echo();
    let config = json!({"body": {"input": "{input}", "seeds": "{seeds}", "history": "{history}"}});
    let mut task = task(&["one", "two"]);
    task.seeds = vec![seed("s", "c", None), seed("s", "c", None)];
    let (progress, outcome) = hold(&*agent(config, &server), &task);
    assert_eq!(outcome, Ok(()));
    let seen = server.seen();
    assert_eq!(seen[0].json()["seeds"].as_array().unwrap().len(), 2);
    assert_eq!(seen[1].json()["seeds"], json!([]));
    let said = json!([{"role": "user", "content": "one"}, {"role": "assistant", "content": "one"}]);
    assert_eq!(seen[1].json()["history"], said);
    assert_eq!(progress.trace.seeds.len(), 2);
    assert!(!agent(json!({}), &server).facts().takes_seeds);
}

#[test]
fn the_session_of_the_server_is_sent_back() {
    let server = echo();
    let config = json!({"session_field": "$.sid", "body": {"input": "{input}", "s": "{session}"}});
    assert_eq!(hold(&*agent(config, &server), &task(&["a", "b"])).1, Ok(()));
    let sent: Vec<Json> = server.seen().iter().map(|request| request.json()["s"].clone()).collect();
    assert_eq!(sent, ["s1", "server-7"]);
    let server = echo();
    assert_eq!(hold(&*agent(json!({"session_field": "thread"}), &server), &task(&["a"])).1, Ok(()));
    assert_eq!(server.seen()[0].json(), json!({"input": "a", "thread": "s1"}));
}

#[test]
fn the_answer_is_where_the_plan_says() {
    let check = |config: Json, body: &str, expected: Result<&str, (&str, &str)>| {
        let text = body.to_owned();
        let server = Server::start(move |_, _| Does::Body(200, text.clone()));
        let (progress, outcome) = hold(&*agent(config, &server), &task(&["x"]));
        match expected {
            Ok(expected) => assert_eq!((outcome, outputs(&progress)), (Ok(()), vec![expected.to_owned()]), "{body}"),
            Err((kind, part)) => {
                let failure = outcome.unwrap_err();
                assert!(failure.kind == kind && failure.message.contains(part), "{body}: {failure:?}");
                assert_eq!(progress.trace.turns[0].output, None);
            }
        }
    };
    check(json!({}), "plain words", Ok("plain words"));
    check(json!({}), r#"{"output":{"a":[1]}}"#, Ok(r#"{"a":[1]}"#));
    check(json!({}), r#"{"text":"hi"}"#, Err(("protocol", "no `output`")));
    check(json!({}), r#"{"error":"out of cheese"}"#, Err(("agent", "out of cheese")));
    check(json!({"output": "$.a[?@.t=='x'].v"}), r#"{"a":[{"t":"y","v":1},{"t":"x","v":"found"}]}"#, Ok("found"));
    check(json!({"answer": "a.0.v"}), r#"{"a":[{"v":"dotted"}]}"#, Ok("dotted"));
    check(json!({"output": "$.a"}), "plain", Err(("protocol", "not JSON: `plain`")));
    check(json!({"output": "$.a"}), r#"{"b":1}"#, Err(("protocol", "nothing at `$.a`")));
}

#[test]
fn steps_usage_and_statuses_are_read() {
    let answer = json!({
        "output": "done", "trail": [{"type": "tool_call", "name": "look", "arguments": {"a": 1}, "output": "x"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 6},
    });
    let server = Server::start(move |_, _| Does::Body(404, answer.to_string()));
    let config = json!({"status": {"404": "answer"}, "steps": "$.trail"});
    let (progress, outcome) = hold(&*agent(config, &server), &task(&["x"]));
    assert_eq!(outcome, Ok(()));
    let turn = &progress.trace.turns[0];
    assert_eq!((turn.steps[0].name.as_deref(), turn.usage.input_tokens), (Some("look"), Some(5)));
    let config = json!({"status": {"404": "retry"}, "max_retries": 1});
    let (progress, outcome) = hold(&*agent(config, &server), &task(&["x"]));
    assert_eq!((outcome.unwrap_err().kind, progress.retries), ("status", 1));
}

#[test]
fn a_turn_that_takes_too_long_fails_with_what_was_there() {
    let server = Server::start(|number, request| match number {
        0 => Does::Body(200, json!({"output": request.json()["input"]}).to_string()),
        _ => Does::Hang,
    });
    let (progress, outcome) = hold(&*agent(json!({"timeout": 0.2}), &server), &task(&["one", "two", "three"]));
    assert_eq!(outcome.unwrap_err(), failure("timeout", "the turn took longer than 0.2 s"));
    assert_eq!((outputs(&progress), progress.trace.turns.len()), (vec!["one".to_owned()], 2));
}

#[test]
fn an_address_and_a_method_may_be_what_the_record_needs() {
    let server = Server::start(|_, request| Does::Body(200, format!("{} {}", request.method, request.path)));
    let config = json!({"url": server.url("/s/{session_id}?q={input}"), "method": "get"});
    let (progress, _) = hold(&*agent(config, &server), &task(&["a b&c"]));
    assert_eq!(outputs(&progress), ["GET /s/s1?q=a%20b%26c"]);
}

#[test]
fn a_target_that_cannot_work_is_refused() {
    let check = |config: Json, message: &str, help: &str| {
        let problem = prepare(&object(config), &net()).err().unwrap();
        assert_eq!((problem.message.as_str(), problem.help.as_deref()), (message, Some(help)));
    };
    let url = "http://127.0.0.1:1/";
    check(json!({}), "an `http` target has no `url`", "say where it is: `url: http://…`");
    check(json!({"url": url, "bdy": 1}), "a `http` target has no key `bdy`", "did you mean `body`?");
    check(json!({"url": url, "body": {"a": "{imput}"}}), "`{imput}` in `body` is not known", "did you mean `{input}`?");
    check(
        json!({"url": url, "status": {"404": "retri"}}),
        "`retri` is not what a status means",
        "a status means `answer`, `retry` or `error`; did you mean `retry`?",
    );
    let problem = prepare(&object(json!({"url": url, "output": "$.["})), &net()).err().unwrap();
    assert!(problem.message.starts_with("`$.[` is not a path"), "{}", problem.message);
}
