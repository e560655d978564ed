//! Every source file: a head, a bounded size, functions that fit on a screen, names that say something.

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 80;
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "manager", "handler", "common", "misc"];

/// All Rust files of the workspace with their text.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let root = root();
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(&root.join(folder), &mut files);
    }
    assert!(files.len() > 20, "the sources were not found");
    files
}

pub(crate) fn root() -> PathBuf {
    // As it is now: a binary that another clone built says where that one was.
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).parent().unwrap().to_owned()
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} has no head", path.display());
    }
}

#[test]
fn no_file_is_longer_than_the_stop() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines: split it by responsibility", path.display());
    }
}

#[test]
fn no_function_is_longer_than_the_stop() {
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let Some(indent) = function_indent(line) else { continue };
            let close = format!("{}}}", " ".repeat(indent));
            let end = lines[start..].iter().position(|line| *line == close).map_or(start, |more| start + more);
            let length = end - start + 1;
            assert!(length <= LONGEST_FUNCTION, "{}:{} has {length} lines", path.display(), start + 1);
        }
    }
}

/// The indentation of a line that starts a function with a body.
fn function_indent(line: &str) -> Option<usize> {
    let code = line.trim_start();
    let code = code.strip_prefix("pub(crate) ").or_else(|| code.strip_prefix("pub(super) ")).unwrap_or(code);
    let code = code.strip_prefix("pub ").unwrap_or(code);
    let code = code.strip_prefix("const ").unwrap_or(code);
    let code = code.strip_prefix("async ").unwrap_or(code);
    (code.starts_with("fn ") && !line.trim_end().ends_with([';', '}'])).then(|| line.len() - line.trim_start().len())
}

#[test]
fn file_names_say_something() {
    for (path, _) in sources() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!EMPTY_NAMES.contains(&stem.as_str()), "{}: name it for what it does", path.display());
    }
}

#[test]
fn only_the_command_line_prints_and_reads_the_environment() {
    for (path, text) in sources() {
        let shown = path.to_string_lossy().replace('\\', "/");
        if !shown.contains("/src/") || shown.contains("/crates/cli/") {
            continue;
        }
        for word in ["println!(", "eprintln!(", "std::env::var", "SystemTime::now", "Instant::now"] {
            assert!(!text.contains(word), "{shown} uses `{word}`");
        }
    }
}
