//! Everything about the command that is tested from outside: the binary on real files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod bad_input;
mod check;
mod convert;
mod explain;

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
