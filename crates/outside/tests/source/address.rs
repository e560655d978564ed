//! Where sources may go, and where a redirect may lead.

use super::Desk;
use crate::servers::{Reply, Server};

fn redirect(to: String) -> Server {
    Server::start(move |_, _| Reply::With(302, "location", to.clone(), String::new()))
}

fn desk(server: &Server, more: &str) -> Desk {
    let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"]{more}}}"#, server.url("/a"));
    Desk::new("http", &config, "{}").secret(r#"{"token": "topsecret-token"}"#)
}

#[test]
fn loopback_is_refused_unless_it_is_allowed() {
    let server = Server::start(|_, _| Reply::Body(200, "[]".to_owned()));
    let refusal = Desk::new("http", &format!(r#"{{"url": "{}"}}"#, server.url("/")), "{}").refusal();
    assert!(refusal.starts_with("E073 `127.0.0.1` is a loopback address, and may not be reached"), "{refusal}");
    assert!(refusal.contains("add `127.0.0.1` to `allow`"), "{refusal}");
    assert_eq!(server.connections(), 0);
    let named = server.url("/").replace("127.0.0.1", "localhost");
    let refusal = Desk::new("http", &format!(r#"{{"url": "{named}"}}"#), "{}").refusal();
    assert!(refusal.starts_with("E073 `localhost`"), "{refusal}");
    let allowed = Desk::new("http", &format!(r#"{{"url": "{named}", "allow": ["127.0.0.1"]}}"#), "{}");
    assert_eq!(allowed.rows().len(), 0);
}

#[test]
fn a_redirect_is_checked_like_the_first_address() {
    for to in [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://127.0.0.2/",
        "http://0x7f000002/",
        "http://[::ffff:10.0.0.1]/",
        "//192.168.0.1/x",
    ] {
        let server = redirect(to.to_owned());
        let refusal = desk(&server, "").refusal();
        assert!(refusal.starts_with("E073 "), "{to}: {refusal}");
        assert_eq!(server.seen().len(), 1, "{to}");
    }
    let refusal = desk(&redirect("file:///etc/passwd".to_owned()), "").refusal();
    assert!(refusal.starts_with("E073 ") && refusal.contains("no web address"), "{refusal}");
}

#[test]
fn credentials_stay_at_their_origin() {
    let other = Server::start(|_, _| Reply::Body(200, r#"[{"a":1}]"#.to_owned()));
    let server = redirect(other.url("/there"));
    let desk = desk(&server, r#", "headers": {"X-Mine": "1"}"#);
    assert_eq!(desk.rows(), [r#"{"a":1}"#]);
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer topsecret-token"));
    assert_eq!(server.seen()[0].header("x-mine"), Some("1"));
    assert_eq!((other.seen()[0].header("authorization"), other.seen()[0].header("x-mine")), (None, None));
}

#[test]
fn a_redirect_at_the_same_origin_keeps_the_credential_and_ends() {
    let server = Server::start(|_, request| match request.path.as_str() {
        "/a" => Reply::With(301, "location", "/b?x=1".into(), String::new()),
        "/b?x=1" => Reply::Body(200, "[]".to_owned()),
        _ => Reply::Body(404, String::new()),
    });
    desk(&server, "").rows();
    assert_eq!(server.seen()[1].header("authorization"), Some("Bearer topsecret-token"));
    let refusal = desk(&redirect("/a".to_owned()), "").refusal();
    assert!(refusal.starts_with("E070 sent elsewhere more than 5 times"), "{refusal}");
}

#[test]
fn the_next_page_is_at_the_same_origin() {
    let other = Server::start(|_, _| Reply::Body(200, "[]".to_owned()));
    let link = format!("<{}>; rel=\"next\"", other.url("/steal"));
    let server = Server::start(move |_, _| Reply::With(200, "link", link.clone(), r#"[{"a":1}]"#.into()));
    let config = format!(r#"{{"url": "{}", "allow": ["127.0.0.1"]}}"#, server.url("/a"));
    let desk =
        Desk::new("http", &config, r#"{"pagination": {"kind": "link"}}"#).secret(r#"{"token": "topsecret-token"}"#);
    let refusal = desk.refusal();
    assert!(refusal.starts_with("E073 the next page is said to be elsewhere"), "{refusal}");
    assert_eq!(other.seen().len(), 0);
}

#[test]
fn databases_buckets_and_repositories_are_guarded_too() {
    let query = r#"{"query": "select 1"}"#;
    for (kind, config, operation) in [
        ("sql", r#"{"url": "postgres://10.0.0.1/x"}"#, query),
        ("sql", r#"{"url": "mysql://192.168.0.1/x"}"#, query),
        ("sql", r#"{"url": "postgres://2130706433/x"}"#, query),
        ("bucket", r#"{"url": "s3://b/", "endpoint": "https://169.254.169.254"}"#, "{}"),
        ("git", r#"{"url": "https://127.0.0.1/x.git"}"#, "{}"),
        ("git", r#"{"url": "ssh://git@10.0.0.1/x.git"}"#, "{}"),
        ("huggingface", r#"{"endpoint": "http://127.0.0.1", "repo": "a/b"}"#, "{}"),
        ("jira", r#"{"url": "http://127.0.0.1"}"#, "{}"),
    ] {
        let refusal = Desk::new(kind, config, operation).refusal();
        assert!(refusal.starts_with("E073 "), "{kind} {config}: {refusal}");
    }
}
