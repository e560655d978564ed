//! The port to live sources: pages of rows from systems outside.
//!
//! *Invariant:* a secret goes in with the request and never comes out: no page, error or description has it in it.

use heldset_core::value::{Object, Value};

use crate::refusal::Outcome;

/// What is read, and from where.
#[derive(Clone, Default)]
pub struct FeedRequest {
    /// `file`, `http`, `jira`, `sql`, `bucket`, `git`, `huggingface`.
    pub kind: String,
    /// The configuration of the connector.
    pub config: Object<'static>,
    /// What is asked of it, such as `list_issues`; empty for the one thing it does.
    pub operation: String,
    /// How it is asked.
    pub operation_config: Object<'static>,
    /// The credential: a mapping such as `{token}` or `{username, password}`.
    pub secret: Option<Object<'static>>,
    /// Where to go on: the `next` of a page that was read before.
    pub after: Option<Value<'static>>,
    /// The most rows that are wanted, for a test or a preview.
    pub limit: Option<u64>,
    /// Where names of files start.
    pub folder: String,
}

/// One page of a source: an answer of a service, or an object of a store of files. An object with many rows comes in
/// several pages that have the same `asked`, `size` and `sha256`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// What was asked, for people: an address without its secrets, a path.
    pub asked: String,
    /// How many bytes were answered.
    pub size: u64,
    /// The SHA-256 of those bytes, in hex.
    pub sha256: String,
    /// The rows.
    pub rows: Vec<Value<'static>>,
    /// What was not taken: name and reason.
    pub skipped: Vec<(String, String)>,
    /// What should have been taken and could not be read: name and reason.
    pub failed: Vec<(String, String)>,
    /// Where to go on after this page; the same request with it as `after` continues. Absent after the last page, and
    /// where a source cannot be continued.
    pub next: Option<Value<'static>>,
    /// The revision upstream that the page belongs to: a commit, an ETag, a snapshot.
    pub revision: Option<String>,
    /// How many rows the source says there are in all.
    pub total: Option<u64>,
}

/// A source that is being read.
pub trait Feed {
    /// The next page; nothing after the last.
    fn next(&mut self) -> Outcome<Option<Page>>;
}

/// Those who can open sources.
pub trait Feeds: Sync {
    /// Refuses a configuration that cannot work, before it is kept.
    fn check(&self, request: &FeedRequest) -> Outcome<()>;

    /// Opens a source.
    fn open(&self, request: &FeedRequest) -> Outcome<Box<dyn Feed + '_>>;
}
