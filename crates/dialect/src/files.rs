//! The port through which a dataset's referenced files are asked for.
//!
//! *Invariant:* whoever implements it decides which paths may be reached; a dialect only names them.

use std::io::{Read, Seek};

use thiserror::Error;

/// A reader that can also seek.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// Files beside a dataset.
pub trait Files: Sync {
    /// The whole of the file at `path`, relative to the file named `from`.
    fn load(&self, from: &str, path: &str) -> Result<Loaded, FilesError>;

    /// The names of the files that lie in a folder itself, not in folders inside it.
    fn list(&self, folder: &str) -> Result<Vec<String>, FilesError> {
        Err(FilesError::Missing(folder.to_owned()))
    }
}

/// A file that was loaded.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name, fit for `from` in a further load.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Why a referenced file cannot be had.
#[derive(Debug, Error)]
pub enum FilesError {
    /// There is no such file.
    #[error("there is no file `{0}`")]
    Missing(String),
    /// The path leads out of the folder of the file that names it.
    #[error("`{0}` leads out of the folder of the file that names it")]
    Outside(String),
    /// The file is larger than a referenced file may be.
    #[error("`{0}` is larger than 64 MiB")]
    TooLarge(String),
    /// Reading failed.
    #[error("`{path}` cannot be read: {source}")]
    Unreadable {
        /// The path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// No files at all: every path is missing.
pub struct NoFiles;

impl Files for NoFiles {
    fn load(&self, _from: &str, path: &str) -> Result<Loaded, FilesError> {
        Err(FilesError::Missing(path.to_owned()))
    }
}
