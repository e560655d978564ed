//! The files of one commit of a git repository.
//!
//! *Invariant:* a branch or tag becomes its commit first, and every page names that commit.

mod repository;

use std::io::Cursor;
use std::path::{Path, PathBuf};

use heldset_core::address::Allow;
use heldset_core::digest::sha256;
use heldset_core::value::Value;
use heldset_engine::feeds::FeedRequest;
use heldset_engine::refusal::Outcome;
use reqwest::Url;

use super::guard::Guard;
use super::keys::{Keys, refuse};
use super::objects::{ALONE, Fetched, Reading, nothing, remark};
use super::running::{Out, Stop, Work};
use super::secret::Secret;
use repository::{Blobs, Entry, Repository};

/// The largest file that is read.
const LARGEST: u64 = 1 << 30;

/// A repository and what is read of it.
pub(super) struct Git {
    place: Place,
    revision: String,
    reading: Reading,
    secret: Secret,
    allow: Allow,
}

/// Where a repository is.
pub(super) enum Place {
    Here(PathBuf),
    Https(Url),
    Ssh { user: Option<String>, host: String, port: Option<u16>, path: String },
}

impl Git {
    /// Reads the configuration.
    pub(super) fn read(request: &FeedRequest) -> Outcome<Git> {
        let mut config = Keys::new("config", &request.config);
        let mut operation = Keys::new("operation_config", &request.operation_config);
        let text = config.either("url", "path").unwrap_or_default().to_owned();
        if text.is_empty() {
            config.wrong("`config` has no `url`", "write the address of a repository, or the path of one here");
        }
        let place = place(&text, &request.folder, &mut config);
        let allow = config.allow();
        let revision = operation.text("revision").unwrap_or("HEAD").to_owned();
        if revision.is_empty()
            || revision.starts_with('-')
            || revision.contains([' ', ':', '\\', '\n', '^', '~', '*', '?', '['])
        {
            operation.wrong(format!("`{revision}` cannot be a revision"), "write a commit, a tag or a branch");
        }
        let reading = Reading::read(&mut operation, request.after.as_ref());
        refuse([config.done(), operation.done()])?;
        let kept = request.after.as_ref().and_then(Value::as_object).and_then(|after| after.get("revision"));
        let revision = kept.and_then(Value::as_str).map_or(revision, str::to_owned);
        let place = place.unwrap_or_else(|| Place::Here(PathBuf::new()));
        Ok(Git { place, revision, reading, secret: Secret::new(request.secret.as_ref()), allow })
    }

    /// Fetches the commit and reads its files.
    pub(super) fn work(self, path: String, scratch: PathBuf, mut out: Out) -> Work {
        Box::pin(async move {
            let guard = Guard::new(self.allow.clone());
            let repository = Repository::make(&self.place, &self.secret, &guard, path, &scratch).await?;
            let commit = repository.commit(&self.revision).await?;
            let entries = repository.entries(&commit).await?;
            let mut blobs = repository.blobs()?;
            self.files(&commit, entries, &mut blobs, &mut out).await
        })
    }

    async fn files(&self, commit: &str, entries: Vec<Entry>, blobs: &mut Blobs, out: &mut Out) -> Result<(), Stop> {
        let chosen: Vec<Entry> = entries.into_iter().filter(|entry| self.reading.choice.takes(&entry.path)).collect();
        if chosen.is_empty() {
            return Err(nothing(&format!("the commit `{commit}`"), &self.reading.choice).into());
        }
        let (mut skipped, mut failed) = (Vec::new(), Vec::new());
        for entry in chosen.into_iter().filter(|entry| !self.reading.is_past(&entry.path)) {
            if let Some(why) = entry.skips().or_else(|| self.reading.skips(&entry.path)) {
                skipped.push((entry.path, why.to_owned()));
                continue;
            }
            if entry.size > LARGEST {
                failed.push((entry.path, "larger than 1 GiB".to_owned()));
                continue;
            }
            let bytes = blobs.read(&entry.id).await?;
            if is_pointer(&bytes) {
                skipped.push((entry.path, "a pointer to Git LFS, whose content is not in the repository".to_owned()));
                continue;
            }
            let fetched = Fetched {
                asked: format!("{commit}:{}", entry.path),
                name: entry.path,
                size: bytes.len() as u64,
                sha256: sha256(&bytes).hex(),
                revision: Some(commit.to_owned()),
                body: Box::new(Cursor::new(bytes)),
            };
            self.reading.pages(fetched, &ALONE, out)?;
        }
        match skipped.is_empty() && failed.is_empty() {
            true => Ok(()),
            false => out.page(remark(skipped, failed, Some(commit))),
        }
    }
}

/// Where a text says that a repository is.
fn place(text: &str, folder: &str, keys: &mut Keys<'_>) -> Option<Place> {
    if text.starts_with('-') || text.contains("::") {
        keys.wrong(format!("`{text}` cannot be a repository"), "write `https://…`, `ssh://…` or a path");
        return None;
    }
    if !text.contains("://") {
        let is_path = text.starts_with(['.', '/']) || Path::new(folder).join(text).exists();
        return match text.split_once(':') {
            Some((host, path)) if !is_path && !host.contains('/') => {
                let (user, host) = match host.rsplit_once('@') {
                    Some((user, host)) => (Some(user.to_owned()), host),
                    None => (None, host),
                };
                Some(Place::Ssh { user, host: host.to_owned(), port: None, path: path.to_owned() })
            }
            _ => Some(Place::Here(Path::new(folder).join(text))),
        };
    }
    let Ok(url) = Url::parse(text) else {
        keys.wrong(format!("`{text}` is not an address"), "write it as `https://host/path.git`");
        return None;
    };
    if url.password().is_some() || url.scheme() == "https" && !url.username().is_empty() {
        keys.in_the_clear("a user or a password in its address");
        return None;
    }
    match url.scheme() {
        "https" => Some(Place::Https(url)),
        "file" => url.to_file_path().ok().map(Place::Here),
        "ssh" => {
            let user = Some(url.username().to_owned()).filter(|user| !user.is_empty());
            let host = url.host_str().unwrap_or_default().to_owned();
            Some(Place::Ssh { user, host, port: url.port(), path: url.path().to_owned() })
        }
        scheme => {
            keys.wrong(format!("a repository is not reached by `{scheme}`"), "use https, ssh, or a path");
            None
        }
    }
}

/// Whether a file only points to one that is kept elsewhere.
fn is_pointer(bytes: &[u8]) -> bool {
    bytes.len() < 1024 && bytes.starts_with(b"version https://git-lfs.github.com/spec/")
}
