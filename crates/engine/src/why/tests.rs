//! Why rows of made-up runs came from the cache or did not.
#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::json;
use heldset_core::visibility::Viewer;

use super::*;
use crate::results::made_up::{doc, numbered, row, session, stored};
use crate::results::sealed_configs;

const PLAN: &str = r#"{"name":"trip"}"#;

/// Stores a run with one row and a changed document.
fn run(session: &Session, id: &str, row: Row, change: impl FnOnce(&mut RunDoc)) {
    use heldset_store::catalog::Batch;
    use heldset_store::documents::Document;
    let mut doc = stored(session, id, &json::read(PLAN).unwrap(), &numbered(vec![row]));
    change(&mut doc);
    let configs = sealed_configs(&session.store, &doc.dataset_id, &doc.targets).map_err(|refusal| refusal.message);
    doc.configs = Some(configs.unwrap());
    let mut batch = Batch::durable();
    batch.put(heldset_store::run::run_key(id), doc.to_bytes().unwrap());
    session.store.commit(&batch).unwrap();
}

/// The row before, if there is one, the row now, a change of its run, and what is told.
type Told = (Option<Row>, Row, fn(&mut RunDoc), CacheReason);

fn reason(session: &Session) -> CacheReason {
    let request = WhyRequest { run: "run-2", id: "q1", scenario: None, repeat: None };
    why(session, &request).map_err(|refusal| refusal.message).unwrap().sessions.remove(0).cache
}

#[test]
fn the_reason_is_found_from_the_nearest_earlier_run() {
    let other_key = |row: Row| Row { run_key: "other".to_owned(), ..row };
    let first = "run-1".to_owned();
    let cached = Row { cached: Some(first.clone()), ..row("q1", 1.0) };
    let failed = Row { failure: Some("timeout: 3 s".to_owned()), ..row("q1", 0.0) };
    let model = |doc: &mut RunDoc| {
        doc.targets[0].identity = r#"{"kind":"scripted","model":"m2","x":{"y":1}}"#.to_owned();
        doc.targets[0].digest = "sha256:88".to_owned();
    };
    let parts = |names: &[&str]| names.iter().map(|name| KeyPart::Target((*name).to_owned())).collect::<Vec<_>>();
    let nothing = |_: &mut RunDoc| {};
    let cases: Vec<Told> = vec![
        (None, row("q1", 1.0), nothing, CacheReason::NoEarlier),
        (Some(row("q9", 1.0)), row("q1", 1.0), nothing, CacheReason::NoEarlier),
        (Some(row("q1", 1.0)), cached, nothing, CacheReason::Cached(first.clone())),
        (Some(row("q1", 1.0)), row("q1", 1.0), nothing, CacheReason::NotUsed(first.clone())),
        (Some(failed), row("q1", 1.0), nothing, CacheReason::EarlierFailed(first.clone())),
        (
            Some(row("q1", 1.0)),
            other_key(row("q1", 1.0)),
            model,
            CacheReason::Differs(first.clone(), parts(&["model", "x"])),
        ),
        (
            Some(row("q1", 1.0)),
            other_key(row("q1", 1.0)),
            nothing,
            CacheReason::Differs(first.clone(), vec![KeyPart::Unknown]),
        ),
        (
            Some(row("q1", 1.0)),
            other_key(Row { repeat: 1, leaf: "other".to_owned(), ..row("q1", 1.0) }),
            nothing,
            CacheReason::Differs(first.clone(), vec![KeyPart::Content, KeyPart::Repeat]),
        ),
        (
            Some(row("q1", 1.0)),
            row("q1", 1.0),
            |doc| doc.targets[0].reusable = false,
            CacheReason::NotReusable("scripted".to_owned()),
        ),
    ];
    for (before, now, change, expected) in cases {
        let session = session(Viewer::Owner);
        if let Some(before) = before {
            run(&session, "run-1", before, |_| {});
        }
        run(&session, "run-2", now, change);
        assert_eq!(reason(&session), expected);
    }
}

#[test]
fn everything_about_a_record_is_told() {
    let session = session(Viewer::Owner);
    let trace = r#"{"turns":[{"role":"user","content":"hi","output":"hello",
        "steps":[{"type":"tool_call","name":"search","arguments":{"q":"x"},"output":"found"},{"type":"retrieval","sources":["doc-1"]}]},
        {"role":"hitl","content":"go on","output":"done"}],"seeds":[{"source":"doc-1","agent":"concierge"}]}"#;
    let trace = Some(json::read(trace).unwrap().into_owned());
    run(&session, "run-1", Row { trace, ..row("q1", 0.0) }, |_| {});
    let request = WhyRequest { run: "run-1", id: "q1", scenario: Some("base"), repeat: Some(0) };
    let explained = why(&session, &request).map_err(|refusal| refusal.message).unwrap();
    insta::assert_snapshot!(explained.text());
    let value = explained.to_value();
    let sessions = value.as_object().unwrap().get("sessions").unwrap().as_array().unwrap();
    let told = sessions[0].as_object().unwrap();
    for name in ["outcome", "reason", "run_key", "cache", "output", "trace", "scores", "target", "run_ms"] {
        assert!(told.contains(name), "{name}");
    }
}

#[test]
fn what_is_not_in_the_run_is_unknown() {
    let session = session(Viewer::Owner);
    run(&session, "run-1", row("tc-001", 0.0), |_| {});
    let ask = |id: &str, scenario: Option<&str>| {
        let refusal = why(&session, &WhyRequest { run: "run-1", id, scenario, repeat: None }).unwrap_err();
        (refusal.message, refusal.help)
    };
    let unknown = ("run `run-1` has no record `tc-002`".to_owned(), "did you mean `tc-001`?".to_owned());
    assert_eq!(ask("tc-002", None), unknown);
    assert!(ask("tc-001", Some("other")).1.contains("`base`"));
    assert_eq!(doc("run-1", &[]).balance.planned, 0);
}
