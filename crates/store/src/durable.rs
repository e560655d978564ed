//! Files that appear whole and stay: written aside, synced, renamed, and the folder synced.
//!
//! *Invariant:* a name either does not exist or has all its bytes, whenever the power goes; a file that could not be
//! finished is removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::StoreError;

/// What stands in the name of every file that is not finished.
const STAGED: &str = "new-";

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Whoever the user's own settings allow.
    Usual,
    /// The owner alone.
    Owner,
}

/// Writes `bytes` aside in the folder `staging` and gives them the name `path`, in place of what had it.
pub(crate) fn publish(staging: &Path, path: &Path, bytes: &[u8], readers: Readers) -> Result<(), StoreError> {
    let staged = stage(staging, path, bytes, readers)?;
    finish(&staged, path, fs::rename(&staged, path))
}

/// The same, but only if nothing has the name yet; else a conflict.
pub(crate) fn publish_new(staging: &Path, path: &Path, bytes: &[u8], readers: Readers) -> Result<(), StoreError> {
    let staged = stage(staging, path, bytes, readers)?;
    let linked = fs::hard_link(&staged, path);
    if linked.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
        fs::remove_file(&staged).map_err(|error| StoreError::write(&staged, error))?;
        return Err(StoreError::Conflict);
    }
    finish(&staged, path, linked.and_then(|()| fs::remove_file(&staged)))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| StoreError::write(folder, error))
}

/// Makes a folder, and its name durable; one that is there is fine.
pub(crate) fn make_folder(folder: &Path, readers: Readers) -> Result<(), StoreError> {
    match create_folder(folder, readers) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(parent) = parent(folder) else { return Err(StoreError::write(folder, error)) };
            if parent.is_dir() {
                return Err(StoreError::write(folder, error));
            }
            make_folder(&parent, readers)?;
            make_folder(folder, readers)
        }
        made => {
            made.map_err(|error| StoreError::write(folder, error))?;
            parent(folder).map_or(Ok(()), |parent| sync_folder(&parent))
        }
    }
}

/// The files in `folder` that were never finished, of any program that wrote there; with `of`, of that name alone.
pub(crate) fn unfinished(folder: &Path, of: Option<&str>) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| StoreError::read(folder, error))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| StoreError::read(folder, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let rest =
            name.strip_prefix(STAGED).and_then(|rest| rest.split_once('-')).and_then(|(_, rest)| rest.split_once('-'));
        if rest.is_some_and(|(_, name)| of.is_none_or(|of| of == name)) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// The folder that a path lies in.
fn parent(path: &Path) -> Option<PathBuf> {
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_owned() })
}

fn stage(staging: &Path, path: &Path, bytes: &[u8], readers: Readers) -> Result<PathBuf, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let staged = staging.join(format!("{STAGED}{}-{number}-{name}", std::process::id()));
        let mut file = match create_file(&staged, readers) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file.map_err(|error| StoreError::write(&staged, error))?,
        };
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        return match written {
            Ok(()) => Ok(staged),
            Err(error) => {
                let _ = fs::remove_file(&staged);
                Err(StoreError::write(path, error))
            }
        };
    }
}

fn finish(staged: &Path, path: &Path, named: io::Result<()>) -> Result<(), StoreError> {
    if let Err(error) = named {
        let _ = fs::remove_file(staged);
        return Err(StoreError::write(path, error));
    }
    parent(path).map_or(Ok(()), |folder| sync_folder(&folder))
}

fn create_file(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

fn create_folder(path: &Path, readers: Readers) -> io::Result<()> {
    #[allow(unused_mut, reason = "modes are for unix")]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    builder.create(path)
}
