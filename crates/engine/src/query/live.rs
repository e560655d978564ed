//! `query --live`: the sources of a dataset read now, through mappings, privacy filters and the view.
//!
//! *Invariant:* a live answer names no version: it says when it was read, and the digests of the pages. Those digests are
//! over all that was answered, so only those who see everything in the dataset may ask.

use std::sync::Arc;

use heldset_core::query::Query;
use heldset_query::{Part, Rows, fields_of};
use heldset_store::documents::{AuditDoc, DatasetDoc};

use super::desk::{Desk, Memory, Opened};
use super::{Answered, Over, failed};
use crate::log;
use crate::refusal::Outcome;
use crate::resolve::{dataset, policy_of, version};
use crate::session::Session;
use crate::source::{self, Reach};
use crate::status;

/// What was read just now.
#[derive(Clone, Debug)]
pub struct Read {
    /// When.
    pub time: String,
    /// What was asked, and the SHA-256 of what was answered, in hex.
    pub pages: Vec<(String, String)>,
}

/// Answers a query over what the sources of a dataset give now.
pub fn query_live(
    session: &Session,
    reach: Reach<'_>,
    memory: &Memory,
    slug: &str,
    query: &Query,
) -> Outcome<Answered> {
    let doc = dataset(&session.store, slug)?;
    status::usable(&doc, if doc.head == 0 { "cat" } else { "query" })?;
    must_see(session, &doc)?;
    let live = source::live(session, reach, slug, &query.source_ids, query.split.as_deref(), None)?;
    let rows = live.rows;
    log_look(session, slug, rows.len() as u64)?;
    let part: Arc<dyn Part> = Arc::new(Rows::new(&format!("live {}", session.new_id()), &rows));
    let fields = fields_of(std::slice::from_ref(&part), &memory.cache).map_err(failed)?;
    let over = Over { dataset: slug.to_owned(), cited: format!("dataset `{slug}`"), version: None, digest: None };
    let desk = Desk::over(session, memory, Opened { parts: vec![part], fields }, over)?;
    // The sources are chosen already, and a page of what is gone has no next one.
    let mut answered = desk.answer(&Query { source_ids: Vec::new(), ..query.clone() })?;
    answered.next_cursor = None;
    answered.live = Some(Read { time: live.time, pages: live.pages });
    Ok(answered)
}

/// Refuses whoever does not see every label of the dataset; before it has a version, everybody but the owner.
fn must_see(session: &Session, dataset: &DatasetDoc) -> Outcome<()> {
    if dataset.head == 0 {
        return session.must_own("query --live");
    }
    let policy = policy_of(&version(&session.store, dataset, dataset.head)?)?;
    for (split, _) in policy.splits() {
        let labels = policy.in_split(split)?;
        if !labels.labels().iter().chain([labels.own()]).all(|label| session.viewer.sees(label)) {
            return session.must_own("query --live");
        }
    }
    Ok(())
}

fn log_look(session: &Session, slug: &str, rows: u64) -> Outcome<()> {
    let entry = AuditDoc {
        time: session.clock.now(),
        who: session.user.clone(),
        audience: session.viewer.name().to_owned(),
        place: session.viewer.place().name().to_owned(),
        purpose: "query".to_owned(),
        dataset: slug.to_owned(),
        version: String::new(),
        splits: Vec::new(),
        labels: Vec::new(),
        rows,
        allowed: true,
        note: Some("live".to_owned()),
    };
    Ok(log::append(session, &entry, true)?)
}
