//! Files of this machine: one by its name, those of a pattern, those of a folder.
//!
//! *Invariant:* a file that changes while it is read is refused; links in a folder are
//! not followed, and only regular files are opened.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use heldset_core::code::Code;
use heldset_dialect::{Files, FilesError, Loaded};
use heldset_engine::feeds::FeedRequest;
use heldset_engine::refusal::{Outcome, Refusal};

use super::choice::Choice;
use super::keys::{Keys, refuse};
use super::objects::{Fetched, Reading, nothing, remark, unreadable};
use super::running::{Out, Stop, Work};
use super::spool::measure;

/// The largest file that another refers to.
const REFERRED: u64 = 64 << 20;
/// The most files that a pattern may find.
const MOST: usize = 100_000;

/// Why a link is left out.
const LINK: &str = "a symbolic link";
/// Why a pipe, a socket or a device is left out.
const IRREGULAR: &str = "not a regular file";

/// The reading of files.
pub(super) struct LocalFiles {
    base: PathBuf,
    reading: Reading,
    /// Whether the operation chooses, inside of what the connector names.
    chosen: bool,
}

/// What was found in a folder: files, and what is left out with the reason.
#[derive(Default)]
struct Listed {
    names: Vec<String>,
    skipped: Vec<(String, String)>,
}

impl LocalFiles {
    /// Reads the configuration: `path` or `glob` of the connector, of the operation, or of both.
    pub(super) fn read(request: &FeedRequest) -> Outcome<LocalFiles> {
        let mut config = Keys::new("config", &request.config);
        let mut operation = Keys::new("operation_config", &request.operation_config);
        let place = config.either("path", "glob").unwrap_or_default();
        if place.is_empty() && !operation.has("path") && !operation.has("glob") {
            config.wrong(
                "`config` has no `path`",
                "write the path of a file or folder, or a pattern such as `data/*.jsonl`",
            );
        }
        for key in ["path", "glob"] {
            let text = request.operation_config.get(key).and_then(|value| value.as_str());
            if text.is_some_and(leads_out) {
                let message = format!("`operation_config.{key}` leads out of the folder of the connector");
                operation.wrong(message, "name files inside of it, without `..` and without a `/` in front");
            }
        }
        let mut reading = Reading::read(&mut operation, request.after.as_ref());
        refuse([config.done(), operation.done()])?;
        let absolute = Path::new(&request.folder).join(if place.is_empty() { "." } else { place });
        let (base, found) = split(&absolute);
        let chosen = reading.choice != Choice::All;
        let base = match reading.choice {
            // What the operation chooses is inside of what the connector names.
            Choice::Pattern(_) | Choice::Name(_) => absolute,
            Choice::All => {
                reading.choice = found;
                base
            }
        };
        Ok(LocalFiles { base, reading, chosen })
    }

    /// Reads the files one after the other.
    pub(super) fn work(self, mut out: Out) -> Work {
        Box::pin(async move { self.all(&mut out) })
    }

    fn all(&self, out: &mut Out) -> Result<(), Stop> {
        let Listed { names, mut skipped } = self.listed()?;
        if names.is_empty() && skipped.is_empty() {
            return Err(nothing(&format!("`{}`", self.base.display()), &self.reading.choice).into());
        }
        let mut failed = Vec::new();
        for name in names.iter().filter(|name| !self.reading.is_past(name)) {
            if let Some(why) = self.reading.skips(name) {
                skipped.push((name.clone(), why.to_owned()));
                continue;
            }
            match self.open(name) {
                Ok(fetched) => {
                    let stamp = stamp(&self.base.join(name));
                    self.reading.pages(fetched, &Beside(&self.base), out)?;
                    if stamp != self::stamp(&self.base.join(name)) {
                        return Err(changed(name).into());
                    }
                }
                Err(error) if self.reading.choice.is_exactly(name) => return Err(unreadable(name, &error).into()),
                Err(error) => failed.push((name.clone(), error.to_string())),
            }
        }
        skipped.sort();
        match skipped.is_empty() && failed.is_empty() {
            true => Ok(()),
            false => out.page(remark(skipped, failed, None)),
        }
    }

    fn open(&self, name: &str) -> std::io::Result<Fetched> {
        let path = self.base.join(name);
        // To open a pipe is to wait for somebody who writes it.
        if !std::fs::metadata(&path)?.is_file() {
            return Err(std::io::Error::other(IRREGULAR));
        }
        let (size, sha256) = measure(File::open(&path)?)?;
        let body = Box::new(File::open(&path)?);
        Ok(Fetched { name: name.to_owned(), asked: name.to_owned(), size, sha256, revision: None, body })
    }

