//! Folders and files on the disk as a split of files.
//!
//! *Invariant:* a link never leads out of its folder, and what is neither file nor folder is refused with its path.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use heldset_core::code::Code;
use heldset_engine::ports::Tree;
use heldset_engine::refusal::{Outcome, Refusal};
use walkdir::WalkDir;

/// Files under some paths.
pub(crate) struct DiskTree {
    files: Vec<(String, PathBuf)>,
}

impl DiskTree {
    /// The files under these paths: those of a folder by their way from it, a single one by its name.
    pub(crate) fn of(paths: &[PathBuf]) -> Outcome<DiskTree> {
        let mut files = Vec::new();
        for path in paths {
            let about = path.metadata().map_err(|error| unreadable(path, &error))?;
            let real = path.canonicalize().map_err(|error| unreadable(path, &error))?;
            if about.is_file() {
                let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| no_text(path))?;
                files.push((name.to_owned(), real));
            } else if about.is_dir() {
                walk(path, &real, &mut files)?;
            } else {
                return Err(special(path));
            }
        }
        files.sort();
        Ok(DiskTree { files })
    }

    /// How many bytes there are.
    pub(crate) fn size(&self) -> u64 {
        self.files.iter().filter_map(|(_, file)| file.metadata().ok()).map(|about| about.len()).sum()
    }
}

fn walk(shown: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> Outcome<()> {
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(shown).to_owned();
            unreadable(&path, &io::Error::from(error))
        })?;
        let path = entry.path();
        let kind = entry.file_type();
        if kind.is_dir() {
            continue;
        }
        if kind.is_symlink() {
            let real = fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
            if !real.starts_with(folder) {
                let message = format!("`{}` is a link that leads out of `{}`", path.display(), shown.display());
                return Err(Refusal::invalid(Code::E020, message, "put the file itself there"));
            }
            if !real.is_file() {
                return Err(special(path));
            }
        } else if !kind.is_file() {
            return Err(special(path));
        }
        let inside = path.strip_prefix(folder).ok().and_then(Path::to_str).ok_or_else(|| no_text(path))?;
        files.push((inside.to_owned(), path.to_owned()));
    }
    Ok(())
}

fn unreadable(path: &Path, error: &io::Error) -> Box<Refusal> {
    let message = format!("`{}` cannot be opened: {}", path.display(), crate::print::io_words(error));
    Refusal::usage(Code::E101, message, "check the path and its permissions")
}

fn special(path: &Path) -> Box<Refusal> {
    let message = format!("`{}` is neither a file nor a folder", path.display());
    Refusal::usage(Code::E101, message, "leave it out: only files have bytes that can be kept")
}

fn no_text(path: &Path) -> Box<Refusal> {
    let message = format!("the name of `{}` is not UTF-8", path.display());
    Refusal::invalid(Code::E001, message, "rename the file")
}

impl Tree for DiskTree {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn path(&self, index: usize) -> &str {
        &self.files[index].0
    }

    fn place(&self, index: usize) -> String {
        self.files[index].1.display().to_string()
    }

    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(&self.files[index].1)?))
    }
}
