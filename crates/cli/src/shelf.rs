//! The files that a declaration names: in its source folder, or beside it.
//!
//! *Invariant:* `*` stands for a part of a file's name and never for folders; hidden files are not meant by it.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use heldset_core::declaration::Declaration;
use heldset_engine::ports::{Found, Shelf, Sources, Tree};
use heldset_engine::refusal::Outcome;

use crate::sources::{NamedFiles, digest_of};
use crate::tree::DiskTree;

/// Files around a declaration.
pub(crate) struct DiskShelf {
    base: PathBuf,
    /// What stands for the source itself, if that is a file.
    source: Option<String>,
}

impl DiskShelf {
    /// The files that the declaration at `path` names.
    pub(crate) fn of(path: &Path, declaration: &Declaration) -> Self {
        let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let uri = declaration.source.as_ref().map(|source| source.uri.trim_start_matches("file://"));
        let Some(local) = uri.filter(|uri| !uri.contains("://")).map(|uri| beside.join(uri)) else {
            return DiskShelf { base: beside.to_owned(), source: None };
        };
        if local.is_file() {
            let name = local.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return DiskShelf { base: local.parent().unwrap_or(beside).to_owned(), source: Some(name) };
        }
        DiskShelf { base: local, source: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        let joined = if name.is_empty() { self.base.clone() } else { self.base.join(name) };
        let plain: PathBuf = joined.components().filter(|part| *part != Component::CurDir).collect();
        if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain }
    }
}

/// The files that a pattern means, from where the command runs.
pub(crate) fn named(pattern: &Path) -> io::Result<Vec<PathBuf>> {
    let shelf = DiskShelf { base: PathBuf::from(if pattern.is_absolute() { "/" } else { "." }), source: None };
    let found = shelf.find(&pattern.display().to_string())?;
    Ok(found.into_iter().map(|found| shelf.path(&found.name)).collect())
}

impl Shelf for DiskShelf {
    fn place(&self) -> String {
        self.base.canonicalize().unwrap_or_else(|_| self.base.clone()).display().to_string()
    }

    fn find(&self, pattern: &str) -> io::Result<Vec<Found>> {
        let pattern = match &self.source {
            Some(source) if pattern.is_empty() => source,
            _ => pattern,
        };
        let (folder, last) = pattern.rsplit_once('/').map_or(("", pattern), |(folder, last)| (folder, last));
        if folder.contains('*') {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "`*` stands in the last part of a path only"));
        }
        if !last.contains('*') {
            let path = self.path(pattern);
            return Ok(if path.exists() { vec![found(pattern, &path)] } else { Vec::new() });
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.path(folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_file() && !name.starts_with('.') && fits(last, &name) {
                let whole = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                names.push(found(&whole, &entry.path()));
            }
        }
        names.sort();
        Ok(names)
    }

    fn sources(&self, names: &[String]) -> io::Result<Box<dyn Sources + '_>> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        let files = NamedFiles::new(&paths, false);
        files
            .map(|files| Box::new(files) as Box<dyn Sources>)
            .map_err(|failure| io::Error::other(failure.fault().message.clone()))
    }

    fn tree(&self, names: &[String]) -> Outcome<Box<dyn Tree + '_>> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        Ok(Box::new(DiskTree::of(&paths)?))
    }

    fn sha256(&self, name: &str) -> io::Result<String> {
        Ok(digest_of(File::open(self.path(name))?)?.1)
    }
}

fn found(name: &str, path: &Path) -> Found {
    Found { name: name.to_owned(), folder: path.is_dir() }
}

/// Whether a name is one that a pattern with `*` means.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_part_of_a_name() {
        for (pattern, name, expected) in [
            ("*.jsonl", "a.jsonl", true),
            ("*.jsonl", "a.jsonl.gz", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("x*", "y", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
