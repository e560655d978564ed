//! A made-up live source: pages in memory, with faults where a test wants them.

use std::sync::Mutex;

use heldset_core::code::Code;
use heldset_core::digest::sha256;
use heldset_core::json;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_engine::feeds::{Feed, FeedRequest, Feeds, Page};
use heldset_engine::refusal::{Outcome, Refusal};

/// Pages by the name of the operation; the cursor is the number of the next page.
#[derive(Default)]
pub struct MadeUpFeeds {
    /// The pages of each operation: rows as JSON texts.
    pub pages: Mutex<Vec<(String, Vec<Vec<String>>)>>,
    /// Reading this page of any source fails.
    pub fails_at: Mutex<Option<usize>>,
    /// The revision upstream.
    pub revision: Mutex<Option<String>>,
    /// What should have been read of the first page and could not be.
    pub failed: Mutex<Vec<(String, String)>>,
    /// Whether a reading can be continued.
    pub ends_only: bool,
    /// What was asked: operation, page, and the secret.
    pub asked: Mutex<Vec<(String, usize, Option<Object<'static>>)>>,
}

impl MadeUpFeeds {
    /// One source with these pages.
    pub fn of(operation: &str, pages: &[&[&str]]) -> Self {
        let feeds = MadeUpFeeds::default();
        feeds.set(operation, pages);
        feeds
    }

    /// Sets the pages of a source.
    pub fn set(&self, operation: &str, pages: &[&[&str]]) {
        let pages = pages.iter().map(|rows| rows.iter().map(|row| (*row).to_owned()).collect()).collect();
        let mut all = self.pages.lock().expect("no test panics with it");
        all.retain(|(known, _)| known != operation);
        all.push((operation.to_owned(), pages));
    }

    /// How often a page was asked for.
    pub fn reads(&self) -> usize {
        self.asked.lock().expect("no test panics with it").len()
    }
}

impl Feeds for MadeUpFeeds {
    fn check(&self, request: &FeedRequest) -> Outcome<()> {
        match request.operation_config.get("bad") {
            Some(_) => Err(Refusal::usage(Code::E067, "`operation_config.bad` is wrong", "leave it out")),
            None => Ok(()),
        }
    }

    fn open(&self, request: &FeedRequest) -> Outcome<Box<dyn Feed + '_>> {
        let all = self.pages.lock().expect("no test panics with it");
        let pages = all.iter().find(|(known, _)| *known == request.operation).map(|(_, pages)| pages.clone());
        let at = match &request.after {
            Some(Value::Number(number)) => number.to_string().parse().unwrap_or_default(),
            _ => 0,
        };
        let operation = request.operation.clone();
        Ok(Box::new(MadeUpFeed {
            feeds: self,
            operation,
            pages: pages.unwrap_or_default(),
            at,
            secret: request.secret.clone(),
        }))
    }
}

struct MadeUpFeed<'f> {
    feeds: &'f MadeUpFeeds,
    operation: String,
    pages: Vec<Vec<String>>,
    at: usize,
    secret: Option<Object<'static>>,
}

impl Feed for MadeUpFeed<'_> {
    fn next(&mut self) -> Outcome<Option<Page>> {
        let Some(rows) = self.pages.get(self.at) else { return Ok(None) };
        let number = self.at;
        self.feeds.asked.lock().expect("no test panics with it").push((
            self.operation.clone(),
            number,
            self.secret.clone(),
        ));
        if *self.feeds.fails_at.lock().expect("no test panics with it") == Some(number) {
            return Err(Refusal::incomplete(Code::E070, format!("page {number} timed out"), "try later"));
        }
        self.at += 1;
        let bytes = rows.join("\n");
        let read = |row: &String| json::read(row).map(Value::into_owned).unwrap_or(Value::Null);
        let more = self.at < self.pages.len() && !self.feeds.ends_only;
        Ok(Some(Page {
            asked: format!("{}/{number}", self.operation),
            size: bytes.len() as u64,
            sha256: sha256(bytes.as_bytes()).hex(),
            rows: rows.iter().map(read).collect(),
            failed: if number == 0 {
                self.feeds.failed.lock().expect("no test panics with it").clone()
            } else {
                Vec::new()
            },
            next: more.then(|| Value::Number(Number::from_u64(self.at as u64))),
            revision: self.feeds.revision.lock().expect("no test panics with it").clone(),
            ..Page::default()
        }))
    }
}
