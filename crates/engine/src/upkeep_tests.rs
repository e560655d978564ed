//! Retention, the merging of packs, and erasure cut short, on a store in memory.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io;
use std::sync::{Arc, Mutex};

use heldset_core::digest::{Digest, sha256};
use heldset_core::fault::Fault;
use heldset_core::visibility::Viewer;
use heldset_dialect::{Body, Files, IdRule, Input, NoFiles, ReadOptions};
use heldset_store::catalog::{Batch, Key};
use heldset_store::documents::{Document, PackDoc};
use heldset_store::{Entropy, Store};

use crate::Listener;
use crate::erase::{Erasure, erase};
use crate::gc::gc;
use crate::import::{About, Change, ImportRequest, Labelling, change, import};
use crate::ports::{Clock, Sources};
use crate::session::Session;
use crate::verify::{PinnedFiles, verify};
use crate::{resolve, tag};

struct Time(Mutex<String>);

impl Clock for Time {
    fn now(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

/// Numbers that do not repeat soon.
struct Counter(Mutex<u64>);

impl Entropy for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(32) {
            let mut count = self.0.lock().unwrap();
            *count += 1;
            chunk.copy_from_slice(&sha256(&count.to_be_bytes()).as_bytes()[..chunk.len()]);
        }
    }
}

struct Text(String);

impl Sources for Text {
    fn len(&self) -> usize {
        1
    }

    fn name(&self, _index: usize) -> String {
        "rows.jsonl".to_owned()
    }

    fn open(&self, _index: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        let body = Body::Stream(Box::new(io::Cursor::new(self.0.clone().into_bytes())));
        Ok((Input { name: "rows.jsonl".to_owned(), body }, Box::new(NoFiles)))
    }

    fn digest(&self, _index: usize) -> io::Result<(u64, String)> {
        Ok((self.0.len() as u64, sha256(self.0.as_bytes()).hex()))
    }
}

struct Nobody;

impl Listener for Nobody {
    fn fault(&mut self, _fault: &Fault) -> io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) {}
}

impl PinnedFiles for Nobody {
    fn digest(&self, _path: &str) -> io::Result<(u64, Digest)> {
        Err(io::ErrorKind::NotFound.into())
    }
}

struct World {
    session: Session,
    time: Arc<Time>,
}

fn world() -> World {
    let time = Arc::new(Time(Mutex::new(String::new())));
    let store = Store::in_memory("store", Arc::new(Counter(Mutex::new(0))));
    World { session: Session { store, clock: time.clone(), user: "me".to_owned(), viewer: Viewer::Owner }, time }
}

impl World {
    fn at(&self, day: &str) -> &Session {
        *self.time.0.lock().unwrap() = format!("{day}T12:00:00Z");
        &self.session
    }

    fn import(&self, day: &str, slug: &str, rows: &str, about: &About, upsert: bool) {
        let reading = ReadOptions { format: None, id: IdRule::Auto, schema: None, threads: 1 };
        let labelling = Labelling::default();
        let (reading, labelling) = (&reading, &labelling);
        let request = ImportRequest { slug, split: "default", reading, labelling, about, keep_valid: false };
        let (session, text) = (self.at(day), Text(rows.to_owned()));
        let done = match upsert {
            true => change(session, &request, &Change { sources: Some(&text), remove: &[] }, &mut Nobody),
            false => import(session, &request, &text, &mut Nobody),
        };
        assert!(done.map_err(|refusal| refusal.message).unwrap().committed.unwrap().created);
    }

    fn verify(&self) -> usize {
        let verified = verify(&self.session, None, &Nobody, &mut Nobody).map_err(|refusal| refusal.message).unwrap();
        for version in &verified {
            assert!(version.problems.is_empty(), "{}@{}: {:?}", version.dataset, version.version, version.problems);
        }
        verified.len()
    }

    fn packs(&self) -> Vec<PackDoc> {
        let entries = self.session.store.catalog().scan("pack", "").unwrap();
        entries.iter().map(|(_, bytes)| PackDoc::from_bytes(bytes, "pack").unwrap()).collect()
    }

    fn objects(&self) -> usize {
        self.session.store.objects().list().unwrap().len()
    }
}

fn row(id: &str, text: &str) -> String {
    format!("{{\"id\":\"{id}\",\"input\":\"{text}\",\"expected_output\":\"{text}\"}}\n")
}

fn keeping(terms: &str) -> About {
    About { retention: Some(terms.to_owned()), ..About::default() }
}

