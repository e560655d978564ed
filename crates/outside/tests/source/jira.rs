//! Jira, in both of the ways in which it cuts its answers.

use super::Desk;
use super::http::params;
use crate::servers::{Reply, Server};

fn issues(from: usize, to: usize) -> String {
    let issue = |number| format!(r#"{{"key":"A-{number}","fields":{{"summary":"s{number}"}}}}"#);
    format!("[{}]", (from..to).map(issue).collect::<Vec<_>>().join(","))
}

fn desk(server: &Server) -> Desk {
    let config = format!(r#"{{"base_url": "{}", "allow": ["127.0.0.1"]}}"#, server.url(""));
    Desk::new("jira", &config, r#"{"jql": "status = Open", "maxResults": 2, "fields": ["summary"]}"#)
        .operation("list_issues")
        .secret(r#"{"email": "me@x.example", "token": "abcdefgh"}"#)
}

#[test]
fn issues_come_by_start_and_total() {
    let server = Server::start(|_, request| {
        let asked = params(request);
        let from: usize = asked.get("startAt").and_then(|at| at.parse().ok()).unwrap_or(0);
        match request.path.starts_with("/rest/api/2/search?") {
            true => Reply::Body(
                200,
                format!(r#"{{"startAt":{from},"total":5,"issues":{}}}"#, issues(from, (from + 2).min(5))),
            ),
            false => Reply::Body(404, String::new()),
        }
    });
    let rows = desk(&server).rows();
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[4], r#"{"fields":{"summary":"s4"},"key":"A-4"}"#);
    let last = server.seen().pop().unwrap();
    assert!(last.path.contains("jql=status+%3D+Open") && last.path.contains("fields=summary"), "{}", last.path);
    assert!(last.path.contains("maxResults=2") && last.path.contains("startAt=4"), "{}", last.path);
    assert_eq!(last.header("authorization"), Some("Basic bWVAeC5leGFtcGxlOmFiY2RlZmdo"));
}

#[test]
fn issues_come_by_token() {
    let server = Server::start(|_, request| {
        assert!(request.path.starts_with("/rest/api/3/search/jql?"));
        match params(request).get("nextPageToken").map(String::as_str) {
            None => Reply::Body(200, format!(r#"{{"issues":{},"nextPageToken":"t1","isLast":false}}"#, issues(0, 2))),
            Some("t1") => Reply::Body(200, format!(r#"{{"issues":{},"isLast":true}}"#, issues(2, 3))),
            Some(other) => Reply::Body(400, other.to_owned()),
        }
    });
    let pages = desk(&server).pages();
    assert_eq!(pages.iter().map(|page| page.rows.len()).collect::<Vec<_>>(), [2, 1]);
    let rest = desk(&server).after(pages[0].next.clone()).rows();
    assert_eq!(rest.len(), 1);
}

#[test]
fn there_is_one_operation() {
    let server = Server::start(|_, _| Reply::Close);
    let refusal = desk(&server).operation("list_isues").check();
    assert!(refusal.starts_with("E067 a `jira` connector has no operation `list_isues` (did you mean `list_issues`?)"));
}
