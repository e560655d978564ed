//! Objects: immutable bytes, each under the SHA-256 of what is stored.
//!
//! *Invariant:* an object that has its name has all its bytes, durably; whole reads are compared with the name, and
//! ranges are for readers that check them by segments.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use futures_executor::{block_on, block_on_stream};
use heldset_core::digest::{Digest, DigestError, sha256};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::durable::{Readers, make_folder, publish, sync_folder};
use crate::error::StoreError;
use crate::probe::Probe;

/// The folder of the objects.
const FOLDER: &str = "objects";
/// The folder of what is not finished.
pub(crate) const STAGING: &str = "tmp";

/// Where an object lies: the SHA-256 of its stored bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(Digest);

/// Fetches a range of an object.
pub type Fetch = Box<dyn Fn(Range<u64>) -> Result<Bytes, StoreError> + Send + Sync>;

/// The objects of a store. Clones are handles of the same ones.
#[derive(Clone)]
pub struct Objects {
    back: Arc<dyn ObjectStore>,
    /// The folder, when they lie on the local disk: syncing is done here, object stores do it themselves.
    root: Option<PathBuf>,
    probe: Arc<dyn Probe>,
}

impl Address {
    /// The address of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Address(sha256(bytes))
    }

    /// The address with that digest.
    pub const fn new(digest: Digest) -> Self {
        Address(digest)
    }

    /// The digest.
    pub const fn digest(&self) -> &Digest {
        &self.0
    }

    /// Where it lies in the store.
    fn path(&self) -> String {
        let hex = self.0.hex();
        format!("{FOLDER}/{}/{}", &hex[..2], &hex[2..])
    }

    fn from_path(path: &str) -> Option<Self> {
        let (folder, name) = path.strip_prefix(FOLDER)?.strip_prefix('/')?.split_once('/')?;
        (folder.len() == 2).then(|| format!("{folder}{name}").parse().ok()).flatten()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl FromStr for Address {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        text.parse().map(Address)
    }
}

impl Objects {
    /// The objects in the store folder `root`.
    pub fn local(root: &Path, probe: Arc<dyn Probe>) -> Result<Self, StoreError> {
        let back =
            LocalFileSystem::new_with_prefix(root).map_err(|error| failure(&root.display().to_string(), error))?;
        Ok(Objects { back: Arc::new(back), root: Some(root.to_owned()), probe })
    }

    /// Objects in memory.
    pub fn memory(probe: Arc<dyn Probe>) -> Self {
        Objects { back: Arc::new(InMemory::new()), root: None, probe }
    }

    /// Stores bytes durably; those that are there are left as they are.
    pub fn put(&self, bytes: Bytes) -> Result<Address, StoreError> {
        let address = Address::of(&bytes);
        self.probe.step("object").map_err(|error| StoreError::step("object", error))?;
        let is_there = self.size(&address)? == Some(bytes.len() as u64);
        match &self.root {
            Some(root) => keep(root, &address, &bytes, is_there)?,
            None if is_there => {}
            None => {
                let put = block_on(self.back.put(&location(&address), bytes.into()));
                put.map_err(|error| unwritten(self.fail(&address, error)))?;
            }
        }
        Ok(address)
    }

    /// The whole object, compared with its address.
    pub fn get(&self, address: &Address) -> Result<Bytes, StoreError> {
        let read = async { self.back.get(&location(address)).await?.bytes().await };
        let bytes = block_on(read).map_err(|error| self.fail(address, error))?;
        if Address::of(&bytes) == *address { Ok(bytes) } else { Err(StoreError::damaged(self.path_of(address))) }
    }

    /// A range of an object as it lies there, not compared with anything; all of the range, or it is damaged.
    pub fn range(&self, address: &Address, range: Range<u64>) -> Result<Bytes, StoreError> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let length = range.end - range.start;
        let read = block_on(self.back.get_ranges(&location(address), &[range]));
        let bytes = read.map_err(|error| self.fail(address, error))?.pop().unwrap_or_default();
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(StoreError::damaged(self.path_of(address))) }
    }

    /// [`Objects::range`] of one object, to hand to a reader that checks.
    pub fn fetch(&self, address: Address) -> Fetch {
        let objects = self.clone();
        Box::new(move |range| objects.range(&address, range))
    }

    /// How many bytes an object has; nothing if it is not there.
    pub fn size(&self, address: &Address) -> Result<Option<u64>, StoreError> {
        match block_on(self.back.head(&location(address))) {
            Ok(about) => Ok(Some(about.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fail(address, error)),
        }
    }

    /// All objects with their sizes, by address. What is not an object is passed over.
    pub fn list(&self) -> Result<Vec<(Address, u64)>, StoreError> {
        let mut found = Vec::new();
        for about in block_on_stream(self.back.list(Some(&FOLDER.into()))) {
            let about = about.map_err(|error| failure(&self.shown(FOLDER), error))?;
            found.extend(Address::from_path(about.location.as_ref()).map(|address| (address, about.size)));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Removes an object durably; one that is not there is fine.
    pub fn delete(&self, address: &Address) -> Result<(), StoreError> {
        self.probe.step("drop").map_err(|error| StoreError::step("drop", error))?;
        match block_on(self.back.delete(&location(address))) {
            Ok(()) => {}
            Err(object_store::Error::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(unwritten(self.fail(address, error))),
        }
        let Some(root) = &self.root else { return Ok(()) };
        root.join(address.path()).parent().map_or(Ok(()), sync_folder)
    }

    /// Where an object lies, for messages.
    pub fn path_of(&self, address: &Address) -> String {
        self.shown(&address.path())
    }

    fn shown(&self, path: &str) -> String {
        self.root.as_ref().map_or_else(|| path.to_owned(), |root| root.join(path).display().to_string())
    }

    fn fail(&self, address: &Address, error: object_store::Error) -> StoreError {
        failure(&self.path_of(address), error)
    }
}

fn location(address: &Address) -> object_store::path::Path {
    address.path().into()
}

/// Puts an object on the local disk. Of one that is there only the name is synced: its bytes were before they had it.
fn keep(root: &Path, address: &Address, bytes: &[u8], is_there: bool) -> Result<(), StoreError> {
    let path = root.join(address.path());
    let folder = path.parent().unwrap_or(root);
    if is_there {
        sync_folder(folder)?;
    } else {
        make_folder(folder, Readers::Usual)?;
        let staging = root.join(STAGING);
        // Copies of a store may lack a folder that is empty.
        make_folder(&staging, Readers::Usual)?;
        publish(&staging, &path, bytes, Readers::Usual)?;
    }
    // Somebody else may have made the folder of this object and not have synced it yet.
    sync_folder(&root.join(FOLDER))
}

/// What a failure of the object store means: an error of the operating system keeps its kind, a range that is not
/// there is damage.
fn failure(path: &str, error: object_store::Error) -> StoreError {
    if matches!(error, object_store::Error::NotFound { .. }) {
        return StoreError::Missing { what: path.to_owned() };
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(source) = inner.downcast_ref::<io::Error>() {
            let source = source.raw_os_error().map_or_else(|| source.kind().into(), io::Error::from_raw_os_error);
            return StoreError::Io { path: path.to_owned(), source };
        }
        cause = inner.source();
    }
    StoreError::damaged(path)
}

/// What a failed read says, as said by a failed write.
fn unwritten(error: StoreError) -> StoreError {
    match error {
        StoreError::Io { path, source } => StoreError::write(Path::new(&path), source),
        error => error,
    }
}
