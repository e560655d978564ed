//! Files of this machine.

use super::{Desk, rows_of};

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("a.jsonl", "{\"id\": \"x\", \"n\": 9007199254740993}\n{\"n\": 2}\n");
    write("b.csv", "id,name\n1,one\n");
    write("deep/c.json", "[{\"id\": 3}]");
    write("deep/d.yaml", "- id: 4\n  tags: [a, b]\n");
    write("deep/e.json", r#"{"data": {"items": [{"id": 5}]}}"#);
    write("deep/broken.jsonl", "{\"id\": 6}\n{\"id\": \n");
    write("notes.txt", "not rows");
    write(".hidden/x.jsonl", "{\"id\": 7}\n");
    folder
}

fn read(path: &str, operation: &str) -> Desk {
    Desk::new("file", &format!(r#"{{"path": "{path}"}}"#), operation)
}

#[test]
fn a_file_keeps_its_rows_as_they_are() {
    let folder = folder();
    let pages = read("a.jsonl", "{}").folder(folder.path()).pages();
    assert_eq!(rows_of(&pages), [r#"{"id":"x","n":9007199254740993}"#, r#"{"n":2}"#]);
    assert_eq!((pages[0].asked.as_str(), pages[0].size), ("a.jsonl", 44));
    assert_eq!(
        pages[0].sha256,
        heldset_core::digest::sha256(&std::fs::read(folder.path().join("a.jsonl")).unwrap()).hex()
    );
    assert_eq!(read("b.csv", "{}").folder(folder.path()).rows(), [r#"{"id":"1","name":"one"}"#]);
    assert_eq!(read("deep/d.yaml", "{}").folder(folder.path()).rows(), [r#"{"id":4,"tags":["a","b"]}"#]);
    assert_eq!(read("deep/e.json", r#"{"records": "data.items"}"#).folder(folder.path()).rows(), [r#"{"id":5}"#]);
}

#[test]
fn a_folder_tells_what_was_skipped_and_what_failed() {
    let folder = folder();
    let pages = read(".", r#"{"glob": "**/*"}"#).folder(folder.path()).pages();
    let names: Vec<&str> = pages.iter().filter(|page| !page.rows.is_empty()).map(|page| page.asked.as_str()).collect();
    assert_eq!(names, ["a.jsonl", "b.csv", "deep/c.json", "deep/d.yaml"]);
    let skipped: Vec<_> = pages.iter().flat_map(|page| &page.skipped).collect();
    assert_eq!(skipped, [&("notes.txt".to_owned(), "not a format that is read".to_owned())]);
    let failed: Vec<&str> = pages.iter().flat_map(|page| &page.failed).map(|(name, _)| name.as_str()).collect();
    assert_eq!(failed, ["deep/broken.jsonl", "deep/e.json"]);
}

#[test]
fn patterns_choose_and_every_object_can_be_gone_on_from() {
    let folder = folder();
    assert_eq!(read("*.{csv,jsonl}", "{}").folder(folder.path()).rows().len(), 3);
    assert_eq!(read(".hidden/*", "{}").folder(folder.path()).rows(), [r#"{"id":7}"#]);
    let pages = read("deep/[cd].*", "{}").folder(folder.path()).refusal();
    assert!(pages.starts_with("E070 "), "{pages}");
    let all = || read("**/{a,b,c,d}.*", "{}").folder(folder.path());
    let pages = all().pages();
    let rest = all().after(pages[1].next.clone()).pages();
    assert_eq!(rows_of(&rest), rows_of(&pages[2..]));
}

#[test]
fn a_large_file_comes_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..2500).map(|number| format!("{{\"id\":{number}}}\n")).collect();
    std::fs::write(folder.path().join("many.jsonl"), lines).unwrap();
    let desk = || read("many.jsonl", "{}").folder(folder.path());
    let pages = desk().pages();
    assert_eq!(pages.iter().map(|page| page.rows.len()).collect::<Vec<_>>(), [1000, 1000, 500]);
    assert!(pages.iter().all(|page| page.sha256 == pages[0].sha256));
    assert_eq!(rows_of(&desk().after(pages[0].next.clone()).pages()), rows_of(&pages[1..]));
    assert_eq!(desk().limit(7).rows().len(), 7);
}

#[test]
fn what_is_named_and_cannot_be_read_is_told() {
    let folder = folder();
    let refusal = read("missing.jsonl", "{}").folder(folder.path()).refusal();
    assert!(refusal.starts_with("E070 nothing in"), "{refusal}");
    let refusal = read("deep/broken.jsonl", "{}").folder(folder.path()).refusal();
    assert!(refusal.starts_with("E071 `broken.jsonl` cannot be read: line 2"), "{refusal}");
    let refusal = read("deep/e.json", r#"{"records": "data.item"}"#).folder(folder.path()).refusal();
    assert!(refusal.contains("did you mean `items`?"), "{refusal}");
}

#[test]
fn nothing_leads_out_of_the_folder() {
    let folder = folder();
    for operation in [
        r#"{"path": "../a.jsonl"}"#,
        r#"{"glob": "deep/../../*.jsonl"}"#,
        r#"{"path": "/etc/hostname"}"#,
        r#"{"glob": "{..,deep}/*"}"#,
    ] {
        let refusal = read("deep", operation).folder(folder.path()).check();
        assert!(refusal.starts_with("E067 ") && refusal.contains("leads out of the folder"), "{operation}: {refusal}");
    }
    std::os::unix::fs::symlink(folder.path(), folder.path().join("deep/up")).unwrap();
    for operation in [r#"{"path": "up/a.jsonl"}"#, r#"{"glob": "up/*.jsonl"}"#] {
        let refusal = read("deep", operation).folder(folder.path()).refusal();
        assert!(refusal.starts_with("E067 ") && refusal.contains("by a link"), "{operation}: {refusal}");
    }
}

#[test]
fn links_and_pipes_are_told_and_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), "{\"id\": 1}\n").unwrap();
    std::os::unix::fs::symlink("a.jsonl", folder.path().join("link.jsonl")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket.jsonl")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.jsonl")).status().unwrap();
    assert!(made.success());
    let pages = read(".", "{}").folder(folder.path()).pages();
    assert_eq!(rows_of(&pages), [r#"{"id":1}"#]);
    let skipped: Vec<_> = pages.iter().flat_map(|page| &page.skipped).map(|(n, w)| (n.as_str(), w.as_str())).collect();
    let expected = [
        ("link.jsonl", "a symbolic link"),
        ("pipe.jsonl", "not a regular file"),
        ("socket.jsonl", "not a regular file"),
    ];
    assert_eq!(skipped, expected);
}
