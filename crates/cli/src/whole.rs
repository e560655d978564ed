//! Files that appear under their name only when they are whole.
//!
//! *Invariant:* until [`WholeFile::keep`], what was there before is untouched; nothing is left behind when the work
//! fails or is interrupted. A device or a pipe is written to, never replaced; a link is followed.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::exit::{Exit, Failure};

/// What an interrupted change of the store says: it may have happened just before.
const CHANGED: &str = "interrupted: what the command changes is there whole or not at all; run it again to go on";

/// Whether the store was about to change.
static CHANGING: AtomicBool = AtomicBool::new(false);

/// What an interruption says instead, such as how to go on with a run.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Temporary files that an interruption must take away.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file that is being written.
pub(crate) struct WholeFile {
    path: PathBuf,
    place: Place,
}

enum Place {
    /// Beside its name, to be renamed.
    Beside(NamedTempFile),
    /// A device or a pipe.
    Direct(File),
}

impl WholeFile {
    /// Starts a file that will have this name.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let fail = |error: io::Error| Failure::write(path, &error);
        let about = path.metadata().ok();
        if about.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(fail(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
        }
        if about.as_ref().is_some_and(|about| !about.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(fail)?;
            return Ok(WholeFile { path: path.to_owned(), place: Place::Direct(file) });
        }
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mode = about.map_or(0o666, |about| about.permissions().mode() & 0o7777);
        let made = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder);
        let temporary = made.map_err(fail)?;
        unfinished().push(temporary.path().to_owned());
        Ok(WholeFile { path: real, place: Place::Beside(temporary) })
    }

    /// Gives the file its name.
    pub(crate) fn keep(self) -> Result<(), Failure> {
        let Place::Beside(temporary) = self.place else { return Ok(()) };
        let before = temporary.path().to_owned();
        let kept = temporary.persist(&self.path).map_err(|error| Failure::write(&self.path, &error.error));
        unfinished().retain(|path| *path != before);
        kept.map(|_| ())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            Place::Beside(file) => file.write(bytes),
            Place::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Beside(file) => file.flush(),
            Place::Direct(file) => file.flush(),
        }
    }
}

/// Has an interruption take a folder away, until it has its name.
pub(crate) fn note_unfinished(folder: &Path) {
    unfinished().push(folder.to_owned());
}

/// Has an interruption say how to go on with a change of the store. What it leaves there is swept by the next command.
pub(crate) fn say_when_interrupted() {
    CHANGING.store(true, Ordering::SeqCst);
    clean_up_when_interrupted();
}

/// Has an interruption say this.
pub(crate) fn last_words(words: String) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
}

/// Takes unfinished files away when the user or the system ends the work.
pub(crate) fn clean_up_when_interrupted() {
    // Without a handler an interruption leaves a temporary file behind, and nothing worse.
    drop(ctrlc::set_handler(|| {
        heldset_outside::end_all();
        for path in unfinished().drain(..) {
            drop(if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) });
        }
        let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(words) = words.or_else(|| CHANGING.load(Ordering::SeqCst).then(|| CHANGED.to_owned())) {
            // Nobody is left to be told when the terminal is gone.
            drop(writeln!(io::stderr(), "{words}"));
        }
        std::process::exit(Exit::Interrupted as i32);
    }));
}

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
