//! Keys on disk: one file for each dataset, in a folder of the store's id, apart from the store.
//!
//! *Invariant:* files have mode 0600 and folders 0700; a key is durable before it is used.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ed25519_dalek::SigningKey;
use zeroize::Zeroizing;

use super::{DatasetKeys, Keys, text};
use crate::durable::{Readers, make_folder, publish, publish_new, sync_folder, unfinished};
use crate::error::StoreError;
use crate::probe::Probe;

const ENDING: &str = ".key";
/// Longer than no id of a dataset, and apart from them by its ending.
const AUDIT: &str = "audit.signer";

/// Keys on disk.
pub struct DiskKeys {
    folder: PathBuf,
    probe: Arc<dyn Probe>,
}

impl DiskKeys {
    /// The keys of the store with that id, under `folder`, which is made with the first key.
    pub fn new(folder: &Path, store: &str, probe: Arc<dyn Probe>) -> Self {
        DiskKeys { folder: folder.join(store), probe }
    }

    /// The folder of this store's keys.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, dataset: &str) -> Result<PathBuf, StoreError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if dataset.is_empty() || !dataset.bytes().all(is_plain) {
            let source =
                io::Error::new(io::ErrorKind::InvalidInput, "the id of a dataset has letters, digits, `-` and `_`");
            return Err(StoreError::Io { path: dataset.to_owned(), source });
        }
        Ok(self.folder.join(format!("{dataset}{ENDING}")))
    }

    /// Asks the probe and makes the folder.
    fn prepare(&self) -> Result<(), StoreError> {
        self.probe.step("key").map_err(|error| StoreError::step("key", error))?;
        make_folder(&self.folder, Readers::Owner)
    }
}

impl Keys for DiskKeys {
    fn load(&self, dataset: &str) -> Result<Option<DatasetKeys>, StoreError> {
        let path = self.path(dataset)?;
        let text = read(&path)?;
        text.map(|text| DatasetKeys::from_text(&text, &path.display().to_string())).transpose()
    }

    fn save(&self, dataset: &str, keys: &DatasetKeys) -> Result<(), StoreError> {
        let path = self.path(dataset)?;
        self.prepare()?;
        publish(&self.folder, &path, &keys.to_text(), Readers::Owner)
    }

    fn forget(&self, dataset: &str) -> Result<bool, StoreError> {
        let path = self.path(dataset)?;
        let name = format!("{dataset}{ENDING}");
        for left in unfinished(&self.folder, Some(&name))? {
            fs::remove_file(&left).map_err(|error| StoreError::write(&left, error))?;
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => {
                removed.map_err(|error| StoreError::write(&path, error))?;
                sync_folder(&self.folder)?;
                Ok(true)
            }
        }
    }

    fn list(&self) -> Result<Vec<String>, StoreError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| StoreError::read(&self.folder, error))?,
        };
        let unfinished = unfinished(&self.folder, None)?;
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| StoreError::read(&self.folder, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !unfinished.contains(&entry.path()) {
                found.extend(name.strip_suffix(ENDING).map(str::to_owned));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    fn audit(&self) -> Result<Option<SigningKey>, StoreError> {
        let path = self.folder.join(AUDIT);
        let text = read(&path)?;
        text.map(|text| text::read_audit(&text, &path.display().to_string())).transpose()
    }

    fn save_audit(&self, key: &SigningKey) -> Result<(), StoreError> {
        self.prepare()?;
        publish_new(&self.folder, &self.folder.join(AUDIT), &text::write_audit(key), Readers::Owner)
    }
}

fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, StoreError> {
    match fs::read(path) {
        Ok(text) => Ok(Some(Zeroizing::new(text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::read(path, error)),
    }
}
