//! What is queried: a version, a run or the log, opened once for an audience.
//!
//! *Invariant:* opening it is logged like every other look; what is remembered between queries is found again only by
//! those who may read the same objects.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use heldset_core::cite::LOG;
use heldset_core::code::Code;
use heldset_core::fault::Fault;
use heldset_core::query::{PageKey, Query};
use heldset_core::value::Object;
use heldset_query::{Cache, Fields, Part, Rows, Table, fields_of};

use super::answer::{Answered, Over};
use super::failed;
use super::stored::Stored;
use crate::audit;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::dataset;
use crate::results::RunResults;
use crate::session::Session;
use crate::status;
use crate::view::{Look, View, cited};

/// What is remembered between queries, within a limit.
pub struct Memory {
    pub(crate) cache: Arc<Cache>,
    opened: Mutex<HashMap<String, Arc<Opened>>>,
}

/// How many views are remembered.
const MOST_OPENED: usize = 256;

/// The parts of a view, and the fields in them.
pub(crate) struct Opened {
    pub(crate) parts: Vec<Arc<dyn Part>>,
    pub(crate) fields: Fields,
}

/// Something that can be queried.
pub struct Desk {
    pub(crate) opened: Arc<Opened>,
    pub(crate) cache: Arc<Cache>,
    pub(crate) over: Over,
    pub(crate) key: PageKey,
    pub(crate) viewer: &'static str,
    /// What the caller should know of the dataset.
    pub warning: Option<Fault>,
}

impl Memory {
    /// A memory of at most so many bytes of decoded columns.
    pub fn new(limit: usize) -> Self {
        Memory { cache: Arc::new(Cache::new(limit)), opened: Mutex::default() }
    }

    fn opened(&self, key: String, open: impl FnOnce() -> Outcome<Vec<Arc<dyn Part>>>) -> Outcome<Arc<Opened>> {
        let lock = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = lock().get(&key) {
            return Ok(opened.clone());
        }
        let parts = open()?;
        let fields = fields_of(&parts, &self.cache).map_err(failed)?;
        let opened = Arc::new(Opened { parts, fields });
        let mut known = lock();
        if known.len() >= MOST_OPENED {
            known.clear();
        }
        known.insert(key, opened.clone());
        Ok(opened)
    }
}

impl Desk {
    /// Opens a version, `run:ID` or `access-log`.
    pub fn open(session: &Session, memory: &Memory, what: &str, split: Option<&str>) -> Outcome<Desk> {
        let key = page_key(session)?;
        let viewer = session.viewer.name();
        let mut warning = None;
        let (opened, over) = match what.strip_prefix("run:") {
            Some(run) => of_run(session, memory, run)?,
            None if what == LOG => of_log(session, memory)?,
            None => {
                let found = of_version(session, memory, what, split)?;
                warning = status::usable(&dataset(&session.store, &found.1.dataset)?, "query")?;
                found
            }
        };
        Ok(Desk { opened, cache: memory.cache.clone(), over, key, viewer, warning })
    }

    /// What was opened elsewhere.
    pub(crate) fn over(session: &Session, memory: &Memory, opened: Opened, over: Over) -> Outcome<Desk> {
        let (key, viewer) = (page_key(session)?, session.viewer.name());
        Ok(Desk { opened: Arc::new(opened), cache: memory.cache.clone(), over, key, viewer, warning: None })
    }

    /// Answers a query.
    pub fn answer(&self, query: &Query) -> Outcome<Answered> {
        super::answer::answer(self, query)
    }

    /// The same as a table of SQL.
    pub fn table(&self) -> Outcome<Table> {
        Table::new(self.opened.parts.clone(), self.cache.clone()).map_err(failed)
    }
}

/// The secret of cursors: what the store's own key makes of a fixed text, which it signs for nobody.
fn page_key(session: &Session) -> Outcome<PageKey> {
    let store = &session.store;
    let signed = heldset_store::sign(store.keys(), store.entropy(), b"heldset/cursor-key/1")?;
    Ok(PageKey(*heldset_core::digest::sha256(signed.signature.as_bytes()).as_bytes()))
}

fn of_version(session: &Session, memory: &Memory, cite: &str, split: Option<&str>) -> Outcome<(Arc<Opened>, Over)> {
    let view = View::open(session, &Look { cite, split, place: None, purpose: "query" })?;
    let (dataset, version) = (&view.resolved.dataset, &view.resolved.version);
    let mut labels: Vec<String> = view.labels().iter().map(|label| label.name().to_owned()).collect();
    labels.sort();
    let splits: Vec<&str> = view.splits.iter().map(|split| split.doc.name.as_str()).collect();
    let key = [&dataset.id, &version.digest, &labels.join(","), &splits.join("\n")].map(String::as_str).join("\n");
    let opened = memory.opened(key, || {
        let mut parts: Vec<Arc<dyn Part>> = Vec::new();
        for split in view.splits.iter().filter(|split| !split.doc.files) {
            let (rows, reading) = (view.rows(split)?, view.reading(split));
            for run in rows.runs()? {
                parts.push(Arc::new(Stored::open(&reading, &rows.packs[run.pack].1, &run.rows)?));
            }
        }
        Ok(parts)
    })?;
    let over = Over {
        dataset: dataset.slug.clone(),
        cited: cited(&view.resolved),
        version: Some(version.number),
        digest: Some(version.digest.clone()),
    };
    Ok((opened, over))
}

fn of_run(session: &Session, memory: &Memory, run: &str) -> Outcome<(Arc<Opened>, Over)> {
    let results = RunResults::open(session, run, "query")?;
    let name = format!("run:{}", results.doc.id);
    let over = Over {
        dataset: name.clone(),
        cited: format!("run `{}`", results.doc.id),
        version: Some(results.doc.version),
        digest: results.doc.root.as_ref().map(|root| format!("sha256:{root}")),
    };
    let opened = memory.opened(format!("{name}\n{}", session.viewer.name()), || {
        let rows: Vec<(String, Object<'static>)> = results.records()?;
        Ok(vec![Arc::new(Rows::new(&name, &rows)) as Arc<dyn Part>])
    })?;
    Ok((opened, over))
}

/// The access log grows, so it is read anew each time.
fn of_log(session: &Session, memory: &Memory) -> Outcome<(Arc<Opened>, Over)> {
    let entries = audit::entries(session, None, None)?;
    let digest = entries.last().map(|entry| format!("entry {}", entry.number));
    let rows: Vec<(String, Object<'static>)> = entries.iter().map(audit::Entry::record).collect();
    let part: Arc<dyn Part> = Arc::new(Rows::new(&format!("{LOG} {}", session.new_id()), &rows));
    let fields = fields_of(std::slice::from_ref(&part), &memory.cache).map_err(failed)?;
    let over = Over { dataset: LOG.to_owned(), cited: "the access log".to_owned(), version: None, digest };
    Ok((Arc::new(Opened { parts: vec![part], fields }), over))
}

/// A cursor that is not of this query.
pub(crate) fn bad_cursor() -> Box<Refusal> {
    let message = "the cursor is not one of this query over this version";
    Refusal::usage(Code::E065, message, "ask the first page again, without a cursor, and go on from its `next_cursor`")
}
