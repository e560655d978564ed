//! What services do wrong, and what is said of it.

use super::{Desk, numbered};
use crate::servers::{Reply, Request, Server};

fn desk(server: &Server, operation: &str) -> Desk {
    let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"], "timeout_s": 30}}"#, server.url("/x"));
    Desk::new("http", &config, operation).secret(r#"{"token": "topsecret-token"}"#)
}

fn answers(body: &'static str) -> Server {
    Server::start(move |_, _| Reply::Body(200, body.to_owned()))
}

const PAGED: &str = r#"{"records": "items", "pagination": {"kind": "page", "total": "total"}}"#;

#[test]
fn html_is_told_by_its_type_and_first_words_without_the_secret() {
    let html = "<!DOCTYPE html><title>Sign in</title> you sent topsecret-token";
    let server =
        Server::start(move |_, _| Reply::With(200, "content-type", "text/html; charset=utf-8".into(), html.into()));
    let refusal = desk(&server, "{}").refusal();
    assert!(refusal.starts_with("E071 HTML was answered (`text/html; charset=utf-8`): `<!DOCTYPE html>"), "{refusal}");
    assert!(refusal.contains("Sign in") && !refusal.contains("topsecret"), "{refusal}");
}

#[test]
fn what_is_not_json_is_told_with_its_place() {
    let refusal = desk(&answers("[{\"a\": 1},\n {\"a\" 2}]"), "{}").refusal();
    assert!(
        refusal.contains("E071 the answer is not JSON: expected `:`") && refusal.contains("line 2, column 7"),
        "{refusal}"
    );
    let server = Server::start(|_, _| Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n\"\xff\"".to_vec()));
    assert!(desk(&server, "{}").refusal().starts_with("E071 the answer is not UTF-8"));
}

