//! What can go wrong at rest.
//!
//! *Invariant:* no message holds a key or stored text; the kind of an operating system's error is kept.

use std::io;
use std::path::Path;

use thiserror::Error;

/// A failure of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Bytes that are not what was written; a path, or a key of the catalogue.
    #[error("`{what}` is damaged")]
    Damaged {
        /// Where.
        what: String,
    },
    /// Something that the store names and does not have.
    #[error("`{what}` is missing from the store")]
    Missing {
        /// Where it should be.
        what: String,
    },
    /// A format that this program does not know.
    #[error("the format `{found}` is newer than this program")]
    NewerFormat {
        /// The format that was found.
        found: String,
    },
    /// A folder that is no store.
    #[error("`{path}` is not a store")]
    NotAStore {
        /// The folder.
        path: String,
    },
    /// A folder that is a store already.
    #[error("`{path}` is a store already")]
    AlreadyAStore {
        /// The folder.
        path: String,
    },
    /// A folder with other things in it, where a store should be made.
    #[error("`{path}` has other files in it")]
    NotEmpty {
        /// The folder.
        path: String,
    },
    /// Somebody else holds the store.
    #[error("the store is in use by another process")]
    Locked,
    /// A store that cannot be written.
    #[error("`{path}` cannot be written")]
    ReadOnly {
        /// What should have been written.
        path: String,
    },
    /// A key that is not here.
    #[error("the key of dataset `{dataset}` is not here")]
    NoKey {
        /// The id of the dataset.
        dataset: String,
    },
    /// The catalogue changed since it was read; nothing was written.
    #[error("the store changed meanwhile")]
    Conflict,
    /// A fault of the program itself.
    #[error("this should not happen: {what}")]
    Internal {
        /// What happened.
        what: String,
    },
    /// The operating system refused.
    #[error("`{path}`: {source}")]
    Io {
        /// The file, or the step.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// What sort of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was given is wrong.
    Invalid,
    /// What was named is not there.
    NotFound,
    /// Somebody else was faster.
    Conflict,
    /// It is not allowed.
    Denied,
    /// It cannot be reached now.
    Unavailable,
    /// Bytes are not what they were.
    Integrity,
    /// A fault of the program.
    Internal,
}

impl StoreError {
    /// What sort of failure it is.
    pub fn kind(&self) -> Kind {
        match self {
            StoreError::Damaged { .. } | StoreError::Missing { .. } => Kind::Integrity,
            StoreError::NotAStore { .. } => Kind::NotFound,
            StoreError::AlreadyAStore { .. } | StoreError::NotEmpty { .. } | StoreError::Conflict => Kind::Conflict,
            StoreError::Internal { .. } => Kind::Internal,
            StoreError::NewerFormat { .. }
            | StoreError::Locked
            | StoreError::ReadOnly { .. }
            | StoreError::NoKey { .. }
            | StoreError::Io { .. } => Kind::Unavailable,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            StoreError::Damaged { .. } | StoreError::Missing { .. } => {
                "nothing of it was handed out; restore it from a backup, or import the data again"
            }
            StoreError::NewerFormat { .. } => "use the version of heldset that wrote it, or a newer one",
            StoreError::NotAStore { .. } => "make one with `heldset init`",
            StoreError::AlreadyAStore { .. } => "use it as it is, or name another folder",
            StoreError::NotEmpty { .. } => "name a folder that is empty or does not exist yet",
            StoreError::Locked => "wait until the other command has ended, then try again",
            StoreError::ReadOnly { .. } => "check the permissions and that the disk is not mounted read-only",
            StoreError::NoKey { .. } => {
                "import it with `heldset keys import`; what is not sealed can be read without it"
            }
            StoreError::Conflict => "try again",
            StoreError::Internal { .. } => "please report it, with the command that led to it",
            StoreError::Io { source, .. } if is_full(source) => "make room on the disk; the store is as it was before",
            StoreError::Io { .. } => "check the disk and its permissions",
        }
    }

    /// Whether the disk had no room left.
    pub fn is_full(&self) -> bool {
        matches!(self, StoreError::Io { source, .. } if is_full(source))
    }

    /// Something at rest is not what it was.
    pub fn damaged(what: impl Into<String>) -> Self {
        StoreError::Damaged { what: what.into() }
    }

    /// Something that the catalogue names is gone.
    pub fn missing(what: impl Into<String>) -> Self {
        StoreError::Missing { what: what.into() }
    }

    /// A fault of the program itself.
    pub fn internal(what: impl ToString) -> Self {
        StoreError::Internal { what: what.to_string() }
    }

    /// A failed read of a file.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        StoreError::Io { path: path.display().to_string(), source }
    }

    /// A failed write of a file: where nothing may be written, that is said.
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                StoreError::ReadOnly { path: path.display().to_string() }
            }
            _ => StoreError::read(path, source),
        }
    }

    /// A step that the probe refused.
    pub(crate) fn step(name: &str, source: io::Error) -> Self {
        StoreError::Io { path: name.to_owned(), source }
    }
}

/// The error for a format of the same family with a higher number.
pub(crate) fn other_format(found: &str, known: &str) -> Option<StoreError> {
    let (family, number) = known.rsplit_once('/')?;
    let other: u32 = found.strip_prefix(family)?.strip_prefix('/')?.parse().ok()?;
    (other > number.parse().ok()?).then(|| StoreError::NewerFormat { found: found.to_owned() })
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
