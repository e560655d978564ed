//! A folder that appears under its name only when it is whole, and can then only be read.
//!
//! *Invariant:* nothing is left behind when the work fails; nothing is laid over what is there.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use heldset_core::code::Code;
use heldset_engine::mount::Layout;
use tempfile::TempDir;

use crate::exit::Failure;
use crate::whole;

const FILE: u32 = 0o444;
const FOLDER: u32 = 0o555;

/// A folder that is being laid out beside its name.
pub(crate) struct FolderLayout {
    path: PathBuf,
    temporary: TempDir,
}

impl FolderLayout {
    /// Starts a folder; the name must be free, or an empty folder.
    pub(crate) fn start(path: &Path) -> Result<Self, Failure> {
        let taken = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => true,
            Err(error) => return Err(Failure::open(path, &error)),
        };
        if taken {
            let message = format!("`{}` is there and is not an empty folder", path.display());
            return Err(Failure::usage(Code::E116, message, "name a folder that is new or empty"));
        }
        let path = std::path::absolute(path).map_err(|error| Failure::write(path, &error))?;
        let above = path.parent().unwrap_or(Path::new("/"));
        let temporary = tempfile::Builder::new().prefix(".heldset-mount-").tempdir_in(above);
        let temporary = temporary.map_err(|error| Failure::write(&path, &error))?;
        whole::note_unfinished(temporary.path());
        whole::clean_up_when_interrupted();
        Ok(FolderLayout { temporary, path })
    }

    /// Makes everything read-only and gives the folder its name.
    pub(crate) fn keep(self) -> Result<(), Failure> {
        let fail = |error: io::Error| Failure::write(&self.path, &error);
        let made = self.temporary.path();
        seal(made).map_err(fail)?;
        if let Err(error) = fs::rename(made, &self.path) {
            unseal(made);
            return Err(fail(error));
        }
        // It has another name now; there is nothing left to remove.
        let _moved = self.temporary.keep();
        Ok(())
    }
}

impl Layout for FolderLayout {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn Write + '_>> {
        let inside = Path::new(path);
        if !inside.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{path}` leads elsewhere")));
        }
        let at = self.temporary.path().join(inside);
        if let Some(folder) = at.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Box::new(BufWriter::new(File::create_new(at)?)))
    }
}

/// Files and folders can only be read, the innermost first.
fn seal(folder: &Path) -> io::Result<()> {
    for entry in walkdir::WalkDir::new(folder).contents_first(true) {
        let entry = entry?;
        let mode = if entry.file_type().is_dir() { FOLDER } else { FILE };
        fs::set_permissions(entry.path(), Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Folders can be removed again.
fn unseal(folder: &Path) {
    for entry in walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_dir()) {
        // What cannot be changed is left behind, and nothing worse.
        drop(fs::set_permissions(entry.path(), Permissions::from_mode(0o755)));
    }
}
