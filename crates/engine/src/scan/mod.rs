//! `scan`: looks for sealed text, sealed files and canaries where agents can reach.
//!
//! *Invariant:* tells where something is and what it is of, never what it says.

mod git;
mod needles;
mod secrets;

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};

use heldset_core::code::Code;
use heldset_core::visibility::{Audience, Viewer};
use heldset_store::catalog::Batch;
use heldset_store::documents::Document;
use heldset_store::registry::{LeakDoc, leak_key};
use sha2::{Digest, Sha256};

use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::datasets;
use crate::session::Session;
use git::Pack;
pub use secrets::SecretKind;
use secrets::Secrets;

/// How deep archives in archives are opened.
const ARCHIVES: u32 = 3;
/// How deep anything is opened, compressed files in compressed files too.
const DEEPEST: u32 = 10;
/// The most bytes that are made of one file.
const EXPANDED: u64 = 32 << 30;
/// The largest file that must be in memory to be opened.
const IN_MEMORY: u64 = 1 << 30;

/// Something sealed that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where: a file, and after each `!` what is in it.
    pub path: String,
    /// At which byte it first stands there.
    pub offset: u64,
    /// How often it stands there.
    pub times: u64,
    /// What kind of thing it is.
    pub kind: SecretKind,
    /// Of which dataset.
    pub dataset: String,
    /// Of which split.
    pub split: String,
    /// Of which record, or which file of the split.
    pub record: Option<String>,
    /// In which field.
    pub field: Option<String>,
    /// How many more records have the same text.
    pub more: u64,
}

/// A search, and what it found.
pub struct Scan {
    secrets: Secrets,
    left: u64,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What could not be searched, and why.
    pub unread: Vec<(String, String)>,
    /// How many files were searched.
    pub files: u64,
}

/// How deep a search is in something.
#[derive(Clone, Copy, Default)]
struct Depth {
    archives: u32,
    all: u32,
}

/// Prepares a search for everything sealed in the store.
pub fn scan(session: &Session) -> Outcome<Scan> {
    if !matches!(session.viewer, Viewer::Owner | Viewer::One(Audience::Evaluator)) {
        return Err(Refusal::denied(
            Code::E120,
            format!("the audience `{}` may not use `scan`", session.viewer.name()),
            "run it as the owner, without `--as`, or `--as evaluator`",
        ));
    }
    let secrets = Secrets::gather(session)?;
    Ok(Scan { secrets, left: EXPANDED, findings: Vec::new(), unread: Vec::new(), files: 0 })
}

/// Writes down what was found under a path, for each dataset: the findings are open until a scan of the same place
/// reads all of it and finds none. Nothing is written while there is nothing to remember.
pub fn remember(session: &Session, scan: &Scan, path: &str, place: &str) -> Outcome<()> {
    let whole = scan.unread.iter().all(|(unread, _)| !unread.starts_with(path));
    for dataset in datasets(&session.store)? {
        let found = scan.findings.iter().filter(|found| found.dataset == dataset.slug && found.path.starts_with(path));
        let findings = found.count() as u64;
        let key = leak_key(&dataset.id, place);
        log::commit(session, || {
            let before = session.store.catalog().get(&key)?;
            let mut batch = Batch::durable();
            if findings == 0 && (before.is_none() || !whole) {
                return Ok(Batch::default());
            }
            batch.expect(key.clone(), before);
            let note = match findings {
                0 => {
                    batch.delete(key.clone());
                    format!("nothing is found any more in {place}")
                }
                findings => {
                    let doc = LeakDoc { place: place.to_owned(), findings, time: session.clock.now() };
                    batch.put(key.clone(), doc.to_bytes()?);
                    format!("{findings} findings in {place}")
                }
            };
            let entry = log::upkeep_entry(session, "scan", &dataset.slug, note);
            Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
        })?;
    }
    Ok(())
}

impl Scan {
    /// How many texts, files and marks are searched for.
    pub fn secrets(&self) -> usize {
        self.secrets.all.len()
    }

    /// Searches a file; what cannot be opened as what it looks like is searched as it is.
    pub fn look(&mut self, name: &str, open: &dyn Fn() -> io::Result<Box<dyn Read>>) {
        self.files += 1;
        self.left = EXPANDED;
        let looked = open().and_then(|mut file| self.open(name, &mut *file, Depth::default()));
        let Err(error) = looked else { return };
        self.unread.push((name.to_owned(), error.to_string()));
        if let Ok(mut file) = open() {
            // What can be read of it is searched; that it cannot be read is told already.
            drop(self.search(name, &mut *file));
        }
    }

