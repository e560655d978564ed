//! The lock of a store folder: those who write objects share it, those who remove objects have it alone.
//!
//! *Invariant:* a hold ends with its process, however that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The lock of one store.
#[derive(Clone, Debug)]
pub struct Lock {
    path: PathBuf,
}

/// A hold of the lock; dropping it lets go.
#[derive(Debug)]
#[must_use = "the lock is held as long as this lives"]
pub struct Held {
    _file: File,
}

impl Lock {
    /// The lock with that file, which is made when it is first held.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Lock { path: path.into() }
    }

    /// Holds the lock together with others; waits while somebody has it alone.
    pub fn shared(&self) -> Result<Held, StoreError> {
        let file = self.file()?;
        file.lock_shared().map_err(|error| StoreError::read(&self.path, error))?;
        Ok(Held { _file: file })
    }

    /// Holds the lock alone; waits until nobody has it.
    pub fn exclusive(&self) -> Result<Held, StoreError> {
        let file = self.file()?;
        file.lock().map_err(|error| StoreError::read(&self.path, error))?;
        Ok(Held { _file: file })
    }

    /// Holds the lock alone, or says that it is held.
    pub fn try_exclusive(&self) -> Result<Held, StoreError> {
        let file = self.file()?;
        match file.try_lock() {
            Ok(()) => Ok(Held { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked),
            Err(TryLockError::Error(error)) => Err(StoreError::read(&self.path, error)),
        }
    }

    /// Holds are of open files, so each has its own.
    fn file(&self) -> Result<File, StoreError> {
        open(&self.path)
            .or_else(|error| File::open(&self.path).map_err(|_| error))
            .map_err(|error| StoreError::write(&self.path, error))
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).open(path)
}
