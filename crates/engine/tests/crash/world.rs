//! A store on disk with its keys beside it, and all that a verb needs from outside, made from a seed.

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use heldset_core::digest::{Digest, sha256};
use heldset_core::fault::Fault;
use heldset_core::visibility::Viewer;
use heldset_dialect::{Body, Files, IdRule, Input, ReadOptions};
use heldset_engine::Listener;
use heldset_engine::ports::{Clock, Sources, Tree};
use heldset_engine::refusal::Outcome;
use heldset_engine::session::Session;
use heldset_engine::verify::PinnedFiles;
use heldset_store::{DiskKeys, Entropy, NoProbe, Probe, Store, StoreFolder};
use heldset_testkit::MemoryFiles;

/// A folder with a store and its keys.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// An empty folder; in memory where the system has such a place, because syncing a disk tests the disk.
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        World { folder: made.unwrap() }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.folder.path().join("keys")
    }

    /// A copy of everything as it lies there.
    pub(crate) fn copy(&self) -> World {
        let copy = World::new();
        copy_folder(self.folder.path(), copy.folder.path());
        copy
    }

    /// Makes the store.
    pub(crate) fn init(&self, random: &Arc<Seeded>, probe: Arc<dyn Probe>) -> Outcome<()> {
        heldset_engine::init::init(&self.store(), Viewer::Owner, &**random, "2026-01-01T00:00:00Z", probe).map(drop)
    }

    /// The owner at the store, at a day of 2026.
    pub(crate) fn session(&self, random: &Arc<Seeded>, day: &str, probe: Arc<dyn Probe>) -> Outcome<Session> {
        self.session_as(random, day, probe, Viewer::Owner)
    }

    pub(crate) fn session_as(
        &self,
        random: &Arc<Seeded>,
        day: &str,
        probe: Arc<dyn Probe>,
        viewer: Viewer,
    ) -> Outcome<Session> {
        let folder = StoreFolder::open(&self.store(), Arc::clone(&probe))?;
        let keys = DiskKeys::new(&self.keys(), &folder.head().id, probe);
        let store = Store::on_disk(folder, Arc::new(keys), Arc::clone(random) as Arc<dyn Entropy>);
        let clock = Arc::new(Fixed(format!("2026-{day}T00:00:00Z")));
        Ok(Session { store, clock, user: "tester".to_owned(), viewer })
    }

    /// The owner at the store, with nothing in the way.
    pub(crate) fn free(&self, random: &Arc<Seeded>) -> Session {
        self.session(random, "03-01", Arc::new(NoProbe)).unwrap()
    }

    /// Every stored file: those of the store and of its keys.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        gather(self.folder.path(), &mut found);
        found.sort();
        found
    }
}

fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { gather(&path, found) } else { found.push(path) }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() { copy_folder(&path, &copy) } else { fs::copy(&path, &copy).map(|_| ()).unwrap() }
    }
}

/// Numbers that look random and are the same in every run (SplitMix64).
pub(crate) struct Seeded(Mutex<u64>);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Seeded(Mutex::new(seed)))
    }

    pub(crate) fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.next().to_le_bytes()[..piece.len()]);
        }
    }
}

struct Fixed(String);

impl Clock for Fixed {
    fn now(&self) -> String {
        self.0.clone()
    }
}

/// Rows of one file in memory; something can happen while it is read.
pub(crate) struct Rows<'r> {
    pub(crate) text: String,
    pub(crate) meanwhile: Option<&'r (dyn Fn() + Sync)>,
}

impl Rows<'_> {
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Rows { text: text.into(), meanwhile: None }
    }
}

impl Sources for Rows<'_> {
    fn len(&self) -> usize {
        1
    }

    fn name(&self, _: usize) -> String {
        "rows.jsonl".to_owned()
    }

    fn open(&self, _: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        let body = Body::Seekable(Box::new(Cursor::new(self.text.clone().into_bytes())));
        Ok((Input { name: self.name(0), body }, Box::new(MemoryFiles::default())))
    }

    fn digest(&self, _: usize) -> io::Result<(u64, String)> {
        if let Some(meanwhile) = self.meanwhile {
            meanwhile();
        }
        Ok((self.text.len() as u64, sha256(self.text.as_bytes()).hex()))
    }
}

/// No file at all.
pub(crate) struct Nothing;

impl Sources for Nothing {
    fn len(&self) -> usize {
        0
    }

    fn name(&self, _: usize) -> String {
        String::new()
    }

    fn open(&self, _: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn digest(&self, _: usize) -> io::Result<(u64, String)> {
        Err(io::ErrorKind::NotFound.into())
    }
}

impl PinnedFiles for Nothing {
    fn digest(&self, _: &str) -> io::Result<(u64, Digest)> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Files of a folder in memory.
pub(crate) struct Pictures(pub(crate) Vec<(String, Vec<u8>)>);

impl Tree for Pictures {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn path(&self, index: usize) -> &str {
        &self.0[index].0
    }

    fn place(&self, index: usize) -> String {
        format!("pictures/{}", self.0[index].0)
    }

    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(&*self.0[index].1))
    }
}

/// Hears nothing.
pub(crate) struct Deaf;

impl Listener for Deaf {
    fn fault(&mut self, _: &Fault) -> io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: u64, _: u64) {}
}

pub(crate) fn reading() -> ReadOptions {
    ReadOptions { format: None, id: IdRule::Auto, schema: None, threads: 1 }
}