    fn open(&mut self, name: &str, input: &mut dyn Read, depth: Depth) -> io::Result<()> {
        let mut head = Vec::new();
        input.take(512).read_to_end(&mut head)?;
        let kind = kind_of(&head);
        let mut input = Cursor::new(head).chain(input);
        let deeper = Depth { all: depth.all + 1, ..depth };
        let archive = Depth { archives: depth.archives + 1, ..deeper };
        if depth.all >= DEEPEST || kind.is_archive() && depth.archives >= ARCHIVES {
            return self.search(name, &mut input);
        }
        match kind {
            Kind::Plain => self.search(name, &mut input),
            Kind::Gzip => self.open(name, &mut flate2::read::MultiGzDecoder::new(&mut input), deeper),
            Kind::Zstd => self.open(name, &mut zstd::stream::read::Decoder::new(&mut input)?, deeper),
            Kind::Tar => self.open_tar(name, &mut input, archive),
            Kind::Zip => self.open_zip(name, &in_memory(&mut input)?, archive),
            Kind::Pack => {
                let bytes = in_memory(&mut input)?;
                let whole = Pack::new(&bytes).each(&mut |at, object| {
                    let inner = format!("{name}!{at}");
                    if let Err(error) = self.open(&inner, &mut Cursor::new(object), archive) {
                        self.unread.push((inner, error.to_string()));
                    }
                });
                if whole { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "the pack is damaged")) }
            }
            Kind::Zlib => {
                let bytes = in_memory(&mut input)?;
                match git::inflate(&bytes) {
                    Some((object, _)) => self.open(name, &mut Cursor::new(object), deeper),
                    None => self.search(name, &mut Cursor::new(bytes)),
                }
            }
        }
    }

    fn open_tar(&mut self, name: &str, input: &mut dyn Read, depth: Depth) -> io::Result<()> {
        for entry in tar::Archive::new(input).entries()? {
            let mut entry = entry?;
            let inner = format!("{name}!{}", String::from_utf8_lossy(&entry.path_bytes()));
            self.open(&inner, &mut entry, depth)?;
        }
        Ok(())
    }

    fn open_zip(&mut self, name: &str, bytes: &[u8], depth: Depth) -> io::Result<()> {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(io::Error::other)?;
        for index in 0..archive.len() {
            let shown = archive.name_for_index(index).and_then(Result::ok);
            let shown = shown.map_or_else(|| index.to_string(), |shown| shown.into_owned());
            let inner = format!("{name}!{shown}");
            let looked = match archive.by_index(index) {
                Ok(mut file) => self.open(&inner, &mut file, depth),
                Err(error) => Err(io::Error::other(error)),
            };
            if let Err(error) = looked {
                self.unread.push((inner, error.to_string()));
            }
        }
        Ok(())
    }

    /// Searches bytes as they are.
    fn search(&mut self, name: &str, input: &mut dyn Read) -> io::Result<()> {
        let mut met: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        let mut note = |secret: u32, at: u64| met.entry(secret).or_insert((at, 0)).1 += 1;
        let (mut search, mut hasher) = (self.secrets.needles.search(), Sha256::new());
        let mut buffer = vec![0; 64 << 10];
        let read = loop {
            let count = match input.read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(error),
            };
            if self.left < count as u64 {
                break Err(io::Error::other("it expands too much"));
            }
            self.left -= count as u64;
            if !self.secrets.files.is_empty() {
                hasher.update(&buffer[..count]);
            }
            search.push(&buffer[..count], &mut note);
        };
        search.finish(&mut note);
        let whole: [u8; 32] = hasher.finalize().into();
        if let Some(secret) = self.secrets.files.get(&whole).filter(|_| read.is_ok()) {
            met.insert(*secret, (0, 1));
        }
        for (secret, (offset, times)) in met {
            let found = self.secrets.all[secret as usize].clone();
            self.findings.push(Finding {
                path: name.to_owned(),
                offset,
                times,
                kind: found.kind,
                dataset: found.dataset,
                split: found.split,
                record: found.record,
                field: found.field,
                more: found.more,
            });
        }
        read
    }
}

/// What bytes look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Gzip,
    Zstd,
    Zip,
    Tar,
    /// A pack of git.
    Pack,
    /// A loose object of git, or anything else that is deflated.
    Zlib,
}

impl Kind {
    fn is_archive(self) -> bool {
        matches!(self, Kind::Zip | Kind::Tar | Kind::Pack)
    }
}

fn kind_of(head: &[u8]) -> Kind {
    let zlib = |head: &[u8]| match head {
        [first, second, ..] => {
            first & 0x0f == 8 && *first <= 0x78 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
        }
        _ => false,
    };
    match head {
        [0x1f, 0x8b, ..] => Kind::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Kind::Zstd,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Kind::Zip,
        _ if head.get(257..262) == Some(b"ustar") => Kind::Tar,
        _ if head.starts_with(git::MAGIC) && head.len() >= 12 && head[4..7] == [0; 3] => Kind::Pack,
        _ if zlib(head) => Kind::Zlib,
        _ => Kind::Plain,
    }
}

fn in_memory(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(IN_MEMORY + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > IN_MEMORY {
        return Err(io::Error::other("it is too large to be opened"));
    }
    Ok(bytes)
}
