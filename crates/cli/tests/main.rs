//! Everything about the command that is tested from outside: the binary on real files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "figures, and what was skipped")]

mod audit;
mod bad_input;
mod check;
mod convert;
mod copies;
mod crash;
mod dataset;
mod diff;
mod doctor;
mod erase;
mod explain;
mod export;
mod faults;
mod files;
mod full_disk;
mod gc;
mod generated;
mod golden;
mod import;
mod keys;
mod launch;
mod leak;
mod lineage;
mod migrate;
mod mount;
mod policy;
mod prepare;
mod principal;
mod query;
mod races;
mod record;
mod register;
mod run;
mod scan;
mod schema;
mod scrub;
mod source;
mod verify;

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The examples of the repository.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// What a command printed, and how it ended.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the binary in a folder.
fn heldset(folder: &Path, args: &[&str]) -> Ran {
    heldset_with(folder, args, Vec::new())
}

/// Runs the binary in a folder with something on standard input.
fn heldset_with(folder: &Path, args: &[&str], stdin: Vec<u8>) -> Ran {
    let output =
        Command::cargo_bin("heldset").unwrap().current_dir(folder).args(args).write_stdin(stdin).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder with one file in it.
fn folder_with(name: &str, bytes: impl AsRef<[u8]>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    folder
}

/// A store in a folder of its own, with its keys beside it.
struct Store {
    folder: tempfile::TempDir,
}

/// A new store.
fn store() -> Store {
    let store = Store { folder: tempfile::tempdir().unwrap() };
    store.fine(&["init", "--quiet"]);
    store
}

impl Store {
    /// The folder that commands run in.
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file there.
    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path().join(name), bytes).unwrap();
        self
    }

    /// Runs a command at the store.
    fn run(&self, args: &[&str]) -> Ran {
        let mut command = Command::cargo_bin("heldset").unwrap();
        command.current_dir(self.path()).env_remove("HELDSET_STORE").env("HELDSET_KEYS", self.path().join("keys"));
        let output = command.args(args).output().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command at the store as another user of the machine.
    fn run_as(&self, user: &str, args: &[&str]) -> Ran {
        let mut command = Command::cargo_bin("heldset").unwrap();
        command.current_dir(self.path()).env_remove("HELDSET_STORE").env("HELDSET_KEYS", self.path().join("keys"));
        let output = command.env("USER", user).args(args).output().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command that must succeed, and gives what it printed.
    fn fine(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    /// Writes a file beside the store.
    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Imports records.
    fn import(&self, slug: &str, rows: &str, more: &[&str]) {
        self.write("rows.jsonl", rows);
        self.fine(&[&["import", slug, "rows.jsonl", "-q"], more].concat());
    }

    /// Every file under a folder there, with its bytes.
    fn files(&self, under: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut open, mut found) = (vec![self.path().join(under)], Vec::new());
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => open.push(path),
                    false => found.push((path.clone(), std::fs::read(path).unwrap())),
                }
            }
        }
        found.sort();
        found
    }

    /// The largest object, whose path and bytes a test may change.
    fn largest_object(&self) -> (PathBuf, Vec<u8>) {
        self.files(".heldset/objects").into_iter().max_by_key(|(_, bytes)| bytes.len()).unwrap()
    }

    /// The records of three questions with sealed answers.
    fn with_questions() -> Store {
        let store = store();
        let rows = "{\"id\":\"q1\",\"input\":\"how long is the nile\",\"expected_output\":\"token-one\"}\n\
                    {\"id\":\"q2\",\"input\":\"how high is the eiger\",\"expected_output\":\"token-two\"}\n\
                    {\"id\":\"q3\",\"input\":\"how deep is the lake\",\"expected_output\":\"token-three\"}\n";
        store.file("questions.jsonl", rows).fine(&["import", "questions", "questions.jsonl", "--quiet"]);
        store
    }
}