#[test]
fn a_path_to_nothing_names_the_keys_that_are_there() {
    let refusal = desk(&answers(r#"{"items": [], "total": 3}"#), r#"{"records": "itmes"}"#).refusal();
    assert!(refusal.contains("E071") && refusal.contains("has `items`, `total`; did you mean `items`?"), "{refusal}");
    let refusal = desk(&answers(r#"{"items": []}"#), r#"{"pagination": {"kind": "page"}}"#).refusal();
    assert!(refusal.contains("`records` does not say which list: `items`"), "{refusal}");
}

#[test]
fn a_page_that_comes_again_ends_the_reading() {
    let same = Server::start(|_, _| Reply::Body(200, format!(r#"{{"items":{},"total":9}}"#, numbered(0, 3))));
    let (pages, refusal) = desk(&same, PAGED).read();
    assert_eq!(pages.len(), 1);
    let message = refusal.unwrap().message;
    assert_eq!(message, format!("the same page came again, at page 2 of `{}`", same.url("/x")));
    let nearly = Server::start(|number, _| Reply::Body(200, format!(r#"{{"n":{number},"items":{}}}"#, numbered(0, 3))));
    assert!(desk(&nearly, PAGED).refusal().starts_with("E072 the same page came again"));
}

#[test]
fn a_cursor_that_comes_back_ends_the_reading() {
    let server = Server::start(|number, _| {
        let cursor = ["a", "b", "c"][number % 3];
        Reply::Body(200, format!(r#"{{"items":{},"next":"{cursor}"}}"#, numbered(number, number + 1)))
    });
    let operation = r#"{"records": "items", "pagination": {"kind": "cursor", "cursor": "next"}}"#;
    let (pages, refusal) = desk(&server, operation).read();
    assert_eq!(pages.len(), 3);
    assert!(refusal.unwrap().message.starts_with("a cursor came back that was there before"));
}

#[test]
fn totals_must_fit_the_pages() {
    let changing = Server::start(|number, _| {
        Reply::Body(200, format!(r#"{{"items":{},"total":{}}}"#, numbered(number, number + 1), 5 + number))
    });
    assert!(desk(&changing, PAGED).refusal().starts_with("E072 the total was 5 and is now 6"));
    let short = Server::start(|number, _| {
        let rows = if number == 0 { numbered(0, 3) } else { "[]".to_owned() };
        Reply::Body(200, format!(r#"{{"items":{rows},"total":9}}"#))
    });
    assert!(desk(&short, PAGED).refusal().starts_with("E072 the pages ended after 3 rows, and the total is 9"));
}

#[test]
fn pages_without_end_are_given_up() {
    let server = Server::start(|number, _| Reply::Body(200, numbered(number, number + 1)));
    let operation = r#"{"max_pages": 4, "pagination": {"kind": "page"}}"#;
    let (pages, refusal) = desk(&server, operation).read();
    assert_eq!(pages.len(), 4);
    assert!(refusal.unwrap().message.starts_with("the pages did not end after 4"));
}

#[test]
fn no_answer_is_told_with_the_page_and_can_be_gone_on_from() {
    let server = Server::start(|_, request: &Request| match request.path.contains("page=2") {
        true => Reply::Hang,
        false => Reply::Body(200, numbered(0, 3)),
    });
    let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"], "timeout_s": 0.2}}"#, server.url("/x"));
    let (pages, refusal) = Desk::new("http", &config, r#"{"pagination": {"kind": "page"}}"#).read();
    let refusal = refusal.unwrap();
    assert_eq!(refusal.code.to_string(), "E070");
    assert_eq!(refusal.message, format!("no answer within 0.2 s, at page 2 of `{}`", server.url("/x")));
    assert!(pages[0].next.is_some());
}

#[test]
fn an_answer_that_is_too_large_is_not_kept() {
    let server = answers(r#"[{"a": "0123456789012345678901234567890123456789"}]"#);
    let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"], "max_bytes": 20}}"#, server.url("/x"));
    let refusal = Desk::new("http", &config, "{}").refusal();
    assert!(refusal.starts_with("E071 the answer is larger than 20 bytes"), "{refusal}");
}

#[test]
fn faults_that_pass_are_tried_again_and_others_are_not() {
    let server = Server::start(|number, _| match number {
        0 => Reply::Body(503, String::new()),
        1 => Reply::With(429, "retry-after", "7".into(), String::new()),
        2 => Reply::Close,
        3 => Reply::Truncated("[".to_owned()),
        _ => Reply::Body(200, "[]".to_owned()),
    });
    let patient = desk(&server, r#"{"retries": 5}"#);
    assert_eq!(patient.rows().len(), 0);
    let waits = patient.waits.lock().unwrap().clone();
    assert_eq!((waits.len(), waits[0], waits[1]), (4, 250, 7000), "{waits:?}");
    let broken = Server::start(|_, _| Reply::Body(500, "out of topsecret-token".to_owned()));
    let refusal = desk(&broken, r#"{"retries": 2}"#).refusal();
    assert!(
        refusal.contains("E070 answered with status 500 Internal Server Error: `out of [secret]`, 3 times in all"),
        "{refusal}"
    );
    assert_eq!(broken.seen().len(), 3);
    let forbidden = Server::start(|_, _| Reply::Body(403, String::new()));
    let refusal = desk(&forbidden, "{}").refusal();
    assert!(
        refusal.starts_with("E070 answered with status 403 Forbidden") && refusal.contains("credential"),
        "{refusal}"
    );
    assert_eq!(forbidden.seen().len(), 1);
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let server = answers("[]");
    let address = server.url("/x");
    drop(server);
    let config = format!(r#"{{"url": "{address}", "allow": ["127.0.0.1"]}}"#);
    let refusal = Desk::new("http", &config, r#"{"retries": 0}"#).refusal();
    assert!(refusal.starts_with("E070 "), "{refusal}");
}

#[test]
fn a_feed_that_is_dropped_leaves_its_server_alone() {
    use heldset_engine::feeds::Feeds as _;
    let server = Server::start(|_, _| Reply::Hang);
    let desk = desk(&server, "{}");
    let sources = desk.sources();
    drop(sources.open(&desk.request).map_err(|refusal| refusal.message));
}
