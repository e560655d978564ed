//! Files that records are imported from; standard input is kept aside so that it can be read again.
//!
//! *Invariant:* what is kept aside has no name in the file system.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use heldset_dialect::{Body, Files, Input};
use heldset_engine::ports::Sources;
use sha2::{Digest, Sha256};

use crate::disk::{Disk, STDIN};
use crate::exit::Failure;

/// Files that the user named.
pub(crate) struct NamedFiles {
    files: Vec<Named>,
    allow_outside: bool,
}

struct Named {
    path: PathBuf,
    aside: Option<Arc<File>>,
    /// Size and time of change when it was first looked at.
    state: Option<(u64, Option<SystemTime>)>,
}

impl NamedFiles {
    /// The files at these paths; each must be there.
    pub(crate) fn new(paths: &[PathBuf], allow_outside: bool) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for path in paths {
            let aside = keep_aside(path).map_err(|error| Failure::open(path, &error))?.map(Arc::new);
            files.push(Named { state: state_of(path), path: path.clone(), aside });
        }
        Ok(NamedFiles { files, allow_outside })
    }

    /// How many bytes there are, if that is known.
    pub(crate) fn size(&self) -> Option<u64> {
        self.files.iter().map(|file| file.state.map(|(size, _)| size)).sum()
    }
}

impl Sources for NamedFiles {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn name(&self, index: usize) -> String {
        self.files[index].path.display().to_string()
    }

    fn open(&self, index: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        let Named { path, aside, .. } = &self.files[index];
        let files = Box::new(Disk::around(path, self.allow_outside));
        let name = self.name(index);
        let body = match aside {
            Some(file) => Body::Seekable(Box::new(Aside { file: Arc::clone(file), at: 0 })),
            None if path.is_dir() => Body::Folder,
            None => Body::Seekable(Box::new(File::open(path)?)),
        };
        Ok((Input { name, body }, files))
    }

    fn digest(&self, index: usize) -> io::Result<(u64, String)> {
        let Named { path, aside, state } = &self.files[index];
        if path.is_dir() {
            return folder_digest(path);
        }
        let digest = match aside {
            Some(file) => digest_of(Aside { file: Arc::clone(file), at: 0 })?,
            None => digest_of(File::open(path)?)?,
        };
        if aside.is_none() && state_of(path) != *state {
            return Err(io::Error::other("it changed while it was read"));
        }
        Ok(digest)
    }
}

/// Size and SHA-256 of what a reader gives.
pub(crate) fn digest_of(mut reader: impl Read) -> io::Result<(u64, String)> {
    let (mut hasher, mut size, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        size += count as u64;
        hasher.update(&buffer[..count]);
    }
    Ok((size, hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// A folder is known by the names and digests of the files in it.
fn folder_digest(folder: &Path) -> io::Result<(u64, String)> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            names.push(path);
        }
    }
    names.sort();
    let (mut total, mut hasher) = (0, Sha256::new());
    for path in names {
        let (size, digest) = digest_of(File::open(&path)?)?;
        total += size;
        hasher.update(format!("{digest}  {}\n", path.file_name().unwrap_or_default().to_string_lossy()));
    }
    Ok((total, hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// A copy without a name of what can be read only once.
fn keep_aside(path: &Path) -> io::Result<Option<File>> {
    let mut from: Box<dyn Read> = match path.as_os_str() == STDIN {
        true => Box::new(io::stdin().lock()),
        false => {
            let file = File::open(path)?;
            let about = file.metadata()?;
            if about.is_file() || about.is_dir() {
                return Ok(None);
            }
            Box::new(file)
        }
    };
    let mut file = tempfile::tempfile()?;
    io::copy(&mut from, &mut file)?;
    Ok(Some(file))
}

/// A file that was kept aside, read from a place of its own.
struct Aside {
    file: Arc<File>,
    at: u64,
}

impl Read for Aside {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(out, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Aside {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(by) => (self.file.metadata()?.len(), by),
            SeekFrom::Current(by) => (self.at, by),
        };
        let at = from.checked_add_signed(by);
        self.at = at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the start"))?;
        Ok(self.at)
    }
}

fn state_of(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((about.len(), about.modified().ok()))
}
