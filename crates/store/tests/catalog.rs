//! One suite of facts for every catalogue.

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;

use heldset_store::{Batch, Catalog, Key, MemoryCatalog, Probe, SqliteCatalog, StoreError};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::seeded::{free, refuse};

/// Two handles of one catalogue, and the folder that it lies in.
struct Pair {
    one: Arc<dyn Catalog>,
    other: Arc<dyn Catalog>,
    _folder: Option<TempDir>,
}

fn memory(probe: Arc<dyn Probe>) -> Pair {
    let catalog = MemoryCatalog::with_probe(probe);
    Pair { one: Arc::new(catalog.clone()), other: Arc::new(catalog), _folder: None }
}

fn sqlite(probe: Arc<dyn Probe>) -> Pair {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    let one = SqliteCatalog::create(&path, probe.clone()).unwrap();
    let other = SqliteCatalog::open(&path, probe).unwrap();
    Pair { one: Arc::new(one), other: Arc::new(other), _folder: Some(folder) }
}

fn key(name: &str) -> Key {
    Key::new("test", name)
}

fn put(catalog: &dyn Catalog, entries: &[(&'static str, &str, &str)]) {
    let mut batch = Batch::durable();
    for (space, name, value) in entries {
        batch.put(Key::new(space, *name), value.as_bytes().to_vec());
    }
    catalog.commit(&batch).unwrap();
}

fn names(catalog: &dyn Catalog, space: &'static str, prefix: &str) -> Vec<String> {
    catalog.scan(space, prefix).unwrap().into_iter().map(|(name, _)| name).collect()
}

/// A fact holds for both.
fn both(fact: impl Fn(&dyn Catalog, &dyn Catalog)) {
    for make in [memory, sqlite] {
        let pair = make(free());
        fact(&*pair.one, &*pair.other);
        assert!(pair.one.check().is_empty());
    }
}

#[test]
fn what_was_put_is_there_for_every_handle() {
    both(|one, other| {
        put(one, &[("test", "a", "1"), ("test", "empty", ""), ("more", "a", "2")]);
        for catalog in [one, other] {
            assert_eq!(catalog.get(&key("a")).unwrap().as_deref(), Some(&b"1"[..]));
            assert_eq!(catalog.get(&key("empty")).unwrap().as_deref(), Some(&b""[..]));
            assert_eq!(catalog.get(&Key::new("more", "a")).unwrap().as_deref(), Some(&b"2"[..]));
            assert_eq!(catalog.get(&key("b")).unwrap(), None);
        }
        put(other, &[("test", "a", "3")]);
        assert_eq!(one.get(&key("a")).unwrap().as_deref(), Some(&b"3"[..]));
    });
}

#[test]
fn a_scan_is_in_the_order_of_bytes() {
    both(|one, _| {
        put(one, &[("test", "é", ""), ("test", "b", ""), ("test", "B", ""), ("test", "a/2", ""), ("test", "a/10", "")]);
        put(one, &[("other", "a", ""), ("tes", "t", ""), ("test2", "a", "")]);
        assert_eq!(names(one, "test", ""), ["B", "a/10", "a/2", "b", "é"]);
        assert_eq!(names(one, "test", "a/"), ["a/10", "a/2"]);
        assert!(names(one, "nothing", "").is_empty());
    });
}

#[test]
fn odd_characters_in_a_prefix_are_only_themselves() {
    let all = [
        "%",
        "%a",
        "*",
        "_",
        "_a",
        "a",
        "a'b",
        "a\"",
        "12",
        "1e1",
        "\u{d7ff}x",
        "\u{e000}",
        "\u{10ffff}",
        "\u{10ffff}z",
    ];
    both(|one, _| {
        let entries: Vec<_> = all.iter().map(|name| ("test", *name, "")).collect();
        put(one, &entries);
        for prefix in all.iter().chain(&["", "[", "\\", "1", "A"]) {
            let mut expected: Vec<&str> = all.iter().copied().filter(|name| name.starts_with(prefix)).collect();
            expected.sort_unstable();
            assert_eq!(names(one, "test", prefix), expected, "{prefix}");
        }
    });
}

#[test]
fn a_batch_whose_expectation_fails_writes_nothing() {
    both(|one, other| {
        put(one, &[("test", "a", "1")]);
        let expectations = [
            (key("a"), None),
            (key("a"), Some(b"2".to_vec())),
            (key("b"), Some(b"1".to_vec())),
            (Key::new("more", "a"), Some(b"1".to_vec())),
        ];
        for expectation in expectations {
            let mut batch = Batch::durable();
            batch.expect(key("a"), Some(b"1".to_vec()));
            batch.expect.push(expectation);
            batch.put(key("new"), b"x".to_vec());
            batch.put(key("a"), b"x".to_vec());
            batch.delete(key("a"));
            assert!(matches!(one.commit(&batch), Err(StoreError::Conflict)));
            assert_eq!(other.scan("test", "").unwrap(), [("a".to_owned(), b"1".to_vec())]);
        }
        let mut batch = Batch::default();
        batch.expect(key("a"), Some(b"1".to_vec()));
        batch.expect(key("new"), None);
        batch.put(key("new"), b"x".to_vec());
        other.commit(&batch).unwrap();
        assert_eq!(names(one, "test", ""), ["a", "new"]);
    });
}

#[test]
fn removals_come_before_what_is_put_and_need_nothing_to_be_there() {
    both(|one, _| {
        put(one, &[("test", "a", "1"), ("test", "b", "1")]);
        let mut batch = Batch::default();
        batch.delete(key("a"));
        batch.delete(key("b"));
        batch.delete(key("c"));
        batch.put(key("b"), b"2".to_vec());
        one.commit(&batch).unwrap();
        assert_eq!(one.scan("test", "").unwrap(), [("b".to_owned(), b"2".to_vec())]);
    });
}

#[test]
fn a_refused_commit_leaves_all_as_it_was() {
    for make in [memory, sqlite] {
        let pair = make(refuse("commit"));
        let mut batch = Batch::durable();
        batch.put(key("a"), b"1".to_vec());
        let error = pair.one.commit(&batch).unwrap_err();
        assert!(error.is_full(), "{error}");
        assert!(pair.one.scan("test", "").unwrap().is_empty() && pair.other.check().is_empty());
    }
}

/// Many threads, each with its own handle, raise the same counter and claim the same name.
#[test]
fn every_race_has_exactly_one_winner() {
    const ROUNDS: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    drop(SqliteCatalog::create(&path, free()).unwrap());
    let memory = MemoryCatalog::new();
    let open = |path: &Path| -> Arc<dyn Catalog> { Arc::new(SqliteCatalog::open(path, free()).unwrap()) };
    let handles: [Vec<Arc<dyn Catalog>>; 2] =
        [(0..4).map(|_| open(&path)).collect(), (0..4).map(|_| Arc::new(memory.clone()) as Arc<dyn Catalog>).collect()];
    for catalogs in handles {
        let barrier = Barrier::new(catalogs.len());
        let wins: usize = thread::scope(|scope| {
            let threads: Vec<_> = catalogs
                .iter()
                .enumerate()
                .map(|(number, catalog)| {
                    let barrier = &barrier;
                    scope.spawn(move || (0..ROUNDS).filter(|round| race(&**catalog, *round, number, barrier)).count())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(wins, ROUNDS);
        assert_eq!(catalogs[0].scan("test", "round").unwrap().len(), ROUNDS);
        assert!(catalogs[0].check().is_empty());
    }
}

fn race(catalog: &dyn Catalog, round: usize, number: usize, barrier: &Barrier) -> bool {
    let claimed = key(&format!("round{round:03}"));
    let mut batch = Batch::default();
    batch.expect(claimed.clone(), None);
    batch.put(claimed.clone(), number.to_string().into_bytes());
    barrier.wait();
    let won = match catalog.commit(&batch) {
        Ok(()) => true,
        Err(StoreError::Conflict) => false,
        Err(error) => panic!("{error}"),
    };
    barrier.wait();
    let owner = catalog.get(&claimed).unwrap().unwrap();
    assert_eq!(won, owner == number.to_string().into_bytes());
    won
}

#[test]
fn handles_come_and_go_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    drop(SqliteCatalog::create(&path, free()).unwrap());
    thread::scope(|scope| {
        for number in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for round in 0..10 {
                    let catalog = SqliteCatalog::open(path, free()).unwrap();
                    put(&catalog, &[("test", &format!("{number}-{round}"), "x")]);
                }
            });
        }
    });
    let catalog = SqliteCatalog::open(&path, free()).unwrap();
    assert_eq!(catalog.scan("test", "").unwrap().len(), 40);
    assert!(catalog.check().is_empty());
}

#[test]
fn the_last_handle_leaves_one_file() {
    let pair = sqlite(free());
    put(&*pair.one, &[("test", "a", "1")]);
    let folder = pair._folder.unwrap();
    drop((pair.one, pair.other));
    let left: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["catalog.db"]);
}

#[test]
fn a_scan_searches_the_primary_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    drop(SqliteCatalog::create(&path, free()).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let query = "EXPLAIN QUERY PLAN SELECT digest, value, key FROM entries \
                 WHERE space = ?1 AND key >= ?2 AND key < ?3 ORDER BY key";
    let plan: Vec<String> = connection
        .prepare(query)
        .unwrap()
        .query_map(["a", "b", "c"], |row| row.get(3))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(plan, ["SEARCH entries USING PRIMARY KEY (space=? AND key>? AND key<?)"]);
}

#[test]
fn what_is_no_catalogue_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    assert!(matches!(SqliteCatalog::open(&path, free()), Err(StoreError::Missing { .. })));
    std::fs::write(&path, "some text that is no database, and long enough to be looked at by anybody who cares")
        .unwrap();
    assert!(matches!(SqliteCatalog::open(&path, free()), Err(StoreError::Damaged { .. })));
    std::fs::write(&path, "").unwrap();
    assert!(matches!(SqliteCatalog::open(&path, free()), Err(StoreError::Damaged { .. })));
    std::fs::remove_file(&path).unwrap();
    drop(SqliteCatalog::create(&path, free()).unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let Err(StoreError::NewerFormat { found }) = SqliteCatalog::open(&path, free()) else { panic!("it was opened") };
    assert_eq!(found, "heldset/catalog/2");
}

#[test]
fn a_row_that_was_changed_or_removed_by_hand_is_found() {
    for (change, read_fails) in [
        ("UPDATE entries SET value = x'32' WHERE key = 'a'", true),
        ("UPDATE entries SET key = 'c' WHERE key = 'a'", false),
        ("DELETE FROM entries WHERE key = 'a'", false),
        ("UPDATE sums SET value = zeroblob(32)", false),
        ("DELETE FROM sums", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let catalog = SqliteCatalog::create(&path, free()).unwrap();
        put(&catalog, &[("test", "a", "1"), ("test", "b", "1")]);
        assert_eq!(rusqlite::Connection::open(&path).unwrap().execute(change, []).unwrap(), 1, "{change}");
        let damaged = |error: &StoreError| matches!(error, StoreError::Damaged { .. });
        assert_eq!(catalog.get(&key("a")).is_err_and(|error| damaged(&error)), read_fails, "{change}");
        let faults = catalog.check();
        assert!(!faults.is_empty() && faults.iter().all(damaged), "{change}");
    }
}

#[derive(Clone, Debug)]
enum Change {
    Put(u8, u8),
    Delete(u8),
    Expect(u8, Option<u8>),
}

fn changes() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let change = prop_oneof![
        (0..6u8, any::<u8>()).prop_map(|(key, value)| Change::Put(key, value)),
        (0..6u8).prop_map(Change::Delete),
        (0..6u8, proptest::option::of(0..2u8)).prop_map(|(key, value)| Change::Expect(key, value)),
    ];
    proptest::collection::vec(proptest::collection::vec(change, 0..4), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn both_catalogues_do_the_same(batches in changes()) {
        let (memory, disk) = (memory(free()), sqlite(free()));
        let name = |number: u8| key(&number.to_string());
        for changes in batches {
            let mut batch = Batch::default();
            for change in changes {
                match change {
                    Change::Put(number, value) => batch.put(name(number), vec![value]),
                    Change::Delete(number) => batch.delete(name(number)),
                    Change::Expect(number, value) => batch.expect(name(number), value.map(|value| vec![value])),
                }
            }
            prop_assert_eq!(memory.one.commit(&batch).is_ok(), disk.one.commit(&batch).is_ok());
            prop_assert_eq!(memory.one.scan("test", "").unwrap(), disk.other.scan("test", "").unwrap());
            prop_assert!(disk.one.check().is_empty());
        }
    }
}
