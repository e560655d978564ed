//! Live sources against real files, servers, databases, buckets and repositories.

mod address;
mod bucket;
mod config;
mod faults;
mod files;
mod git;
mod http;
mod huggingface;
mod jira;
mod sql;
mod sql_servers;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use heldset_core::canonical;
use heldset_core::value::Value;
use heldset_engine::feeds::{FeedRequest, Feeds, Page};
use heldset_engine::refusal::Refusal;
use heldset_outside::source::Sources;

use crate::object;

/// How long was waited, in milliseconds.
type Waits = Arc<Mutex<Vec<u64>>>;

/// A source and what it waited.
struct Desk {
    request: FeedRequest,
    waits: Waits,
    scratch: tempfile::TempDir,
}

impl Desk {
    fn new(kind: &str, config: &str, operation_config: &str) -> Desk {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().to_string_lossy().into_owned();
        let (config, operation_config) = (object(config), object(operation_config));
        let request = FeedRequest { kind: kind.to_owned(), config, operation_config, folder, ..FeedRequest::default() };
        Desk { request, waits: Waits::default(), scratch }
    }

    fn operation(mut self, name: &str) -> Desk {
        self.request.operation = name.to_owned();
        self
    }

    fn secret(mut self, secret: &str) -> Desk {
        self.request.secret = Some(object(secret));
        self
    }

    fn folder(mut self, folder: &std::path::Path) -> Desk {
        self.request.folder = folder.to_string_lossy().into_owned();
        self
    }

    fn limit(mut self, limit: u64) -> Desk {
        self.request.limit = Some(limit);
        self
    }

    fn after(mut self, after: Option<Value<'static>>) -> Desk {
        self.request.after = after;
        self
    }

    fn sources(&self) -> Sources {
        let waits = self.waits.clone();
        let sleep = move |wait: Duration| -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
            waits.lock().unwrap().push(wait.as_millis() as u64);
            Box::pin(async {})
        };
        let path = std::env::var("PATH").unwrap_or_default();
        Sources::new(path, self.scratch.path()).sleeping(Arc::new(sleep))
    }

    /// All pages until the end, or until what went wrong.
    fn read(&self) -> (Vec<Page>, Option<Box<Refusal>>) {
        let sources = self.sources();
        let mut pages = Vec::new();
        let mut feed = match sources.open(&self.request) {
            Ok(feed) => feed,
            Err(refusal) => return (pages, Some(refusal)),
        };
        loop {
            match feed.next() {
                Ok(Some(page)) => pages.push(page),
                Ok(None) => return (pages, None),
                Err(refusal) => return (pages, Some(refusal)),
            }
        }
    }

    /// The pages of a source that is well.
    fn pages(&self) -> Vec<Page> {
        let (pages, refusal) = self.read();
        if let Some(refusal) = refusal {
            panic!("{}", told(&refusal));
        }
        pages
    }

    /// All rows as canonical JSON.
    fn rows(&self) -> Vec<String> {
        rows_of(&self.pages())
    }

    /// What goes wrong.
    fn refusal(&self) -> String {
        match self.read() {
            (_, Some(refusal)) => told(&refusal),
            (pages, None) => panic!("read to its end: {pages:?}"),
        }
    }

    /// What is wrong with the configuration.
    fn check(&self) -> String {
        match self.sources().check(&self.request) {
            Ok(()) => "fine".to_owned(),
            Err(refusal) => told(&refusal),
        }
    }
}

fn told(refusal: &Refusal) -> String {
    format!("{} {} ({})", refusal.code, refusal.message, refusal.help)
}

fn json_of(value: &Value<'static>) -> String {
    String::from_utf8(canonical::bytes(value)).unwrap()
}

fn rows_of(pages: &[Page]) -> Vec<String> {
    pages.iter().flat_map(|page| &page.rows).map(json_of).collect()
}

/// Rows `{"id": n}` from one number up to another.
fn numbered(from: usize, to: usize) -> String {
    let rows: Vec<String> = (from..to).map(|number| format!(r#"{{"id":{number}}}"#)).collect();
    format!("[{}]", rows.join(","))
}

/// The address of a peer that the test script starts; without it a test has nothing to do, and says so.
fn peer(variable: &str) -> Option<String> {
    let address = std::env::var(variable).ok().filter(|address| !address.is_empty());
    if address.is_none() {
        eprintln!("skipped: {variable} is not set (scripts/test starts that server)");
    }
    address
}
