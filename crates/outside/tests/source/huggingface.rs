//! A local server that speaks the paths of the hub.

use super::{Desk, rows_of};
use crate::servers::{Reply, Server};

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// A hub with one dataset, whose large files are at another server.
fn hub() -> (Server, Server) {
    let large = Server::start(|_, _| Reply::Body(200, "{\"id\": 2}\n".to_owned()));
    let elsewhere = large.url("/lfs/test.jsonl");
    let server = Server::start(move |_, request| {
        let path = request.path.as_str();
        let files =
            r#"[{"rfilename":"README.md"},{"rfilename":"data/test-0.jsonl"},{"rfilename":"data/train-0 a.jsonl"}]"#;
        match path.strip_prefix("/datasets/me/set/resolve/0123456789abcdef0123456789abcdef01234567/") {
            Some("data/train-0%20a.jsonl") => Reply::Body(200, "{\"id\": 1}\n".to_owned()),
            Some("data/test-0.jsonl") => Reply::With(302, "location", elsewhere.clone(), String::new()),
            Some(_) => Reply::Body(404, String::new()),
            None if path == "/api/datasets/me/set/revision/main" || path.ends_with(SHA) => {
                Reply::Body(200, format!(r#"{{"sha":"{SHA}","siblings":{files}}}"#))
            }
            None => Reply::Body(404, r#"{"error":"not found"}"#.to_owned()),
        }
    });
    (server, large)
}

fn read(server: &Server, operation: &str) -> Desk {
    let config = format!(r#"{{"endpoint": "{}", "repo": "me/set", "allow": ["127.0.0.1"]}}"#, server.url(""));
    Desk::new("huggingface", &config, operation).secret(r#"{"token": "hf_abcdefgh"}"#)
}

#[test]
fn a_branch_becomes_its_commit_and_files_are_followed_without_the_token() {
    let (server, large) = hub();
    let pages = read(&server, "{}").pages();
    assert_eq!(rows_of(&pages), [r#"{"id":2}"#, r#"{"id":1}"#]);
    assert!(pages.iter().all(|page| page.revision.as_deref() == Some(SHA)));
    assert_eq!(pages[2].skipped, [("README.md".to_owned(), "not a format that is read".to_owned())]);
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer hf_abcdefgh"));
    assert_eq!(large.seen()[0].header("authorization"), None);
}

#[test]
fn splits_and_pinned_revisions_are_chosen() {
    let (server, _large) = hub();
    assert_eq!(read(&server, r#"{"split": "train"}"#).rows(), [r#"{"id":1}"#]);
    assert_eq!(
        read(&server, &format!(r#"{{"revision": "{SHA}", "path": "data/test-0.jsonl"}}"#)).rows(),
        [r#"{"id":2}"#]
    );
    let refusal = read(&server, r#"{"revision": "v9"}"#).refusal();
    assert!(refusal.starts_with("E070 there is no revision `v9` of a dataset `me/set`"), "{refusal}");
    let refusal = read(&server, r#"{"split": "validation"}"#).refusal();
    assert!(refusal.starts_with("E070 there is no file"), "{refusal}");
}
