//! Faults of servers, and what is made of them.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;
use crate::servers::{Reply as Does, Server};
use crate::turns::trial::{net, object};

fn sent(config: serde_json::Value, url: &str) -> (Result<Reply, AgentFailure>, u64) {
    let endpoint = Endpoint::new(&net(), &object(config), ("url", url), &[]).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut retries = 0;
    let outcome = runtime.block_on(endpoint.send("{}", "00-a-b-01", &|_| String::new(), &mut retries));
    (outcome, retries)
}

fn busy(times: usize) -> Server {
    Server::start(move |number, _| match number < times {
        true => Does::With(429, "retry-after", "0".into(), "slow down".into()),
        false => Does::Body(200, "{}".into()),
    })
}

#[test]
fn too_many_requests_are_tried_again_until_there_is_room() {
    let server = busy(7);
    let (outcome, retries) = sent(json!({}), &server.url("/"));
    assert_eq!((outcome.unwrap().status, retries), (200, 7));
    let server = busy(7);
    let (outcome, retries) = sent(json!({"max_retries": 2}), &server.url("/"));
    let failure = outcome.unwrap_err();
    assert_eq!((failure.kind, retries), ("status", 2));
    assert_eq!(failure.message, "answered with status 429 Too Many Requests: `slow down`, 3 times in all");
}

#[test]
fn a_server_that_asks_for_an_hour_is_not_waited_for() {
    let server = Server::start(|_, _| Does::With(429, "retry-after", "3600".into(), String::new()));
    let (outcome, retries) = sent(json!({}), &server.url("/"));
    assert_eq!((outcome.unwrap_err().message.as_str(), retries), ("answered with status 429 Too Many Requests", 0));
}

#[test]
fn faults_are_tried_again_and_other_statuses_are_not() {
    let once = |fault: Does| {
        let server =
            Server::start(move |number, _| if number == 0 { fault.clone() } else { Does::Body(200, "{}".into()) });
        let (outcome, retries) = sent(json!({"max_retries": 1}), &server.url("/"));
        (outcome.map(|reply| reply.status).map_err(|failure| failure.kind), retries)
    };
    assert_eq!(once(Does::Body(500, String::new())), (Ok(200), 1));
    assert_eq!(once(Does::Body(503, String::new())), (Ok(200), 1));
    assert_eq!(once(Does::Close), (Ok(200), 1));
    assert_eq!(once(Does::Truncated("{".into())), (Ok(200), 1));
    assert_eq!(once(Does::Raw(b"garbage\r\n\r\n".into())), (Ok(200), 1));
    for status in [400, 401, 404, 409, 422] {
        assert_eq!(once(Does::Body(status, String::new())), (Err("status"), 0), "{status}");
    }
}

#[test]
fn nobody_at_the_address_is_a_connection_fault() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (outcome, retries) = sent(json!({"max_retries": 1}), &format!("http://127.0.0.1:{port}/?key=${{KEY}}"));
    let failure = outcome.unwrap_err();
    assert_eq!((failure.kind, retries), ("connection", 1));
    assert!(failure.message.contains("refused") && !failure.message.contains("s3cret"), "{}", failure.message);
}

#[test]
fn a_long_answer_is_not_read_to_its_end() {
    let server = Server::start(|_, _| Does::Body(200, "x".repeat(9 << 20)));
    let failure = sent(json!({}), &server.url("/")).0.unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), ("protocol", "the answer is longer than 8 MiB"));
}

#[test]
fn secrets_are_sent_and_never_come_back() {
    let echo = Server::start(|number, request| {
        let text = format!("{} {}", request.header("authorization").unwrap(), request.path);
        Does::Body(if number == 0 { 200 } else { 400 }, text)
    });
    let config = json!({"api_key": "${KEY}", "headers": {"x-a": "b"}});
    let url = echo.url("/p?k=${KEY}");
    assert_eq!(sent(config.clone(), &url).0.unwrap().text, "Bearer [secret] /p?k=[secret]");
    let failure = sent(config, &url).0.unwrap_err();
    assert_eq!(failure.message, "answered with status 400 Bad Request: `Bearer [secret] /p?k=[secret]`");
    let seen = &echo.seen()[0];
    assert_eq!(seen.header("authorization"), Some("Bearer s3cret-value"));
    assert_eq!((seen.path.as_str(), seen.header("x-a")), ("/p?k=s3cret-value", Some("b")));
    assert_eq!(seen.header("traceparent"), Some("00-a-b-01"));
}

#[test]
fn an_endpoint_that_cannot_work_is_found_before_the_first_request() {
    let problem = |config: serde_json::Value, url: &str| {
        let problem = Endpoint::new(&net(), &object(config), ("url", url), &["input"]).err().unwrap();
        assert_eq!(problem.code, heldset_core::code::Code::E058);
        (problem.message, problem.help.unwrap())
    };
    let url = "http://127.0.0.1:1/";
    let (message, help) = problem(json!({"api_key": "${OTHER}"}), url);
    assert_eq!(message, "the variable `OTHER` is not set");
    assert_eq!(help, "set `OTHER` in the environment of heldset");
    assert_eq!(problem(json!({}), "localhost:80/x").0, "`localhost:80/x` is not an address");
    assert_eq!(problem(json!({}), "http://h/{inpt}").1, "did you mean `{input}`?");
    assert_eq!(problem(json!({"headers": {"a b": 1}}), url).0, "the name of the header `a b` cannot be sent");
    assert_eq!(problem(json!({"headers": []}), url).0, "`headers` is a mapping, not a list");
    assert_eq!(problem(json!({"max_retries": -1}), url).0, "`max_retries` is not a whole number from 0");
}

#[test]
fn connections_are_used_again() {
    let server = busy(0);
    let endpoint = Endpoint::new(&net(), &object(json!({})), ("url", &server.url("/")), &[]).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for _ in 0..5 {
            endpoint.send("{}", "", &|_| String::new(), &mut 0).await.unwrap();
        }
    });
    assert_eq!((server.seen().len(), server.connections()), (5, 1));
}
