//! A folder beside something hidden cannot be listed; this lays out another one that can, with the same files.
//!
//! *Invariant:* holds links to what is left, and copies of what is run; nothing of what is hidden.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Whether a folder has something hidden in it, and so cannot be listed.
pub(crate) fn is_unlisted(folder: &Path, hidden: &[PathBuf]) -> bool {
    hidden.iter().any(|hidden| hidden.starts_with(folder))
}

/// Lays out `folder` in `into`: `copied` as copies, so that a program finds its own folder here; all else as links.
pub(crate) fn lay_out(folder: &Path, hidden: &[PathBuf], copied: &[PathBuf], into: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (from, to) = (entry.path(), into.join(entry.file_name()));
        let real = super::real(&from);
        if hidden.iter().any(|hidden| real.starts_with(hidden)) || entry.file_name() == ".heldset" {
            continue;
        }
        if copied.contains(&real) {
            std::fs::copy(&real, &to)?;
        } else {
            symlink(&real, &to)?;
        }
    }
    Ok(())
}
