//! Live sources: files, services over HTTP, databases, buckets, git repositories, datasets of a hub.
//!
//! *Invariant:* only reads; goes nowhere that its guard does not admit; no page and no message has a secret in it.

mod bucket;
mod choice;
mod files;
mod git;
mod guard;
mod http;
mod huggingface;
mod jira;
mod keys;
mod objects;
mod records;
mod running;
mod secret;
mod spool;
mod sql;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use heldset_core::code::Code;
use heldset_core::fault::nearest;
use heldset_engine::feeds::{Feed, FeedRequest, Feeds};
use heldset_engine::refusal::{Outcome, Refusal};

/// Every kind of connector.
const KINDS: &[&str] = &["file", "http", "jira", "sql", "bucket", "git", "huggingface"];

/// How a source waits: between requests, and before something is tried again.
pub type Sleep = dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

/// The way to wait that all readings share.
#[derive(Clone)]
pub(crate) struct Sleeper(pub(crate) Arc<Sleep>);

/// Opens live sources.
pub struct Sources {
    sleeper: Sleeper,
    path: String,
    scratch: PathBuf,
}

/// A configuration that can work.
enum Source {
    Files(files::LocalFiles),
    Http(Box<http::Http>),
    Sql(Box<sql::Database>),
    Bucket(Box<bucket::Bucket>),
    Git(Box<git::Git>),
    Hub(Box<huggingface::Hub>),
}

impl Sources {
    /// One that finds programs in the folders of `path`, and makes temporary files in `scratch`.
    pub fn new(path: impl Into<String>, scratch: impl Into<PathBuf>) -> Self {
        let sleep: Arc<Sleep> = Arc::new(|wait| Box::pin(tokio::time::sleep(wait)));
        Sources { sleeper: Sleeper(sleep), path: path.into(), scratch: scratch.into() }
    }

    /// The same, waiting in another way.
    #[must_use]
    pub fn sleeping(mut self, sleep: Arc<Sleep>) -> Self {
        self.sleeper = Sleeper(sleep);
        self
    }

    fn read(&self, request: &FeedRequest) -> Outcome<Source> {
        Ok(match request.kind.as_str() {
            "file" => Source::Files(files::LocalFiles::read(request)?),
            "http" | "jira" => Source::Http(Box::new(http::Http::read(request)?)),
            "sql" => Source::Sql(Box::new(sql::Database::read(request)?)),
            "bucket" => Source::Bucket(Box::new(bucket::Bucket::read(request)?)),
            "git" => Source::Git(Box::new(git::Git::read(request)?)),
            "huggingface" => Source::Hub(Box::new(huggingface::Hub::read(request)?)),
            kind => {
                let help = match nearest(kind, KINDS.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("write one of {}", KINDS.join(", ")),
                };
                return Err(Refusal::usage(Code::E067, format!("there is no connector `{kind}`"), help));
            }
        })
    }
}

impl Feeds for Sources {
    fn check(&self, request: &FeedRequest) -> Outcome<()> {
        self.read(request).map(|_| ())
    }

    fn open(&self, request: &FeedRequest) -> Outcome<Box<dyn Feed + '_>> {
        let source = self.read(request)?;
        let (sleeper, path, scratch) = (self.sleeper.clone(), self.path.clone(), self.scratch.clone());
        let feed = running::start(request.limit, move |out| match source {
            Source::Files(files) => files.work(out),
            Source::Http(http) => http.work(sleeper, out),
            Source::Sql(database) => database.work(out),
            Source::Bucket(bucket) => bucket.work(out),
            Source::Git(git) => git.work(path, scratch, out),
            Source::Hub(hub) => hub.work(sleeper, out),
        })?;
        Ok(feed)
    }
}
