//! Files on the local disk.
//!
//! *Invariant:* a path inside a dataset never leads out of the folder of the dataset, neither by `..` nor by a
//! link, unless the user allowed it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use heldset_dialect::{Body, Files, FilesError, Input, Loaded};

use crate::exit::Failure;

/// The largest file that a dataset may refer to.
const MAX_REFERENCED: u64 = 64 << 20;

/// The name that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// Files around one dataset.
pub(crate) struct Disk {
    root: PathBuf,
    allow_outside: bool,
}

/// Opens a file that the user named.
pub(crate) fn open(path: &Path) -> Result<(Input, Option<u64>), Failure> {
    if path.as_os_str() == STDIN {
        return Ok((Input { name: STDIN.to_owned(), body: Body::Stream(Box::new(io::stdin())) }, None));
    }
    let file = File::open(path).map_err(|error| Failure::open(path, &error))?;
    let about = file.metadata().map_err(|error| Failure::open(path, &error))?;
    let name = path.display().to_string();
    if about.is_dir() {
        return Ok((Input { name, body: Body::Folder }, None));
    }
    let body = if about.is_file() { Body::Seekable(Box::new(file)) } else { Body::Stream(Box::new(file)) };
    Ok((Input { name, body }, about.is_file().then_some(about.len())))
}

impl Disk {
    /// The files around the dataset at `path`.
    pub(crate) fn around(path: &Path, allow_outside: bool) -> Self {
        Disk { root: if path.is_dir() { path.to_owned() } else { folder_of(path) }, allow_outside }
    }

    fn reach(&self, from: &str, path: &str) -> Result<PathBuf, FilesError> {
        let joined = plain(&folder_of(Path::new(from)).join(path));
        if self.allow_outside {
            return Ok(joined);
        }
        let outside = || FilesError::Outside(path.to_owned());
        let Ok(real) = joined.canonicalize() else {
            return if climbs_out(&self.root, &joined) { Err(outside()) } else { Ok(joined) };
        };
        let root =
            self.root.canonicalize().map_err(|source| FilesError::Unreadable { path: path.to_owned(), source })?;
        if real.starts_with(&root) { Ok(joined) } else { Err(outside()) }
    }
}

impl Files for Disk {
    fn load(&self, from: &str, path: &str) -> Result<Loaded, FilesError> {
        let at = self.reach(from, path)?;
        let unreadable = |source: io::Error| FilesError::Unreadable { path: path.to_owned(), source };
        let about = match at.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(FilesError::Missing(path.to_owned())),
            about => about.map_err(unreadable)?,
        };
        if !about.is_file() {
            return Err(unreadable(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
        }
        if about.len() > MAX_REFERENCED {
            return Err(FilesError::TooLarge(path.to_owned()));
        }
        let mut bytes = Vec::new();
        File::open(&at).map_err(unreadable)?.take(MAX_REFERENCED).read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Loaded { name: at.display().to_string(), bytes })
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, FilesError> {
        let unreadable = |source: io::Error| FilesError::Unreadable { path: folder.to_owned(), source };
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FilesError::Missing(folder.to_owned()));
            }
            entries => entries.map_err(unreadable)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            if entry.path().is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(names)
    }
}

/// The path without `.` in it, as people would write it.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether a path that does not exist would lie outside of `root`, going by its words alone.
fn climbs_out(root: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(plain(root)) else { return true };
    let mut depth = 0_i64;
    for part in inside.components() {
        match part {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}
