//! The four kinds of pages, formats, credentials, pace.

use std::collections::HashMap;

use heldset_core::value::Value;

use super::{Desk, numbered, rows_of};
use crate::servers::{Reply, Request, Server};

/// The parameters of a request.
pub(super) fn params(request: &Request) -> HashMap<String, String> {
    let query = request.path.split_once('?').map_or("", |(_, query)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn number(request: &Request, name: &str) -> usize {
    params(request).get(name).and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// A service with 25 rows that speaks all four ways.
fn service() -> Server {
    Server::start(|_, request| {
        let (from, to) = match request.path.split('?').next().unwrap() {
            "/pages" => ((number(request, "page") - 1) * 10, number(request, "page") * 10),
            "/offset" => (number(request, "offset"), number(request, "offset") + number(request, "limit").min(8)),
            "/cursor" | "/link" => (number(request, "after"), number(request, "after") + 10),
            "/lines" => {
                return Reply::With(
                    200,
                    "content-type",
                    "application/x-ndjson".into(),
                    "{\"id\":1}\n\n{\"id\":2}\n".into(),
                );
            }
            "/table" => {
                return Reply::With(200, "content-type", "text/csv".into(), "id,name\n1,\"a, b\"\n2,c\n".into());
            }
            _ => return Reply::Body(404, "{}".to_owned()),
        };
        let (from, to) = (from.min(25), to.min(25));
        let rows = numbered(from, to);
        match request.path.starts_with("/link") && to < 25 {
            true => Reply::With(200, "link", format!("</link?after={to}>; rel=\"next\""), rows),
            false if request.path.starts_with("/link") => Reply::Body(200, rows),
            false => {
                let next = if to < 25 { format!("{to}") } else { "null".to_owned() };
                let more = to < 25;
                Reply::Body(200, format!(r#"{{"data":{{"items":{rows}}},"next":{next},"more":{more},"total":25}}"#))
            }
        }
    })
}

fn desk(server: &Server, operation: &str) -> Desk {
    Desk::new("http", &format!(r#"{{"url": "{}", "allow": ["127.0.0.1"]}}"#, server.url("")), operation)
}

const PAGE: &str = r#"{"path": "/pages", "records": "data.items", "pagination": {"kind": "page", "page_size": 10}}"#;
const OFFSET: &str = r#"{"path": "/offset", "records": "data.items", "pagination": {"kind": "offset", "page_size": 10, "total": "total"}}"#;
const CURSOR: &str = r#"{"path": "/cursor", "records": "data.items",
    "pagination": {"kind": "cursor", "param": "after", "cursor": "next", "has_more": "more"}}"#;
const LINK: &str = r#"{"path": "/link", "pagination": {"kind": "link"}}"#;

#[test]
fn all_four_kinds_of_pages_give_all_rows_in_order() {
    let server = service();
    let expected: Vec<String> = (0..25).map(|number| format!(r#"{{"id":{number}}}"#)).collect();
    for operation in [PAGE, OFFSET, CURSOR, LINK] {
        assert_eq!(desk(&server, operation).rows(), expected, "{operation}");
    }
}

#[test]
fn an_empty_page_is_not_the_last_when_the_answer_says_so() {
    let server = Server::start(|_, request| {
        let at = number(request, "page").max(number(request, "offset") / 10);
        let rows = if at == 2 { "[]".to_owned() } else { numbered(at * 10, at * 10 + 10) };
        Reply::Body(200, format!(r#"{{"items":{rows},"more":{}}}"#, at < 4))
    });
    let ask = |paging: &str| {
        let operation = format!(r#"{{"records": "items", "pagination": {{"has_more": "more", {paging}}}}}"#);
        desk(&server, &operation)
    };
    assert_eq!(ask(r#""kind": "page""#).rows().len(), 30);
    assert_eq!(ask(r#""kind": "offset", "page_size": 10"#).rows().len(), 40);
    let refusal = ask(r#""kind": "offset""#).refusal();
    assert!(refusal.starts_with("E072 the answer says that there is more, and has neither rows"), "{refusal}");
    let endless = Server::start(|_, _| Reply::Body(200, r#"{"items":[],"more":true}"#.to_owned()));
    let operation = r#"{"records": "items", "max_pages": 3, "pagination": {"kind": "page", "has_more": "more"}}"#;
    assert!(desk(&endless, operation).refusal().starts_with("E072 the pages did not end after 3"));
}

#[test]
fn the_next_address_is_relative_to_the_one_that_answered() {
    let server = Server::start(|_, request| match request.path.as_str() {
        "/api/items" => Reply::With(302, "location", "/moved/here/items".into(), String::new()),
        "/moved/here/items" => Reply::Body(200, r#"{"items":[{"id":1}],"next":"?after=1"}"#.to_owned()),
        "/moved/here/items?after=1" => Reply::Body(200, r#"{"items":[{"id":2}],"next":"more/2"}"#.to_owned()),
        "/moved/here/more/2" => Reply::Body(200, r#"{"items":[{"id":3}],"next":null}"#.to_owned()),
        _ => Reply::Body(404, "{}".to_owned()),
    });
    let operation = r#"{"path": "/api/items", "records": "items", "pagination": {"kind": "link", "next": "next"}}"#;
    let pages = desk(&server, operation).pages();
    assert_eq!(rows_of(&pages).len(), 3);
    assert_eq!(pages[0].asked, server.url("/api/items"));
}

#[test]
fn a_reading_may_start_further_on() {
    let server = service();
    let offset = OFFSET.replace(r#""total": "total""#, r#""total": "total", "start": 20"#);
    assert_eq!(desk(&server, &offset).rows().len(), 5);
    let page = PAGE.replace(r#""page_size": 10"#, r#""page_size": 10, "start": 3, "total": "total""#);
    assert_eq!(desk(&server, &page).rows().len(), 5);
}

#[test]
fn every_page_can_be_gone_on_from() {
    let server = service();
    for operation in [PAGE, OFFSET, CURSOR, LINK] {
        let pages = desk(&server, operation).pages();
        for (number, page) in pages.iter().enumerate().filter(|(_, page)| page.next.is_some()) {
            let rest = desk(&server, operation).after(page.next.clone()).pages();
            assert_eq!(rows_of(&rest), rows_of(&pages[number + 1..]), "{operation}, page {number}");
        }
    }
}

#[test]
fn a_page_tells_what_was_asked_its_size_and_digest() {
    let server = service();
    let pages = desk(&server, CURSOR).pages();
    assert_eq!(pages[1].asked, server.url("/cursor?after=10"));
    assert_eq!(pages[0].total, None);
    assert_eq!(desk(&server, OFFSET).pages()[0].total, Some(25));
    assert_eq!((pages[0].sha256.len(), pages[0].size > 100), (64, true));
}

#[test]
fn a_limit_ends_the_reading() {
    let server = service();
    assert_eq!(desk(&server, PAGE).limit(12).rows().len(), 12);
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn lines_and_tables_are_read() {
    let server = service();
    let rows = |operation: &str| desk(&server, operation).rows();
    assert_eq!(rows(r#"{"path": "/lines", "format": "jsonl"}"#), [r#"{"id":1}"#, r#"{"id":2}"#]);
    let table = rows(r#"{"path": "/table", "format": "csv"}"#);
    assert_eq!(table, [r#"{"id":"1","name":"a, b"}"#, r#"{"id":"2","name":"c"}"#]);
}

#[test]
fn a_body_is_sent_and_can_hold_the_place_of_a_page() {
    let server = Server::start(|_, request| {
        let from = request.json()["from"].as_u64().unwrap_or(0) as usize;
        assert_eq!((request.method.as_str(), request.json()["query"].as_str()), ("POST", Some("x")));
        Reply::Body(200, format!(r#"{{"hits":{}}}"#, numbered(from.min(7), (from + 3).min(7))))
    });
    let operation = r#"{"method": "POST", "body": {"query": "x"}, "records": "hits",
        "pagination": {"kind": "offset", "param": "from", "in": "body"}}"#;
    assert_eq!(desk(&server, operation).rows().len(), 7);
}

#[test]
fn credentials_go_where_the_configuration_says() {
    let server = Server::start(|_, request| match request.path.starts_with("/q") {
        true => Reply::Body(200, format!(r#"[{{"path":"{}"}}]"#, request.path)),
        false => Reply::Body(200, "[]".to_owned()),
    });
    let ask = |auth: &str, secret: &str, path: &str| {
        let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"]{auth}}}"#, server.url(path));
        Desk::new("http", &config, "{}").secret(secret).pages()
    };
    ask("", r#"{"token": "abcdefgh"}"#, "/");
    ask(r#", "auth": {"kind": "basic"}"#, r#"{"username": "u", "password": "p"}"#, "/");
    ask(r#", "auth": {"kind": "header", "name": "X-Key", "from": "k"}"#, r#"{"k": "abcdefgh"}"#, "/");
    ask(r#", "auth": {"kind": "header", "name": "Authorization", "prefix": "Token"}"#, r#"{"token": "abcdefgh"}"#, "/");
    let seen = server.seen();
    let header = |number: usize, name: &str| seen[number].header(name).unwrap().to_owned();
    assert_eq!(header(0, "authorization"), "Bearer abcdefgh");
    assert_eq!(header(1, "authorization"), "Basic dTpw");
    assert_eq!(header(2, "x-key"), "abcdefgh");
    assert_eq!(header(3, "authorization"), "Token abcdefgh");
    let pages = ask(r#", "auth": {"kind": "query", "name": "key"}"#, r#"{"token": "abcd&efgh"}"#, "/q");
    assert_eq!(server.seen()[4].path, "/q?key=abcd%26efgh");
    assert_eq!(pages[0].asked, server.url("/q"));
    assert_eq!(rows_of(&pages), [r#"{"path":"/q?key=[secret]"}"#]);
}

#[test]
fn the_code_of_basic_authentication_is_not_told_when_it_comes_back() {
    let server = Server::start(|_, request| {
        let sent = request.header("authorization").unwrap_or_default();
        match request.path.as_str() {
            "/rows" => Reply::Body(200, format!(r#"[{{"sent":"{sent}"}}]"#)),
            _ => Reply::Body(400, format!("you sent {sent}")),
        }
    });
    let ask = |path: &str| {
        let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"]}}"#, server.url(path));
        Desk::new("http", &config, "{}").secret(r#"{"username": "u", "password": "p"}"#)
    };
    assert_eq!(ask("/rows").rows(), [r#"{"sent":"Basic [secret]"}"#]);
    let refusal = ask("/refused").refusal();
    assert!(refusal.contains("you sent Basic [secret]"), "{refusal}");
}

#[test]
fn no_written_form_of_a_secret_comes_back() {
    for form in [
        r#"pä ~s/*W\"x"#,
        r#"pä ~s\/*W\"x"#,
        r#"pä+~s/*W'x"#,
        "p%C3%A4%20~s%2F%2AW%22x",
        "p%c3%a4%20~s%2f%2aW%22x",
        "p%C3%A4+%7Es%2F*W%22x",
        "p%c3%a4+%7es%2f*W%22x",
        "bWU6cMOkIH5zLypXIng=",
        "bWU6cMOkIH5zLypXIng",
        "bWU6cMOkIH5zLypXIng%3D",
    ] {
        let (body, quote) = (format!(r#"[{{"told":"<{form}>"}}]"#), if form.contains('\'') { "'" } else { "\\\"" });
        let server = Server::start(move |_, _| Reply::Body(200, body.clone()));
        let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"]}}"#, server.url("/"));
        let secret = format!(r#"{{"user": "me", "password": "pä ~s/*W{quote}x"}}"#);
        let rows = Desk::new("http", &config, "{}").secret(&secret).rows();
        assert_eq!(rows, [r#"{"told":"<[secret]>"}"#], "{form}");
    }
}

#[test]
fn a_credential_that_cannot_be_sent_is_not_left_out() {
    let server = service();
    for auth in [r#"{"kind": "bearer"}"#, r#"{"kind": "header"}"#, r#"{"kind": "query"}"#] {
        let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"], "auth": {auth}}}"#, server.url(""));
        let refusal = Desk::new("http", &config, LINK).secret(r#"{"token": "abcdefgh\n"}"#).refusal();
        assert!(refusal.starts_with("E067 the credential of the connector has a character"), "{refusal}");
        assert!(!refusal.contains("abcdefgh"), "{refusal}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_credential_that_is_needed_and_missing_is_told() {
    let server = service();
    let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"], "auth": {{"kind": "bearer"}}}}"#, server.url(""));
    let desk = Desk::new("http", &config, LINK);
    assert_eq!(desk.check(), "fine");
    assert!(desk.refusal().starts_with("E067 the connector needs a credential with `token`"));
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn requests_keep_the_pace_that_was_asked_for() {
    let server = service();
    let operation = PAGE.replace(r#""page_size": 10}"#, r#""page_size": 10}, "rate_limit": {"per_second": 0.01}"#);
    let desk = desk(&server, &operation);
    assert_eq!(desk.rows().len(), 25);
    let waits = desk.waits.lock().unwrap().clone();
    assert_eq!(waits.len(), 3);
    assert!(waits.iter().all(|wait| (50_000..=100_000).contains(wait)), "{waits:?}");
}

#[test]
fn a_connection_is_used_again() {
    let server = service();
    desk(&server, PAGE).rows();
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_cursor_may_be_a_number() {
    let server = service();
    let pages = desk(&server, CURSOR).pages();
    let next = pages[0].next.as_ref().and_then(Value::as_object).unwrap();
    assert_eq!(next.get("cursor"), Some(&Value::from(10)));
}

/// Says how fast it was; checks that nothing is lost.
#[test]
fn many_pages_are_all_read() {
    const PAGES: usize = 60;
    let row = |id: usize| {
        format!(r#"{{"id":{id},"name":"name of {id}","score":{id}.5,"tags":["a","b"],"text":"{:0200}"}}"#, id)
    };
    let page = |number: usize| (number * 1000..(number + 1) * 1000).map(row).collect::<Vec<_>>().join(",");
    let bodies: Vec<String> = (0..PAGES).map(|number| format!("[{}]", page(number))).collect();
    let server = Server::start(move |_, request| {
        Reply::Body(200, bodies.get(number(request, "offset") / 1000).map_or("[]".to_owned(), Clone::clone))
    });
    let started = std::time::Instant::now();
    let rows: usize =
        desk(&server, r#"{"pagination": {"kind": "offset"}}"#).pages().iter().map(|page| page.rows.len()).sum();
    eprintln!("{:.0} rows in a second", rows as f64 / started.elapsed().as_secs_f64());
    assert_eq!(rows, PAGES * 1000);
    assert_eq!(server.seen().len(), PAGES + 1);
}
