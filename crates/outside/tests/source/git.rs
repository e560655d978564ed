//! A real repository, made here.

use std::path::Path;
use std::process::Command;

use super::{Desk, rows_of};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@x.example", "-c", "init.defaultBranch=main"]);
    let done = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

fn commit(folder: &Path, message: &str) -> String {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-qm", message]);
    git(folder, &["rev-parse", "HEAD"])
}

/// A repository with two commits, and their ids.
fn repository() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    git(path, &["init", "-q"]);
    std::fs::create_dir(path.join("data")).unwrap();
    std::fs::write(path.join("data/a.jsonl"), "{\"id\": 1}\n").unwrap();
    std::fs::write(path.join("data/hidden.jsonl"), "{\"id\": 9}\n").unwrap();
    std::fs::write(path.join(".gitattributes"), "data/hidden.jsonl export-ignore\n").unwrap();
    std::fs::write(path.join("data/big.csv"), "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        .unwrap();
    let first = commit(path, "one");
    git(path, &["tag", "v1"]);
    std::fs::write(path.join("data/a.jsonl"), "{\"id\": 1}\n{\"id\": 2}\n").unwrap();
    std::os::unix::fs::symlink("a.jsonl", path.join("data/link.jsonl")).unwrap();
    let second = commit(path, "two");
    (folder, first, second)
}

fn read(folder: &Path, operation: &str) -> Desk {
    Desk::new("git", &format!(r#"{{"path": "{}"}}"#, folder.display()), operation)
}

#[test]
fn a_branch_a_tag_and_a_commit_become_a_commit() {
    let (folder, first, second) = repository();
    for (revision, expected, rows) in [
        ("main", &second, 2),
        ("HEAD", &second, 2),
        ("v1", &first, 1),
        (first.as_str(), &first, 1),
        (&first[..10], &first, 1),
    ] {
        let operation = format!(r#"{{"revision": "{revision}", "path": "data/a.jsonl"}}"#);
        let pages = read(folder.path(), &operation).pages();
        assert_eq!(pages[0].revision.as_ref(), Some(expected), "{revision}");
        assert_eq!(rows_of(&pages).len(), rows, "{revision}");
    }
}

#[test]
fn all_files_of_a_commit_are_there_or_told() {
    let (folder, _, second) = repository();
    let pages = read(folder.path(), "{}").pages();
    let names: Vec<String> = pages.iter().filter(|page| !page.rows.is_empty()).map(|page| page.asked.clone()).collect();
    assert_eq!(names, [format!("{second}:data/a.jsonl"), format!("{second}:data/hidden.jsonl")]);
    let skipped: Vec<&str> = pages.iter().flat_map(|page| &page.skipped).map(|(name, _)| name.as_str()).collect();
    assert_eq!(skipped, [".gitattributes", "data/big.csv", "data/link.jsonl"]);
}

#[test]
fn a_reading_goes_on_in_the_same_commit() {
    let (folder, _, second) = repository();
    let pages = read(folder.path(), r#"{"glob": "data/*.jsonl"}"#).pages();
    std::fs::write(folder.path().join("data/hidden.jsonl"), "{\"id\": 77}\n").unwrap();
    commit(folder.path(), "three");
    let rest = read(folder.path(), r#"{"glob": "data/*.jsonl"}"#).after(pages[0].next.clone()).pages();
    assert_eq!(rest[0].revision, Some(second));
    assert_eq!(rows_of(&rest), [r#"{"id":9}"#]);
}

#[test]
fn what_is_not_there_is_told() {
    let (folder, _, _) = repository();
    let refusal = read(folder.path(), r#"{"revision": "v9"}"#).refusal();
    assert!(refusal.starts_with("E070 the repository has no commit, tag or branch `v9`"), "{refusal}");
    let refusal = read(folder.path(), r#"{"path": "x.jsonl"}"#).refusal();
    assert!(refusal.contains("is called `x.jsonl`"), "{refusal}");
    let refusal = read(&folder.path().join("nowhere"), "{}").refusal();
    assert!(refusal.starts_with("E070 there is no repository"), "{refusal}");
}

#[test]
fn without_the_program_it_is_told() {
    use heldset_engine::feeds::Feeds as _;
    let (folder, _, _) = repository();
    let desk = read(folder.path(), "{}");
    let sources = heldset_outside::source::Sources::new("/nonexistent", folder.path());
    let refusal = sources.open(&desk.request).and_then(|mut feed| feed.next()).map(|_| ()).unwrap_err();
    assert_eq!(refusal.message, "the program `git` is not there");
}
