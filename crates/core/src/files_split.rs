//! Splits of files: checkpoints, media, corpora, each known by its path, size and digest.
//!
//! *Invariant:* the root depends on the set of files alone, not on the order they are listed in; a path is there once.

use thiserror::Error;

use crate::canonical;
use crate::digest::{CommitKey, Digest};
use crate::merkle::{Tree, leaf_hash};
use crate::number::Number;
use crate::value::{Object, Value};

/// One file of a split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Where it lies in the split, with `/` between its parts.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// The SHA-256 of its bytes; in a sealed split, a commitment to that.
    pub sha256: Digest,
}

/// A split of files that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilesError {
    /// A path that is listed twice.
    #[error("file `{0}` is there twice")]
    Repeated(String),
}

impl FileEntry {
    /// The entry of the same file in a sealed split: the digest of its bytes becomes a commitment under the key that
    /// its path has in the split, so that nobody can test a guess of the bytes.
    #[must_use]
    pub fn sealed(self, split: &str, key: &CommitKey) -> Self {
        let sha256 = key.row_key(split, &self.path).commit("file", &[self.sha256.hex().as_bytes()]);
        FileEntry { sha256, ..self }
    }

    fn leaf(&self) -> Digest {
        let mut entry = Object::with_capacity(3);
        entry.set("path", Value::from(self.path.as_str()));
        entry.set("sha256", Value::from(self.sha256.hex()));
        entry.set("size", Value::Number(Number::from_u64(self.size)));
        leaf_hash(&canonical::bytes(&Value::Object(entry)))
    }
}

/// The root of a split of files: the tree head over its entries, sorted by the bytes of their paths.
pub fn root(entries: &[FileEntry]) -> Result<Digest, FilesError> {
    let mut sorted: Vec<&FileEntry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].path == pair[1].path) {
        return Err(FilesError::Repeated(pair[0].path.clone()));
    }
    Ok(sorted.into_iter().map(FileEntry::leaf).collect::<Tree>().head())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256;

    fn file(path: &str, bytes: &[u8]) -> FileEntry {
        FileEntry { path: path.into(), size: bytes.len() as u64, sha256: sha256(bytes) }
    }

    #[test]
    fn the_order_of_the_list_does_not_matter_and_everything_else_does() {
        let files = [file("a", b"1"), file("b", b"2")];
        let same = [files[1].clone(), files[0].clone()];
        assert_eq!(root(&files), root(&same));
        for other in [file("c", b"2"), file("b", b"3"), FileEntry { size: 9, ..file("b", b"2") }] {
            assert_ne!(root(&files), root(&[files[0].clone(), other]));
        }
        assert_eq!(root(&[]), Ok(sha256(b"")));
    }

    #[test]
    fn a_path_is_there_once() {
        let twice = [file("a", b"1"), file("b", b"1"), file("a", b"2")];
        assert_eq!(root(&twice), Err(FilesError::Repeated("a".into())));
    }

    #[test]
    fn a_sealed_file_is_committed_under_its_path_and_split() {
        let key = CommitKey::new([1; 32]);
        let sealed = |path: &str, split| file(path, b"x").sealed(split, &key).sha256;
        assert_eq!(sealed("a", "s"), key.row_key("s", "a").commit("file", &[sha256(b"x").hex().as_bytes()]));
        assert_ne!(sealed("a", "s"), sealed("b", "s"));
        assert_ne!(sealed("a", "s"), sealed("a", "t"));
    }
}
