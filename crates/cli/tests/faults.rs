//! What is said, and with which exit code, when a store cannot do what it is asked.

use std::fs::{self, File};

use heldset_store::{Batch, Catalog, Key, NoProbe, SqliteCatalog};

use crate::full_disk::Disk;
use crate::{Ran, Store};

/// How a command ended and what it said, with the folder of the test taken out.
fn said(kept: &Store, ran: &Ran) -> String {
    let folder = kept.path().display().to_string();
    format!("exit {}\n{}{}", ran.code, ran.out, ran.err).replace(&format!("{folder}/"), "")
}

fn run(kept: &Store, args: &[&str]) -> String {
    said(kept, &kept.run(args))
}

#[test]
fn a_store_that_somebody_works_on_is_not_cleaned_up() {
    let kept = Store::with_questions();
    let lock = File::open(kept.path().join(".heldset/lock")).unwrap();
    lock.lock_shared().unwrap();
    insta::assert_snapshot!(run(&kept, &["gc"]), @r"
    exit 2
    error[E112]: store in use: the store is in use by another process
     |
     = help: wait until the other `heldset` is done, then run it again
    ");
    insta::assert_snapshot!(run(&kept, &["erase", "questions", "q1", "--reason", "asked for"]), @r"
    exit 2
    error[E112]: store in use: the store is in use by another process
     |
     = help: wait until the other `heldset` is done, then run it again
    ");
    kept.fine(&["cat", "questions"]);
    drop(lock);
    kept.fine(&["gc"]);
}

#[test]
fn a_newer_store_is_left_to_newer_programs() {
    let kept = Store::with_questions();
    let catalog = SqliteCatalog::open(&kept.path().join(".heldset/catalog.db"), std::sync::Arc::new(NoProbe)).unwrap();
    let mut batch = Batch::durable();
    batch.put(Key::new("dataset", "questions"), b"{\"format\":\"heldset/dataset/2\",\"else\":1}".to_vec());
    catalog.commit(&batch).unwrap();
    drop(catalog);
    insta::assert_snapshot!(run(&kept, &["cat", "questions"]), @r"
    exit 2
    error[E111]: newer format: the format `heldset/dataset/2` is newer than this program
     |
     = help: use a newer `heldset`
    ");
    kept.file(".heldset/heldset.json", "{\"format\":\"heldset/store/2\"}\n");
    insta::assert_snapshot!(run(&kept, &["ls"]), @r"
    exit 2
    error[E111]: newer format: the format `heldset/store/2` is newer than this program
     |
     = help: use a newer `heldset`
    ");
    kept.file(".heldset/heldset.json", "{\"format\":\"heldset/store/1\"}\n");
    insta::assert_snapshot!(run(&kept, &["ls"]), @r"
    exit 6
    error[E130]: `.heldset/heldset.json` is damaged
     |
     = help: it is not served; restore it from a copy of the store, and see `heldset scrub` for all that is damaged
    ");
}

#[test]
fn without_its_keys_a_store_shows_what_is_open() {
    let kept = Store::with_questions();
    fs::rename(kept.path().join("keys"), kept.path().join("elsewhere")).unwrap();
    let open = kept.fine(&["cat", "questions", "--as", "agent"]);
    assert!(open.lines().count() == 3 && !open.contains("token"), "{open}");
    kept.fine(&["ls"]);
    kept.fine(&["history", "questions"]);
    insta::assert_snapshot!(run(&kept, &["cat", "questions"]), @r"
    exit 2
    error[E114]: missing key: the key of dataset `questions` is not here
     |
     = help: bring the keys back with `heldset keys import FILE`; open fields can be read with `--as agent`
    ");
    insta::assert_snapshot!(run(&kept, &["import", "questions", "questions.jsonl", "-q"]), @r"
    exit 2
    error[E114]: missing key: the key of dataset `questions` is not here
     |
     = help: bring the keys back with `heldset keys import FILE`; open fields can be read with `--as agent`
    ");
    insta::assert_snapshot!(run(&kept, &["record", "edit", "questions", "q1", "--set", "input=\"x\""]), @r"
    exit 2
    error[E114]: missing key: the key of dataset `questions` is not here
     |
     = help: bring the keys back with `heldset keys import FILE`; open fields can be read with `--as agent`
    ");
    fs::rename(kept.path().join("elsewhere"), kept.path().join("keys")).unwrap();
    assert!(kept.fine(&["cat", "questions"]).contains("token-one"));
}

#[test]
fn a_damaged_key_is_told_with_its_file() {
    let kept = Store::with_questions();
    let keys = kept.files("keys");
    let (path, mut bytes) =
        keys.into_iter().find(|(path, _)| path.extension().is_some_and(|end| end == "key")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    for args in [&["cat", "questions"][..], &["import", "questions", "questions.jsonl"], &["verify"]] {
        let ran = kept.run(args);
        assert_eq!(ran.code, 6, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(path.file_name().unwrap().to_str().unwrap()), "{}", ran.err);
    }
}

#[test]
fn a_damaged_object_is_named_and_never_served() {
    let kept = Store::with_questions();
    for (path, bytes) in kept.files(".heldset/objects") {
        let mut flipped = bytes.clone();
        let middle = bytes.len() / 2;
        flipped[middle] ^= 4;
        fs::write(&path, flipped).unwrap();
        let scrubbed = kept.run(&["scrub"]);
        assert_eq!(scrubbed.code, 6);
        let ran = kept.run(&["cat", "questions"]);
        if ran.code != 0 {
            assert_eq!((ran.code, ran.out.as_str()), (6, ""));
            assert!(ran.err.contains(path.to_str().unwrap()), "{}", ran.err);
        }
        let id = kept.run(&["cat", "questions", "--ids", "q2"]);
        assert!(ran.code == 6 || id.code == 6, "nobody reads {}", path.display());
        fs::write(&path, bytes).unwrap();
    }
    kept.fine(&["scrub"]);
}

#[test]
fn names_that_are_not_there_are_told_with_the_nearest() {
    let kept = Store::with_questions();
    let label = ["import", "questions", "questions.jsonl", "-q", "--label", "input=evaluator_onli"];
    insta::assert_snapshot!(run(&kept, &label), @r"
    exit 2
    error[E102]: unknown name: `fields.input` names the unknown label `evaluator_onli`
     |
     = help: did you mean `evaluator_only`?
    ");
    insta::assert_snapshot!(run(&kept, &["cat", "questions", "--as", "agnet"]), @r"
    exit 2
    error[E102]: unknown name: there is no audience `agnet`
     |
     = help: did you mean `agent`?
    ");
    insta::assert_snapshot!(run(&kept, &["cat", "question"]), @r"
    exit 2
    error[E102]: unknown name: there is no dataset `question`
     |
     = help: did you mean `questions`?
    ");
}

#[test]
fn a_store_that_cannot_be_written_says_so() {
    let kept = Store { folder: tempfile::tempdir().unwrap() };
    let Some(disk) = Disk::mount(&kept.path().join("disk"), "8m") else { return };
    kept.write("rows.jsonl", "{\"id\":\"a\",\"input\":\"b\",\"expected_output\":\"c\"}\n");
    kept.fine(&["init", "disk/store", "-q"]);
    kept.fine(&["--store", "disk/store", "import", "quiz", "rows.jsonl", "-q"]);
    disk.read_only();
    insta::assert_snapshot!(run(&kept, &["--store", "disk/store", "import", "other", "rows.jsonl", "-q"]), @r"
    exit 2
    error[E113]: store cannot be written: `disk/store/catalog.db` cannot be written
     |
     = help: every look at data is logged in the store: give it a place that can be written
    ");
    insta::assert_snapshot!(run(&kept, &["--store", "disk/store", "cat", "quiz"]), @r"
    exit 2
    error[E113]: store cannot be written: `disk/store/catalog.db` cannot be written
     |
     = help: every look at data is logged in the store: give it a place that can be written
    ");
    insta::assert_snapshot!(run(&kept, &["init", "disk/another"]), @r"
    exit 2
    error[E113]: store cannot be written: `disk/another` cannot be written
     |
     = help: every look at data is logged in the store: give it a place that can be written
    ");
}
