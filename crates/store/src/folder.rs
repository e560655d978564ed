//! The folder of a store: made whole or not at all, opened with what is in it.
//!
//! *Invariant:* a folder is a store exactly when it has its head, which is written last. Nothing is removed but
//! unfinished files that nobody works on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heldset_core::canonical;
use heldset_core::digest::tagged_value;
use heldset_core::json;
use heldset_core::value::{Object, Value};

use crate::catalog::{Catalog, SqliteCatalog};
use crate::durable::{Readers, make_folder, publish, sync_folder, unfinished};
use crate::error::{StoreError, other_format};
use crate::lock::{Held, Lock};
use crate::objects::{Objects, STAGING};
use crate::probe::Probe;

const FORMAT: &str = "heldset/store/1";
const HEAD: &str = "heldset.json";
const CATALOG: &str = "catalog.db";
const OBJECTS: &str = "objects";
const LOCK: &str = "lock";
/// What an interrupted attempt to make a store may have left.
const OWN: &[&str] = &[CATALOG, "catalog.db-wal", "catalog.db-shm", "catalog.db-journal", OBJECTS, STAGING, LOCK];

/// What a store says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHead {
    /// Its id.
    pub id: String,
    /// When it was made.
    pub created_at: String,
}

/// An open store on the local disk.
pub struct StoreFolder {
    path: PathBuf,
    head: StoreHead,
    catalog: Arc<dyn Catalog>,
    objects: Objects,
    lock: Lock,
}

impl StoreFolder {
    /// Makes a store in a folder that is new, empty, or left by an interrupted attempt, and opens it.
    pub fn init(path: &Path, head: &StoreHead, probe: Arc<dyn Probe>) -> Result<Self, StoreError> {
        refuse_others(path)?;
        make_folder(path, Readers::Usual)?;
        let held = Lock::at(path.join(LOCK)).exclusive()?;
        refuse_others(path)?;
        make_folder(&path.join(OBJECTS), Readers::Usual)?;
        make_folder(&path.join(STAGING), Readers::Usual)?;
        if !SqliteCatalog::create(&path.join(CATALOG), Arc::clone(&probe))?.is_empty()? {
            return Err(lost_head(path));
        }
        sync_folder(path)?;
        probe.step("store").map_err(|error| StoreError::step("store", error))?;
        publish(&path.join(STAGING), &path.join(HEAD), &head.write(), Readers::Usual)?;
        drop(held);
        StoreFolder::open(path, probe)
    }

    /// Opens the store in a folder, and removes what interrupted commands left if nobody is at work.
    pub fn open(path: &Path, probe: Arc<dyn Probe>) -> Result<Self, StoreError> {
        let head = StoreHead::load(path)?;
        let lock = Lock::at(path.join(LOCK));
        sweep(&path.join(STAGING), &lock)?;
        let catalog = SqliteCatalog::open(&path.join(CATALOG), Arc::clone(&probe))?;
        let objects = Objects::local(path, probe)?;
        Ok(StoreFolder { path: path.to_owned(), head, catalog: Arc::new(catalog), objects, lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the store says about itself.
    pub fn head(&self) -> &StoreHead {
        &self.head
    }

    /// Its catalogue.
    pub fn catalog(&self) -> Arc<dyn Catalog> {
        Arc::clone(&self.catalog)
    }

    /// Its objects.
    pub fn objects(&self) -> Objects {
        self.objects.clone()
    }

    /// Its lock.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// The folder for files that are not finished, swept at opening.
    pub fn staging(&self) -> PathBuf {
        self.path.join(STAGING)
    }

    /// The files that are not finished.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>, StoreError> {
        let staging = self.staging();
        Ok(names(&staging)?.into_iter().map(|name| staging.join(name)).collect())
    }

    /// Removes the files that are not finished, for one who holds the store alone.
    pub fn sweep(&self, _alone: &Held) -> Result<(), StoreError> {
        clear(&self.staging())
    }
}

impl StoreHead {
    /// Reads the head of the store in a folder.
    pub fn load(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(HEAD);
        let text = match fs::read(&path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(StoreError::NotAStore { path: folder.display().to_string() });
            }
            text => text.map_err(|error| StoreError::read(&path, error))?,
        };
        let damaged = || StoreError::damaged(path.display().to_string());
        let value = json::read(str::from_utf8(&text).map_err(|_| damaged())?).map_err(|_| damaged())?;
        let member = |name: &str| Some(value.as_object()?.get(name)?.as_str()?.to_owned());
        let format = member("format").ok_or_else(damaged)?;
        if let Some(newer) = other_format(&format, FORMAT) {
            return Err(newer);
        }
        let (id, created_at) = member("id").zip(member("created_at")).ok_or_else(damaged)?;
        let head = StoreHead { id, created_at };
        // Byte for byte, so that no flipped bit goes unseen.
        if head.write() == text { Ok(head) } else { Err(damaged()) }
    }

    fn write(&self) -> Vec<u8> {
        let mut head = Object::with_capacity(4);
        head.set("created_at", Value::text(self.created_at.as_str()));
        head.set("format", Value::text(FORMAT));
        head.set("id", Value::text(self.id.as_str()));
        let check = tagged_value("store", &Value::Object(head.clone())).hex();
        head.set("check", Value::text(check));
        let mut text = canonical::bytes(&Value::Object(head));
        text.push(b'\n');
        text
    }
}

/// Refuses a folder that is a store, lost the head of one, or has other things in it.
fn refuse_others(path: &Path) -> Result<(), StoreError> {
    let shown = || path.display().to_string();
    if path.join(HEAD).exists() {
        return Err(StoreError::AlreadyAStore { path: shown() });
    }
    let names = names(path)?;
    if names.iter().any(|name| !OWN.contains(&name.as_str())) {
        return Err(StoreError::NotEmpty { path: shown() });
    }
    if !self::names(&path.join(OBJECTS))?.is_empty() {
        return Err(lost_head(path));
    }
    let staging = path.join(STAGING);
    if self::names(&staging)?.len() != unfinished(&staging, None)?.len() {
        return Err(StoreError::NotEmpty { path: staging.display().to_string() });
    }
    Ok(())
}

/// What was a store and lost its head must not become an empty one.
fn lost_head(path: &Path) -> StoreError {
    StoreError::Missing { what: path.join(HEAD).display().to_string() }
}

fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| StoreError::read(folder, error))?,
    };
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<io::Result<_>>().map_err(|error| StoreError::read(folder, error))
}

/// Removes what is in the staging folder, unless somebody holds the lock: it may be theirs.
fn sweep(staging: &Path, lock: &Lock) -> Result<(), StoreError> {
    if names(staging)?.is_empty() {
        return Ok(());
    }
    let _held = match lock.try_exclusive() {
        Err(StoreError::Locked | StoreError::ReadOnly { .. }) => return Ok(()),
        held => held?,
    };
    clear(staging)
}

fn clear(staging: &Path) -> Result<(), StoreError> {
    for name in names(staging)? {
        let path = staging.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed.map_err(|error| StoreError::write(&path, error)) {
            Ok(()) | Err(StoreError::ReadOnly { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
