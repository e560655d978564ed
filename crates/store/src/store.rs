//! A store as the verbs use it: documents, objects by label, notes that are sealed.
//!
//! *Invariant:* what is read of a group comes out as [`Sealed`]; what is sealed is never written in the clear.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use heldset_core::visibility::{Label, Sealed};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::catalog::{Batch, Catalog, Key, MemoryCatalog};
use crate::documents::{ChunkDoc, Document, FilesDoc, ObjectDoc, PackDoc};
use crate::entropy::Entropy;
use crate::error::StoreError;
use crate::folder::StoreFolder;
use crate::keys::{DatasetKeys, Keys, MemoryKeys};
use crate::lock::{Held, Lock};
use crate::objects::{Address, Objects};
use crate::pack::{Group, Source, trim};
use crate::probe::NoProbe;
use crate::seal::{Heading, SealKey, SealedReader, seal, unseal};
use crate::segments::{CheckedReader, RangeRead, Segments};

/// The label that notes about a dataset are sealed under.
const NOTES: &str = "notes";
/// What a note is in messages.
const NOTE: &str = "catalog: a sealed note";

/// A store that is open.
pub struct Store {
    id: String,
    catalog: Arc<dyn Catalog>,
    objects: Objects,
    keys: Arc<dyn Keys>,
    entropy: Arc<dyn Entropy>,
    lock: Option<Lock>,
    folder: Option<StoreFolder>,
}

/// How the sealed objects of one split are sealed.
pub struct Sealing {
    /// The id of the dataset.
    pub dataset: String,
    /// The mark of the split.
    pub canary: String,
    /// The newest key.
    pub key: SealKey,
}

impl Store {
    /// The store in a folder.
    pub fn on_disk(folder: StoreFolder, keys: Arc<dyn Keys>, entropy: Arc<dyn Entropy>) -> Self {
        Store {
            id: folder.head().id.clone(),
            catalog: folder.catalog(),
            objects: folder.objects(),
            keys,
            entropy,
            lock: Some(folder.lock().clone()),
            folder: Some(folder),
        }
    }

    /// A store in memory.
    pub fn in_memory(id: &str, entropy: Arc<dyn Entropy>) -> Self {
        Store {
            id: id.to_owned(),
            catalog: Arc::new(MemoryCatalog::default()),
            objects: Objects::memory(Arc::new(NoProbe)),
            keys: Arc::new(MemoryKeys::new()),
            entropy,
            lock: None,
            folder: None,
        }
    }

    /// The id that its keys are kept under.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The catalogue.
    pub fn catalog(&self) -> &dyn Catalog {
        &*self.catalog
    }

    /// The objects.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The keys.
    pub fn keys(&self) -> &dyn Keys {
        &*self.keys
    }

    /// Where randomness comes from.
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// The folder, if it is on a disk.
    pub fn folder(&self) -> Option<&StoreFolder> {
        self.folder.as_ref()
    }

    /// Keeps objects from being collected while they are written.
    pub fn hold(&self) -> Result<Option<Held>, StoreError> {
        self.lock.as_ref().map(Lock::shared).transpose()
    }

    /// Keeps everybody else from writing objects; refused while somebody does.
    pub fn hold_alone(&self) -> Result<Option<Held>, StoreError> {
        self.lock.as_ref().map(Lock::try_exclusive).transpose()
    }

    /// A document of the catalogue.
    pub fn document<D: Document>(&self, key: &Key) -> Result<Option<D>, StoreError> {
        let bytes = self.catalog.get(key)?;
        bytes.map(|bytes| D::from_bytes(&bytes, &format!("catalog: {key}"))).transpose()
    }

    /// Changes the catalogue.
    pub fn commit(&self, batch: &Batch) -> Result<(), StoreError> {
        self.catalog.commit(batch)
    }

    /// Writes an object of one label, sealed unless the label is open.
    pub fn put_object(&self, label: &Label, plain: Vec<u8>, sealing: &Sealing) -> Result<ObjectDoc, StoreError> {
        self.put_labelled(label.name(), plain, (!label.is_open()).then_some(sealing))
    }

    fn put_labelled(&self, label: &str, plain: Vec<u8>, sealing: Option<&Sealing>) -> Result<ObjectDoc, StoreError> {
        let (bytes, checks) = match sealing {
            None => {
                let checks = hex(Segments::of(&plain).as_bytes());
                (plain, Some(checks))
            }
            Some(Sealing { dataset, canary, key }) => {
                let (dataset, label, canary) = (dataset.clone(), label.to_owned(), canary.clone());
                (seal(&plain, key, &Heading { dataset, label, canary }, &*self.entropy), None)
            }
        };
        let size = bytes.len() as u64;
        let address = self.objects.put(bytes.into())?;
        Ok(ObjectDoc { label: label.to_owned(), address: address.digest().hex(), size, checks })
    }