#[test]
fn versions_past_their_time_go_unless_somebody_cites_them() {
    let world = world();
    let about = keeping(r#"{"retain_days":10}"#);
    for (day, text) in [("2026-01-01", "a"), ("2026-01-02", "b"), ("2026-01-03", "c"), ("2026-01-20", "d")] {
        world.import(day, "trips", &row("1", text), &about, false);
    }
    let session = world.at("2026-01-21");
    tag::tag(session, "trips@1", "first").map_err(|refusal| refusal.message).unwrap();
    let dataset = resolve::dataset(&session.store, "trips").map_err(|refusal| refusal.message).unwrap();
    let mut batch = Batch::durable();
    batch.put(Key::new("cite", format!("{}\n2\nrun-7", dataset.id)), Vec::new());
    session.store.commit(&batch).unwrap();
    let before = world.objects();
    let dry = gc(session, true).map_err(|refusal| refusal.message).unwrap();
    assert_eq!((dry.dropped_versions.clone(), dry.dropped_objects > 0), (vec![("trips".to_owned(), 3)], true));
    assert_eq!((world.objects(), world.verify()), (before, 4));
    let done = gc(session, false).map_err(|refusal| refusal.message).unwrap();
    assert_eq!((done.dropped_versions, done.dropped_objects), (dry.dropped_versions, dry.dropped_objects));
    let kept: Vec<_> = done.kept.iter().map(|(_, number, why)| (*number, why.as_str())).collect();
    let why = "it was to be kept for 10 days, but";
    assert_eq!(kept, [(1, &*format!("{why} the tag `first` names it")), (2, &*format!("{why} `run-7` cites it"))]);
    assert_eq!(world.verify(), 3);
    assert_eq!(gc(session, false).map_err(|refusal| refusal.message).unwrap().dropped_objects, 0);
    assert!(resolve::resolve(&session.store, "trips@3").is_err());
}

#[test]
fn past_the_last_day_even_the_head_goes_but_not_what_another_dataset_comes_from() {
    let world = world();
    let about = keeping(r#"{"until":"2026-02-01"}"#);
    world.import("2026-01-01", "trips", &row("1", "a"), &about, false);
    world.import("2026-01-02", "other", &row("1", "b"), &about, false);
    let session = world.at("2026-02-01");
    let parent = resolve::resolve(&session.store, "trips").map_err(|refusal| refusal.message).unwrap();
    let parents = vec![parent.version.digest.parse().unwrap()];
    world.import("2026-01-03", "derived", &row("2", "c"), &About { parents, ..About::default() }, false);
    let early = gc(world.at("2026-02-01"), false).map_err(|refusal| refusal.message).unwrap();
    assert_eq!((early.dropped_versions.len(), early.kept.len()), (0, 0), "the day itself still counts");
    let late = gc(world.at("2026-02-02"), false).map_err(|refusal| refusal.message).unwrap();
    assert_eq!(late.dropped_versions, [("other".to_owned(), 1)]);
    assert!(late.kept[0].2.ends_with("`derived@1` comes from it"), "{}", late.kept[0].2);
    let other = resolve::dataset(&session.store, "other").map_err(|refusal| refusal.message).unwrap();
    assert_eq!(other.deletion_status, "erased");
    assert_eq!(world.verify(), 2);
}

#[test]
fn many_small_packs_become_one_and_every_version_still_verifies() {
    let world = world();
    let rows: String = (0..40).map(|number| row(&number.to_string(), &format!("text {number}"))).collect();
    world.import("2026-01-01", "trips", &rows, &About::default(), false);
    for number in 0..18 {
        world.import("2026-01-01", "trips", &row("7", &format!("change {number}")), &About::default(), true);
    }
    let erasure = Erasure { slug: "trips", id: "8", split: None, reason: "asked" };
    let erased = erase(&world.session, &erasure).map_err(|refusal| refusal.message).unwrap();
    assert_eq!((erased.rows, erased.versions.len()), (19, 19));
    assert!(world.packs().len() < 19, "they are merged as they come");
    gc(&world.session, false).map_err(|refusal| refusal.message).unwrap();
    assert_eq!(world.packs().iter().map(|pack| pack.rows).sum::<u64>(), 19 * 39);
    assert_eq!(world.verify(), 19);
}

#[test]
fn a_dataset_whose_only_record_is_erased_still_verifies_and_twins_keep_their_objects() {
    let world = world();
    world.import("2026-01-01", "trips", "{\"id\":\"1\",\"text\":\"same\"}\n", &About::default(), false);
    world.import("2026-01-01", "twin", "{\"id\":\"1\",\"text\":\"same\"}\n", &About::default(), false);
    let erasure = Erasure { slug: "trips", id: "1", split: Some("default"), reason: "asked" };
    erase(&world.session, &erasure).map_err(|refusal| refusal.message).unwrap();
    assert_eq!(world.verify(), 2);
    let again = erase(&world.session, &erasure).err().unwrap();
    assert_eq!(again.message, "dataset `trips` has no record `1` in split `default`");
    assert_eq!(gc(&world.session, false).map_err(|refusal| refusal.message).unwrap().dropped_objects, 0);
    assert_eq!(world.verify(), 2);
}

#[test]
fn an_erasure_that_was_cut_short_is_finished_by_the_next_upkeep() {
    let world = world();
    world.import("2026-01-01", "trips", &row("1", "a"), &About::default(), false);
    let address = world.session.store.objects().put(b"left behind".to_vec().into()).unwrap();
    let named = world.packs()[0].ids.address.clone();
    let mut batch = Batch::durable();
    crate::drops::note(&mut batch, [address.digest().hex().as_str(), named.as_str()].into_iter());
    world.session.store.commit(&batch).unwrap();
    assert_eq!(crate::drops::pending(&world.session.store).unwrap(), 2);
    gc(&world.session, false).map_err(|refusal| refusal.message).unwrap();
    assert_eq!(crate::drops::pending(&world.session.store).unwrap(), 0);
    assert_eq!(world.session.store.objects().size(&address).unwrap(), None);
    assert_eq!(world.verify(), 1, "what is still named stays");
}