    /// The names of the files that are chosen, sorted, and what is no file.
    fn listed(&self) -> Outcome<Listed> {
        let folder = self.reading.choice.folder().to_owned();
        let start = self.base.join(&folder);
        if self.chosen && !self.holds(&start) {
            let message = format!("`{folder}` leads out of the folder of the connector by a link");
            return Err(Refusal::usage(Code::E067, message, "name what it leads to in a connector"));
        }
        let mut listed = Listed::default();
        if let Choice::Name(name) = &self.reading.choice
            && self.base.join(name).is_file()
        {
            listed.names.push(name.clone());
            return Ok(listed);
        }
        let mut folders = if start.is_dir() { vec![folder] } else { Vec::new() };
        while let Some(folder) = folders.pop() {
            self.list(&folder, &mut folders, &mut listed)?;
        }
        listed.names.sort();
        Ok(listed)
    }

    /// Notes what is in one folder.
    fn list(&self, folder: &str, folders: &mut Vec<String>, listed: &mut Listed) -> Outcome<()> {
        let entries = std::fs::read_dir(self.base.join(folder)).map_err(|error| unreadable(folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(folder, &error))?;
            let Ok(own) = entry.file_name().into_string() else { continue };
            if own.starts_with('.') && !self.reading.choice.names_hidden() {
                continue;
            }
            let name = if folder.is_empty() { own } else { format!("{folder}/{own}") };
            let kind = entry.file_type().map_err(|error| unreadable(&name, &error))?;
            match kind {
                kind if kind.is_dir() => folders.push(name),
                _ if !self.reading.choice.takes(&name) => {}
                kind if kind.is_symlink() => listed.skipped.push((name, LINK.to_owned())),
                kind if !kind.is_file() => listed.skipped.push((name, IRREGULAR.to_owned())),
                _ => listed.names.push(name),
            }
            if listed.names.len().max(listed.skipped.len()) > MOST {
                return Err(too_many());
            }
        }
        Ok(())
    }

    /// Whether a path, with all links followed, is inside of the folder; what is not there leads nowhere.
    fn holds(&self, path: &Path) -> bool {
        match (self.base.canonicalize(), path.canonicalize()) {
            (Ok(base), Ok(path)) => path.starts_with(base),
            _ => true,
        }
    }
}

/// Whether a path or pattern of an operation is not one inside of a folder.
fn leads_out(text: &str) -> bool {
    let steps = text.split(['/', '\\']).any(|step| step == ".." || step.contains('{') && step.contains(".."));
    steps || text.starts_with(['/', '\\']) || Path::new(text).is_absolute()
}

/// The folder that surely holds everything of a path or pattern, and what is chosen in it.
fn split(path: &Path) -> (PathBuf, Choice) {
    let parts: Vec<Component<'_>> = path.components().collect();
    let is_pattern = |part: &Component<'_>| super::choice::is_pattern(&part.as_os_str().to_string_lossy());
    let end = parts.iter().position(is_pattern).unwrap_or(parts.len());
    let found: PathBuf = parts[..end].iter().collect();
    if end < parts.len() {
        let pattern: PathBuf = parts[end..].iter().collect();
        return (found, Choice::Pattern(pattern.to_string_lossy().replace('\\', "/")));
    }
    if found.is_dir() {
        return (found, Choice::All);
    }
    let name = found.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (found.parent().map(Path::to_path_buf).unwrap_or_default(), Choice::Name(name))
}

/// Files beside one that refers to them, in the same folder or below.
struct Beside<'b>(&'b Path);

impl Files for Beside<'_> {
    fn load(&self, from: &str, path: &str) -> Result<Loaded, FilesError> {
        let outside =
            Path::new(path).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
        if outside {
            return Err(FilesError::Outside(path.to_owned()));
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        let place = self.0.join(&name);
        let about = std::fs::metadata(&place).map_err(|_| FilesError::Missing(path.to_owned()))?;
        let real = |path: &Path| path.canonicalize().ok();
        let inside = real(self.0).zip(real(&place)).is_some_and(|(base, place)| place.starts_with(base));
        if !inside || !about.is_file() {
            return Err(FilesError::Outside(path.to_owned()));
        }
        if about.len() > REFERRED {
            return Err(FilesError::TooLarge(path.to_owned()));
        }
        match std::fs::read(&place) {
            Ok(bytes) => Ok(Loaded { name, bytes }),
            Err(source) => Err(FilesError::Unreadable { path: path.to_owned(), source }),
        }
    }
}

fn stamp(path: &Path) -> Option<(u64, std::time::SystemTime)> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.len(), about.modified().ok()?))
}

fn changed(name: &str) -> Box<Refusal> {
    let message = format!("`{name}` changed while it was read");
    Refusal::invalid(Code::E072, message, "read it again when nobody writes it")
}

fn too_many() -> Box<Refusal> {
    Refusal::usage(Code::E067, format!("the pattern finds more than {MOST} files"), "name fewer of them")
}
