//! The journal of a run: results as they come, durable before they count, sealed like all that is at rest.
//!
//! *Invariant:* frames of different labels never share a file. A frame that was cut short by a crash was never
//! acknowledged: it is dropped when the journal is opened again, and everything before it is there.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::durable::{Readers, make_folder, sync_folder};
use crate::error::StoreError;
use crate::keys::DatasetKeys;
use crate::lock::{Held, Lock};
use crate::seal::{Heading, seal, unseal};
use crate::store::Store;

/// The folder of journals in a store.
const FOLDER: &str = "runs";
/// The lock in the folder of a run.
const LOCK: &str = "lock";

/// The journal of one run; whoever has it open is the only one.
pub struct Journal<'s> {
    store: &'s Store,
    folder: Option<PathBuf>,
    dataset: String,
    keys: DatasetKeys,
    files: BTreeMap<String, File>,
    _held: Option<Held>,
}

/// What a journal holds under one label, in order.
pub type Frames = Vec<Bytes>;

impl<'s> Journal<'s> {
    /// Opens the journal of a run, or begins it; gives what it holds under each of these labels. A store in memory
    /// has none.
    pub fn open(
        store: &'s Store,
        run: &str,
        dataset: &str,
        keys: DatasetKeys,
        labels: &[&str],
    ) -> Result<(Self, Vec<Frames>), StoreError> {
        let folder = store.folder().map(|folder| folder.path().join(FOLDER).join(run));
        let mut journal =
            Journal { store, folder, dataset: dataset.to_owned(), keys, files: BTreeMap::new(), _held: None };
        let Some(folder) = journal.folder.clone() else { return Ok((journal, vec![Frames::new(); labels.len()])) };
        make_folder(&folder, Readers::Owner)?;
        journal._held = Some(Lock::at(folder.join(LOCK)).try_exclusive()?);
        let mut held = Vec::new();
        for label in labels {
            held.push(journal.load(&folder, label)?);
        }
        sync_folder(&folder)?;
        Ok((journal, held))
    }

    /// Whether a journal of this run is at rest.
    pub fn exists(store: &Store, run: &str) -> bool {
        store.folder().is_some_and(|folder| folder.path().join(FOLDER).join(run).is_dir())
    }

    /// Adds a frame; it counts once [`sync`](Self::sync) came back.
    pub fn append(&mut self, label: &str, plain: &[u8]) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let heading = Heading { dataset: self.dataset.clone(), label: label.to_owned(), canary: String::new() };
        let sealed = seal(plain, &self.keys.newest(), &heading, self.store.entropy());
        let length = u32::try_from(sealed.len()).map_err(StoreError::internal)?;
        let file = self.files.get_mut(label).ok_or_else(|| StoreError::internal("a label without a journal"))?;
        let mut frame = Vec::with_capacity(sealed.len() + 4);
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(&sealed);
        file.write_all(&frame).map_err(|error| StoreError::write(&folder.join(label), error))
    }

    /// Makes everything that was added under a label durable.
    pub fn sync(&self, label: &str) -> Result<(), StoreError> {
        let Some((folder, file)) = self.folder.as_ref().zip(self.files.get(label)) else { return Ok(()) };
        file.sync_data().map_err(|error| StoreError::write(&folder.join(label), error))
    }

    /// Takes the journal away: what it held is at rest elsewhere.
    pub fn remove(self) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        std::fs::remove_dir_all(folder).map_err(|error| StoreError::write(folder, error))
    }

    fn load(&mut self, folder: &Path, label: &str) -> Result<Frames, StoreError> {
        let path = folder.join(label);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| StoreError::write(&path, error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| StoreError::read(&path, error))?;
        let (frames, whole) = self.frames(Bytes::from(bytes), label, &path)?;
        let cut = file.set_len(whole).and_then(|()| file.seek(SeekFrom::Start(whole)));
        cut.map_err(|error| StoreError::write(&path, error))?;
        self.files.insert(label.to_owned(), file);
        Ok(frames)
    }

    /// The frames that are whole, and where the last of them ends.
    fn frames(&self, bytes: Bytes, label: &str, path: &Path) -> Result<(Frames, u64), StoreError> {
        let (mut frames, mut at) = (Frames::new(), 0);
        while let Some(head) = bytes[at..].first_chunk::<4>() {
            let end = at + 4 + u32::from_le_bytes(*head) as usize;
            if end > bytes.len() {
                break;
            }
            let sealed = bytes.slice(at + 4..end);
            match unseal(sealed, &self.keys, &self.dataset, label, &path.display().to_string()) {
                Ok(plain) => frames.push(plain),
                // The last frame may have been cut short with its length in place.
                Err(StoreError::Damaged { .. }) if end == bytes.len() => break,
                Err(error) => return Err(error),
            }
            at = end;
        }
        Ok((frames, at as u64))
    }
}
