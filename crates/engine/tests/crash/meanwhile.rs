//! Others that are faster: what happens between the first look of a verb and its commit is not overwritten.

use std::io;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_engine::cat::{CatRequest, cat};
use heldset_engine::erase::{Erasure, erase};
use heldset_engine::gc::gc;
use heldset_engine::import::{About, Change, Imported, Labelling, change, import};
use heldset_engine::refusal::Outcome;
use heldset_engine::session::Session;
use heldset_engine::{resolve, verify};

use super::program::request;
use super::world::{Deaf, Nothing, Rows, Seeded, World};

const QUESTIONS: &str = "{\"id\":\"a\",\"input\":\"why\",\"expected_output\":\"one\"}\n\
                         {\"id\":\"b\",\"input\":\"how\",\"expected_output\":\"two\"}\n";
const CHANGED: &str = "{\"id\":\"a\",\"input\":\"why not\",\"expected_output\":\"one\"}\n";

fn world() -> (World, Arc<Seeded>) {
    let (world, random) = (World::new(), Seeded::new(3));
    world.init(&random, Arc::new(heldset_store::NoProbe)).unwrap();
    (world, random)
}

fn put(session: &Session, split: &str, rows: &Rows<'_>, labelling: &Labelling) -> Outcome<Imported> {
    import(session, &request("quiz", split, labelling, &About::default()), rows, &mut Deaf)
}

fn upsert(session: &Session, text: &str) -> Outcome<Imported> {
    let (labelling, about, rows) = (Labelling::default(), About::default(), Rows::of(text));
    change(
        session,
        &request("quiz", "default", &labelling, &about),
        &Change { sources: Some(&rows), remove: &[] },
        &mut Deaf,
    )
}

fn labels(field: &str, label: &str) -> Labelling {
    Labelling { labels: vec![(field.to_owned(), label.to_owned())], ..Labelling::default() }
}

fn rows_of(session: &Session, cite: &str) -> String {
    let mut out = Vec::new();
    cat(session, &CatRequest { cite, split: Some("default"), ids: &[], place: None }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Every version verifies, and each has the one before it as its parent.
fn one_chain(session: &Session) -> u64 {
    for version in verify::verify(session, None, &Nothing, &mut Deaf).unwrap() {
        assert!(version.problems.is_empty(), "{}@{}: {:?}", version.dataset, version.version, version.problems);
    }
    let dataset = resolve::dataset(&session.store, "quiz").unwrap();
    let versions = resolve::versions(&session.store, &dataset).unwrap();
    for pair in versions.windows(2) {
        assert_eq!(pair[1].parents, [pair[0].digest.clone()]);
    }
    assert_eq!(versions.len() as u64, dataset.head);
    dataset.head
}

#[test]
fn a_policy_that_was_tightened_meanwhile_stays() {
    let (world, random) = world();
    let session = world.free(&random);
    put(&session, "default", &Rows::of(QUESTIONS), &Labelling::default()).unwrap();
    put(&session, "other", &Rows::of(QUESTIONS), &Labelling::default()).unwrap();
    let tighten = || {
        let (labelling, about) = (labels("input", "evaluator_only"), About::default());
        let done = import(&world.free(&random), &request("quiz", "default", &labelling, &about), &Nothing, &mut Deaf);
        done.unwrap();
    };
    let rows = Rows { text: CHANGED.to_owned(), meanwhile: Some(&tighten) };
    let refusal = put(&session, "default", &rows, &Labelling::default()).err().unwrap();
    assert_eq!(refusal.code, Code::E115, "{refusal:?}");
    assert_eq!(one_chain(&session), 3);
    put(&session, "default", &Rows::of(CHANGED), &Labelling::default()).unwrap();
    let policy = resolve::resolve(&session.store, "quiz").unwrap().policy;
    assert_eq!(policy.in_split("default").unwrap().of("input").name(), "evaluator_only");
    assert_eq!(one_chain(&session), 4);
}

#[test]
fn rows_that_came_in_while_labels_changed_are_not_lost() {
    let (world, random) = world();
    let session = world.free(&random);
    put(&session, "default", &Rows::of(QUESTIONS), &Labelling::default()).unwrap();
    let add = || drop(upsert(&world.free(&random), CHANGED).unwrap());
    let rows = Rows { text: QUESTIONS.to_owned(), meanwhile: Some(&add) };
    match put(&session, "other", &rows, &labels("input", "evaluator_only")) {
        Ok(_) => assert!(rows_of(&session, "quiz").contains("why not"), "the row of version 2 is gone"),
        Err(refusal) => assert_eq!(refusal.code, Code::E115, "{refusal:?}"),
    }
    one_chain(&session);
    assert!(rows_of(&session, "quiz").contains("why not"));
}

#[test]
fn whole_files_and_single_rows_line_up() {
    let (world, random) = world();
    let session = world.free(&random);
    put(&session, "default", &Rows::of(QUESTIONS), &Labelling::default()).unwrap();
    let add = || drop(upsert(&world.free(&random), CHANGED).unwrap());
    let rows = Rows { text: QUESTIONS.replace("why", "when"), meanwhile: Some(&add) };
    put(&session, "default", &rows, &Labelling::default()).unwrap();
    assert_eq!(one_chain(&session), 3);
    assert!(rows_of(&session, "quiz@2").contains("why not") && rows_of(&session, "quiz@3").contains("when"));
}

#[test]
fn of_two_who_make_a_dataset_one_does() {
    let (world, random) = world();
    let session = world.free(&random);
    let first = || drop(put(&world.free(&random), "default", &Rows::of(QUESTIONS), &Labelling::default()).unwrap());
    let rows = Rows { text: CHANGED.to_owned(), meanwhile: Some(&first) };
    let refusal = put(&session, "default", &rows, &Labelling::default()).err().unwrap();
    assert_eq!(refusal.code, Code::E115, "{refusal:?}");
    assert_eq!(one_chain(&session), 1);
    assert_eq!(session.store.keys().list().unwrap().len(), 1, "the keys of the dataset that lost stay behind");
}

#[test]
fn what_removes_objects_waits_for_those_who_write_or_read_them() {
    let (world, random) = world();
    let session = world.free(&random);
    put(&session, "default", &Rows::of(QUESTIONS), &Labelling::default()).unwrap();
    let busy = || {
        let other = world.free(&random);
        let erasure = Erasure { slug: "quiz", id: "b", split: None, reason: "asked for" };
        assert_eq!(gc(&other, false).err().unwrap().code, Code::E112);
        assert_eq!(erase(&other, &erasure).err().unwrap().code, Code::E112);
    };
    let rows = Rows { text: CHANGED.to_owned(), meanwhile: Some(&busy) };
    put(&session, "default", &rows, &Labelling::default()).unwrap();
    struct Slow<'s>(&'s (dyn Fn() + Sync), usize);
    impl io::Write for Slow<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            (self.0)();
            self.1 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut out = Slow(&busy, 0);
    cat(&session, &CatRequest { cite: "quiz@1", split: None, ids: &[], place: None }, &mut out).unwrap();
    assert!(out.1 > 0);
    gc(&session, false).unwrap();
    assert_eq!(one_chain(&session), 2);
}
