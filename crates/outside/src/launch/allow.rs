//! Which paths are left to an agent: everything but what is hidden, since only what is left can be listed.
//!
//! *Invariant:* no path that is given out is hidden, leads to something hidden, or is a symbolic link; what appears later
//! beside something hidden is not given out.

use std::path::{Path, PathBuf};

/// What may be done beneath a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Right {
    /// Read and run.
    Read,
    /// All.
    Write,
}

/// Devices that hold nothing of anybody.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"];

/// How the names of devices begin that compute.
const COMPUTING: &[&str] = &["nvidia", "dri", "kfd", "accel"];

/// Parts of `/proc` that show memory of others.
const MEMORY: &[&str] = &["kcore", "kmsg", "kpagecount", "kpageflags", "kpagecgroup", "vmcore"];

/// What is left beneath `/`, when these are hidden; what is in the folder of temporary files can be written.
pub(crate) fn left(hidden: &[PathBuf], scratch: &Path) -> Vec<(PathBuf, Right)> {
    let mut out = Vec::new();
    for path in entries(Path::new("/")) {
        match path.to_str() {
            Some("/proc") => processes(&path, &mut out),
            Some("/dev") => devices(&path, &mut out),
            _ => walk(&path, hidden, scratch, &mut out),
        }
    }
    out
}

fn walk(path: &Path, hidden: &[PathBuf], scratch: &Path, out: &mut Vec<(PathBuf, Right)>) {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) || path.file_name().is_some_and(is_ours) {
        return;
    }
    let leads = hidden.iter().any(|hidden| hidden.starts_with(path)) || scratch.starts_with(path);
    if leads && path.is_dir() {
        for entry in entries(path) {
            walk(&entry, hidden, scratch, out);
        }
    } else {
        let right = if path.starts_with(scratch) { Right::Write } else { Right::Read };
        out.push((path.to_owned(), right));
    }
}

/// Stores, and the folders of runs.
fn is_ours(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".heldset")
}

/// Of `/proc` what is of no process, and the process itself; others would show how they were called.
fn processes(proc: &Path, out: &mut Vec<(PathBuf, Right)>) {
    let own = std::process::id().to_string();
    for path in entries(proc) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_process = name.bytes().all(|byte| byte.is_ascii_digit());
        if (name == own || !is_process) && !MEMORY.contains(&name) {
            out.push((path, Right::Read));
        }
    }
}

fn devices(dev: &Path, out: &mut Vec<(PathBuf, Right)>) {
    for path in entries(dev) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if DEVICES.contains(&name) || COMPUTING.iter().any(|start| name.starts_with(start)) {
            out.push((path, Right::Write));
        }
    }
}

/// What is in a folder, without symbolic links: what they lead to is judged where it lies.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_own = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
    found.flatten().filter(is_own).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_of_what_is_hidden_are_left_and_links_to_it_are_not() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let root = folder.path().canonicalize().expect("the folder exists");
        for name in ["plan/.heldset/objects", "plan/code", "other"] {
            std::fs::create_dir_all(root.join(name)).expect("a folder can be made");
        }
        for name in ["plan/plan.yaml", "plan/agent.py", "plan/.heldset/objects/x"] {
            std::fs::write(root.join(name), "x").expect("a file can be written");
        }
        std::os::unix::fs::symlink(root.join("plan/.heldset"), root.join("plan/link")).expect("a link can be made");
        let hidden = [root.join("plan/plan.yaml"), root.join("plan/.heldset")];
        let mut out = Vec::new();
        walk(&root, &hidden, &root.join("other"), &mut out);
        out.sort();
        let expected = [(root.join("plan/agent.py"), Right::Read), (root.join("plan/code"), Right::Read)];
        assert_eq!(out, expected);
        let all = left(&hidden, Path::new("/nowhere"));
        assert!(all.iter().all(|(path, _)| hidden.iter().all(|hidden| !hidden.starts_with(path))));
        assert!(all.contains(&(root.join("other"), Right::Read)));
    }
}
