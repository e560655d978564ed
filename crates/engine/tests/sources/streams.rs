//! Streamed versions, and their replay.

use heldset_core::value::Value;
use heldset_engine::source::{SyncMode, SyncRequest, replay_of};
use heldset_store::catalog::{Batch, Key};
use heldset_testkit::MadeUpFeeds;

use super::{World, code, request, sources_of};

const ONE: &str =
    r#"{"connector_instance_id":"api","operation_id":"a","display_name":"A","operation_config":{"jql":"x"}}"#;

fn world() -> World {
    let world = World::new(MadeUpFeeds::of("a", &[&[r#"{"id":1}"#], &[r#"{"id":2}"#]]));
    world.add(ONE).unwrap();
    world
}

const STREAM: SyncMode = SyncMode::Stream { cache: false };
const CACHED: SyncMode = SyncMode::Stream { cache: true };

#[test]
fn a_stream_records_every_page_and_says_that_the_provider_decides() {
    let world = world();
    let synced = world.sync_with(&SyncRequest { mode: STREAM, ..request() }).unwrap();
    let version = &synced.committed[0].version;
    assert_eq!((version.mode.as_str(), replay_of(version)), ("remote_streamed", Some("provider_dependent")));
    let entry = &sources_of(version)[0];
    let pages = entry.get("pages").and_then(Value::as_array).unwrap();
    let asked: Vec<_> =
        pages.iter().map(|page| page.as_object().unwrap().get("asked").unwrap().as_str().unwrap()).collect();
    assert_eq!(asked, ["a/0", "a/1"]);
    assert_eq!(pages[0].as_object().unwrap().get("sha256").unwrap().as_str().unwrap().len(), 64);
    for name in ["snapshot_time", "query", "cursor", "page_order"] {
        assert!(entry.contains(name), "{name}");
    }
    assert!(!world.sync_with(&SyncRequest { mode: STREAM, ..request() }).unwrap().committed[0].created);
    let (name, words) = code(world.sync_with(&SyncRequest { mode: SyncMode::Replay, ..request() }));
    assert!(name == "E076" && words.contains("--cache-pages"), "{words}");
}

#[test]
fn cached_pages_are_replayed_without_dialling_out() {
    let world = world();
    let synced = world.sync_with(&SyncRequest { mode: CACHED, ..request() }).unwrap();
    assert_eq!(replay_of(&synced.committed[0].version), Some("exact"));
    assert!(!world.sync_with(&SyncRequest { mode: CACHED, ..request() }).unwrap().committed[0].created);
    let (before, reads) = (world.rows(), world.feeds.reads());
    world.feeds.set("a", &[&[r#"{"id":9}"#]]);
    let replayed = world.sync_with(&SyncRequest { mode: SyncMode::Replay, ..request() }).unwrap();
    assert!(!replayed.committed[0].created);
    assert_eq!((world.rows(), world.feeds.reads()), (before, reads));
    let bytes = world.bytes();
    assert!(!bytes.windows(6).any(|window| window == b"\"jql\":") || world.head().provenance.contains("jql"));
}

#[test]
fn a_page_that_is_not_the_one_that_was_read_is_an_integrity_error() {
    let world = world();
    world.sync_with(&SyncRequest { mode: CACHED, ..request() }).unwrap();
    let session = world.session();
    let cached = session.store.catalog().scan("replay", "").unwrap();
    assert_eq!(cached.len(), 2);
    let mut batch = Batch::durable();
    batch.put(Key::new("replay", cached[0].0.clone()), cached[1].1.clone());
    session.store.commit(&batch).unwrap();
    assert_eq!(code(world.sync_with(&SyncRequest { mode: SyncMode::Replay, ..request() })).0, "E130");
}

#[test]
fn an_erasure_takes_cached_pages_along() {
    let world = world();
    world.sync_with(&SyncRequest { mode: CACHED, ..request() }).unwrap();
    let erasure = heldset_engine::erase::Erasure { slug: "tickets", id: "1", split: None, reason: "a request" };
    heldset_engine::erase::erase(&world.session(), &erasure).unwrap();
    assert!(world.session().store.catalog().scan("replay", "").unwrap().is_empty());
    assert_eq!(code(world.sync_with(&SyncRequest { mode: SyncMode::Replay, ..request() })).0, "E076");
}