    /// Writes the objects of a pack again with the rows that are kept. The chunks are the caller's to say.
    pub fn trim_pack(
        &self,
        pack: &PackDoc,
        dataset: &str,
        keys: Option<&DatasetKeys>,
        canary: &str,
        keep: &[bool],
        chunks: Vec<ChunkDoc>,
    ) -> Result<PackDoc, StoreError> {
        let sealing =
            |keys: &DatasetKeys| Sealing { dataset: dataset.to_owned(), canary: canary.to_owned(), key: keys.newest() };
        let sealing = keys.map(sealing);
        let put = |before: &ObjectDoc, plain: Vec<u8>| match before.checks.is_some() {
            true => self.put_labelled(&before.label, plain, None),
            false => {
                let no_key = || StoreError::NoKey { dataset: dataset.to_owned() };
                self.put_labelled(&before.label, plain, Some(sealing.as_ref().ok_or_else(no_key)?))
            }
        };
        let (mut objects, mut ids) = (Vec::new(), None);
        for object in &pack.objects {
            let trimmed = trim(self.source(object, dataset, keys, true)?, &self.path_of(object), keep)?;
            if let Some(index) = trimmed.index {
                ids = Some(put(&pack.ids, index)?);
            }
            objects.push(put(object, trimmed.object)?);
        }
        let ids = ids.ok_or_else(|| StoreError::missing("the ids of a pack"))?;
        Ok(PackDoc { rows: keep.iter().filter(|keep| **keep).count() as u64, chunks, objects, ids })
    }

    /// The bytes of an object, all at once or as they are needed.
    pub fn source(
        &self,
        object: &ObjectDoc,
        dataset: &str,
        keys: Option<&DatasetKeys>,
        whole: bool,
    ) -> Result<Source, StoreError> {
        let address: Address = object.address.parse().map_err(|_| StoreError::damaged("catalog: an address"))?;
        let what = self.objects.path_of(&address);
        let Some(checks) = &object.checks else {
            let keys = keys.ok_or_else(|| StoreError::NoKey { dataset: dataset.to_owned() })?;
            if whole {
                let sealed = self.objects.get(&address)?;
                return Ok(Source::whole(unseal(sealed, keys, dataset, &object.label, &what)?));
            }
            let fetch = self.objects.fetch(address);
            return Ok(ranged(SealedReader::open(object.size, keys, dataset, &object.label, &what, fetch)?));
        };
        if whole {
            return Ok(Source::whole(self.objects.get(&address)?));
        }
        let segments = unhex(checks).and_then(|checks| Segments::from_bytes(object.size, checks));
        let segments = segments.ok_or_else(|| StoreError::damaged("catalog: the checks of an object"))?;
        Ok(ranged(CheckedReader::new(segments, what, self.objects.fetch(address))))
    }

    /// Where an object lies, for messages.
    pub fn path_of(&self, object: &ObjectDoc) -> String {
        object.address.parse().map_or_else(|_| object.address.clone(), |address| self.objects.path_of(&address))
    }

    /// Rows of one label: some ranges, or all when there is none.
    pub fn group(
        &self,
        object: &ObjectDoc,
        dataset: &str,
        keys: Option<&DatasetKeys>,
        label: &Label,
        rows: &[Range<u64>],
        ids_only: bool,
    ) -> Result<Sealed<Group>, StoreError> {
        let source = self.source(object, dataset, keys, rows.is_empty() && !ids_only)?;
        let group = Group::read(source, &self.path_of(object), label.clone(), rows, ids_only)?;
        Ok(Sealed::new(label.clone(), group))
    }

    /// The files of a split, with their paths.
    pub fn files(&self, dataset: &str, key: &Key) -> Result<Option<FilesDoc>, StoreError> {
        let Some(mut found) = self.document::<FilesDoc>(key)? else { return Ok(None) };
        if let Some(note) = found.paths.take() {
            let paths: Vec<String> = self.open_note(dataset, &note)?;
            if paths.len() != found.files.len() {
                return Err(StoreError::damaged(format!("catalog: {key}")));
            }
            found.files.iter_mut().zip(paths).for_each(|(file, path)| file.path = path);
        }
        Ok(Some(found))
    }

    /// The files of a sealed split as the catalogue keeps them: a path is what an id is, and lies under the label.
    pub fn seal_paths(&self, dataset: &str, mut files: FilesDoc) -> Result<FilesDoc, StoreError> {
        let paths: Vec<String> = files.files.iter_mut().map(|file| std::mem::take(&mut file.path)).collect();
        files.paths = Some(self.seal_note(dataset, &paths)?);
        Ok(files)
    }

    /// Seals a note, such as a list of sources.
    pub fn seal_note<T: Serialize + ?Sized>(&self, dataset: &str, note: &T) -> Result<String, StoreError> {
        let keys = self.keys.load(dataset)?.ok_or_else(|| StoreError::NoKey { dataset: dataset.to_owned() })?;
        let plain = serde_json::to_vec(note).map_err(StoreError::internal)?;
        let heading = Heading { dataset: dataset.to_owned(), label: NOTES.to_owned(), canary: String::new() };
        Ok(hex(&seal(&plain, &keys.newest(), &heading, &*self.entropy)))
    }

    /// Opens a sealed note.
    pub fn open_note<T: DeserializeOwned>(&self, dataset: &str, note: &str) -> Result<T, StoreError> {
        let damaged = || StoreError::damaged(NOTE);
        let keys = self.keys.load(dataset)?.ok_or_else(|| StoreError::NoKey { dataset: dataset.to_owned() })?;
        let sealed = Bytes::from(unhex(note).ok_or_else(damaged)?);
        let plain = unseal(sealed, &keys, dataset, NOTES, NOTE)?;
        serde_json::from_slice(&plain).map_err(|_| damaged())
    }
}

fn ranged(reader: impl RangeRead + 'static) -> Source {
    Source::ranged(reader.plain_len(), move |range| reader.read(range))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
