//! Buckets: a folder always, S3 by moto when the test script started it.

use std::io::{Read as _, Write as _};

use super::{Desk, peer, rows_of};

#[test]
fn a_folder_is_a_bucket() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("p")).unwrap();
    std::fs::write(folder.path().join("p/a.jsonl"), "{\"id\": 1}\n").unwrap();
    std::fs::write(folder.path().join("p/b.csv"), "id\n2\n").unwrap();
    std::fs::write(folder.path().join("p/c.png"), [0x89, b'P']).unwrap();
    let read = |operation: &str| {
        Desk::new("bucket", &format!(r#"{{"url": "file://{}"}}"#, folder.path().display()), operation)
    };
    let pages = read(r#"{"prefix": "p"}"#).pages();
    assert_eq!(rows_of(&pages), [r#"{"id":1}"#, r#"{"id":"2"}"#]);
    assert_eq!(pages[2].skipped, [("p/c.png".to_owned(), "not a format that is read".to_owned())]);
    assert_eq!(rows_of(&read(r#"{"glob": "**/*.csv"}"#).pages()), [r#"{"id":"2"}"#]);
    assert!(read(r#"{"glob": "*.nothing"}"#).refusal().starts_with("E070 nothing in"));
}

/// Sends a request without a client of ours.
fn put(address: &str, path: &str, body: &[u8]) {
    let host = address.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let head =
        format!("PUT {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn objects_of_s3_are_read_with_the_credential_alone() {
    let Some(address) = peer("HELDSET_TEST_S3") else { return };
    let bucket = format!("source-{}", std::process::id());
    put(&address, &format!("/{bucket}"), b"");
    let large: String = (0..200_000).map(|number| format!("{{\"id\":{number},\"text\":\"{:060}\"}}\n", 0)).collect();
    put(&address, &format!("/{bucket}/in/large.jsonl"), large.as_bytes());
    put(&address, &format!("/{bucket}/in/small.csv"), b"id\n1\n");
    put(&address, &format!("/{bucket}/in/broken.jsonl"), b"{\n");
    put(&address, &format!("/{bucket}/other/x.jsonl"), b"{\"id\": 3}\n");
    let config = format!(
        r#"{{"url": "s3://{bucket}/in", "endpoint": "{address}", "allow_http": true, "allow": ["127.0.0.1"]}}"#
    );
    let read = |operation: &str| {
        Desk::new("bucket", &config, operation)
            .secret(r#"{"access_key_id": "k", "secret_access_key": "topsecret-word"}"#)
    };
    let pages = read("{}").pages();
    assert_eq!(rows_of(&pages).len(), 200_001);
    let first = pages.iter().find(|page| page.asked.ends_with("large.jsonl")).unwrap();
    assert_eq!(first.sha256, heldset_core::digest::sha256(large.as_bytes()).hex());
    assert!(first.revision.is_some());
    assert_eq!(
        pages.iter().flat_map(|page| &page.failed).map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["broken.jsonl"]
    );
    assert_eq!(rows_of(&read(r#"{"path": "small.csv"}"#).pages()), [r#"{"id":"1"}"#]);
    let missing = config.replace(&bucket, "no-such-bucket");
    let refusal = Desk::new("bucket", &missing, "{}").refusal();
    assert!(refusal.starts_with("E070 ") && !refusal.contains("topsecret"), "{refusal}");
}
