//! Runs that never ran, for tests of what reads results.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use heldset_core::digest::sha256;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Viewer;
use heldset_store::run::{RunDoc, RunTargetDoc};
use heldset_store::{DatasetKeys, Entropy, Store};

use super::{Row, RowOutcome, Score, Writer, finish, sealed, sealed_configs};
use crate::ports::Clock;
use crate::session::Session;
use crate::summary::Tally;

struct Noon;

impl Clock for Noon {
    fn now(&self) -> String {
        "2026-05-01T12:00:00Z".to_owned()
    }
}

struct Counter(AtomicU64);

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(32) {
            let count = self.0.fetch_add(1, Ordering::SeqCst);
            chunk.copy_from_slice(&sha256(&count.to_be_bytes()).as_bytes()[..chunk.len()]);
        }
    }
}

/// A store in memory.
pub(crate) fn session(viewer: Viewer) -> Session {
    let store = Store::in_memory("store", Arc::new(Counter(AtomicU64::new(0))));
    Session { store, clock: Arc::new(Noon), user: "me".to_owned(), viewer }
}

/// A score of `exact`.
pub(crate) fn score(name: &str, value: f64) -> Score {
    Score {
        name: name.to_owned(),
        score: Some(value),
        pass: Some(value >= 1.0),
        problem: None,
        rationale: Some(format!("because {value}")),
        details: None,
        key: "00".to_owned(),
    }
}

/// A row of a record that was scored by `exact`.
pub(crate) fn row(id: &str, value: f64) -> Row {
    Row {
        number: 0,
        record_id: id.to_owned(),
        leaf: format!("leaf of {id}"),
        scenario: "base".to_owned(),
        repeat: 0,
        run_key: format!("key of {id}"),
        outcome: if value >= 1.0 { RowOutcome::Pass } else { RowOutcome::Fail },
        reason: None,
        failure: None,
        output: Some(Value::from(format!("answer to {id}"))),
        trace: None,
        scores: vec![score("exact", value)],
        queue_ms: 0.5,
        run_ms: 20.0,
        model_ms: 10.0,
        usage: None,
        retries: 0,
        cached: None,
        session_id: format!("s-{id}"),
        category: None,
        labels: Object::new(),
    }
}

/// A row that ended without a score.
pub(crate) fn unscored(id: &str, outcome: RowOutcome, reason: &str) -> Row {
    Row { outcome, reason: Some(reason.to_owned()), scores: Vec::new(), ..row(id, 0.0) }
}

/// Numbers the rows.
pub(crate) fn numbered(rows: Vec<Row>) -> Vec<Row> {
    (0..).zip(rows).map(|(number, row)| Row { number, ..row }).collect()
}

/// The rows, counted.
pub(crate) fn tally(rows: &[Row]) -> Tally {
    let mut tally = Tally::new();
    rows.iter().for_each(|row| tally.add(row));
    tally
}

/// The document of a run with these rows.
pub(crate) fn doc(id: &str, rows: &[Row]) -> RunDoc {
    let tally = tally(rows);
    let mut scenarios: Vec<&str> = rows.iter().map(|row| row.scenario.as_str()).collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    let target = |scenario: &&str| RunTargetDoc {
        scenario: (*scenario).to_owned(),
        kind: "scripted".to_owned(),
        config: r#"{"kind":"scripted","model":"m1"}"#.to_owned(),
        identity: r#"{"kind":"scripted","model":"m1"}"#.to_owned(),
        digest: "sha256:77".to_owned(),
        reported: None,
        isolation: None,
        reusable: true,
    };
    RunDoc {
        id: id.to_owned(),
        name: "trip".to_owned(),
        dataset: "trips".to_owned(),
        dataset_id: "d-1".to_owned(),
        version: 3,
        digest: "sha256:aa".to_owned(),
        split: "default".to_owned(),
        plan: String::new(),
        plan_digest: "sha256:bb".to_owned(),
        selected: rows.len() as u64,
        selection: "sha256:cc".to_owned(),
        targets: scenarios.iter().map(target).collect(),
        configs: None,
        graders: vec![("exact".to_owned(), "sha256:dd".to_owned())],
        primary: Some("exact".to_owned()),
        recipe: 1,
        started_at: "2026-05-01T11:00:00Z".to_owned(),
        finished_at: Some("2026-05-01T11:01:00Z".to_owned()),
        who: "me".to_owned(),
        product: "0.1.0".to_owned(),
        environment: "linux".to_owned(),
        balance: tally.balance(),
        cached: tally.cached(),
        max_errors: "10%".to_owned(),
        checkpoint: None,
        packs: Vec::new(),
        root: None,
        summary: None,
        replay: None,
    }
}

/// Stores a finished run with these rows and this plan.
pub(crate) fn stored(session: &Session, id: &str, plan: &Value<'_>, rows: &[Row]) -> RunDoc {
    let mut doc = doc(id, rows);
    let keys = session.store.keys().load(&doc.dataset_id).unwrap().unwrap_or_else(|| {
        let keys = DatasetKeys::generate(session.store.entropy());
        session.store.keys().save(&doc.dataset_id, &keys).unwrap();
        keys
    });
    let told = |refusal: Box<crate::refusal::Refusal>| refusal.message;
    doc.plan = sealed(&session.store, &doc.dataset_id, plan).map_err(told).unwrap();
    doc.configs = Some(sealed_configs(&session.store, &doc.dataset_id, &doc.targets).map_err(told).unwrap());
    let mut writer = Writer::new(&session.store, &doc.dataset_id, id, &keys).map_err(told).unwrap();
    for row in rows {
        writer.push(row.clone()).map_err(told).unwrap();
    }
    let written = writer.finish().map_err(told).unwrap();
    finish(session, &mut doc, written).map_err(told).unwrap();
    doc
}
