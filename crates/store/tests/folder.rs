//! A store folder is whole or none, and says what is wrong with it.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use bytes::Bytes;
use heldset_store::{Batch, Catalog, Key, Kind, Lock, SqliteCatalog, StoreError, StoreFolder, StoreHead};

use crate::seeded::{free, refuse};

fn head() -> StoreHead {
    StoreHead { id: "7d4ac1a8-0000-4000-8000-000000000001".to_owned(), created_at: "2026-04-12T08:00:00Z".to_owned() }
}

fn init(path: &Path) -> Result<StoreFolder, StoreError> {
    StoreFolder::init(path, &head(), free())
}

fn open(path: &Path) -> Result<StoreFolder, StoreError> {
    StoreFolder::open(path, free())
}

#[test]
fn a_store_opens_with_what_was_put_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let store = init(&path).unwrap();
    let address = store.objects().put(Bytes::from_static(b"abc")).unwrap();
    let mut batch = Batch::durable();
    batch.put(Key::new("test", "a"), address.to_string().into_bytes());
    store.catalog().commit(&batch).unwrap();
    drop(store);
    let store = open(&path).unwrap();
    assert_eq!((store.head(), store.path()), (&head(), path.as_path()));
    assert_eq!(store.catalog().get(&Key::new("test", "a")).unwrap(), Some(address.to_string().into_bytes()));
    assert_eq!(store.objects().get(&address).unwrap(), "abc");
}

#[test]
fn a_store_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path()).unwrap();
    let error = init(folder.path()).err().unwrap();
    assert!(matches!(error, StoreError::AlreadyAStore { .. }));
    assert_eq!(error.kind(), Kind::Conflict);
}

#[test]
fn of_many_who_make_it_at_once_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let barrier = Barrier::new(4);
    let made = thread::scope(|scope| {
        let attempt = || {
            barrier.wait();
            match init(&path) {
                Ok(_) => 1,
                Err(StoreError::AlreadyAStore { .. }) => 0,
                Err(error) => panic!("{error}"),
            }
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(attempt)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert_eq!(made, 1);
    assert!(open(&path).is_ok());
}

#[test]
fn an_interrupted_attempt_is_no_store_and_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let error = StoreFolder::init(folder.path(), &head(), refuse("store")).err().unwrap();
    assert!(error.is_full());
    assert!(matches!(open(folder.path()), Err(StoreError::NotAStore { .. })));
    fs::write(folder.path().join("tmp/new-1-1-heldset.json"), "{").unwrap();
    init(folder.path()).unwrap();
    assert_eq!(folder.path().join("tmp").read_dir().unwrap().count(), 0);
}

#[test]
fn a_folder_with_other_things_is_left_alone() {
    for name in ["notes.txt", "tmp/mine.txt"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "x").unwrap();
        assert!(matches!(init(folder.path()), Err(StoreError::NotEmpty { .. })), "{name}");
        assert!(file.exists());
    }
}

#[test]
fn a_store_that_lost_its_head_does_not_become_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let with_object = folder.path().join("a");
    init(&with_object).unwrap().objects().put(Bytes::from_static(b"abc")).unwrap();
    let with_entry = folder.path().join("b");
    let mut batch = Batch::durable();
    batch.put(Key::new("test", "a"), Vec::new());
    init(&with_entry).unwrap().catalog().commit(&batch).unwrap();
    for path in [with_object, with_entry] {
        fs::remove_file(path.join("heldset.json")).unwrap();
        assert!(matches!(init(&path), Err(StoreError::Missing { what }) if what.ends_with("heldset.json")));
    }
}

#[test]
fn what_is_no_store_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for path in [folder.path(), &folder.path().join("nothing"), &file] {
        let error = open(path).err().unwrap();
        assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
        assert_eq!((error.kind(), error.help()), (Kind::NotFound, "make one with `heldset init`"));
    }
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path()).unwrap();
    fs::write(folder.path().join("heldset.json"), r#"{"format":"heldset/store/2","else":true}"#).unwrap();
    let error = open(folder.path()).err().unwrap();
    assert_eq!(error.to_string(), "the format `heldset/store/2` is newer than this program");
    assert!(error.help().contains("newer"));
}

#[test]
fn every_flipped_byte_of_the_head_is_found() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path()).unwrap();
    let path = folder.path().join("heldset.json");
    let whole = fs::read(&path).unwrap();
    for byte in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1 << (byte % 8);
        fs::write(&path, flipped).unwrap();
        assert!(open(folder.path()).is_err(), "byte {byte}");
    }
}

#[test]
fn a_catalogue_that_is_gone_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    init(folder.path()).unwrap();
    fs::remove_file(folder.path().join("catalog.db")).unwrap();
    assert!(matches!(open(folder.path()), Err(StoreError::Missing { what }) if what.ends_with("catalog.db")));
    assert!(!folder.path().join("catalog.db").exists());
}

#[test]
fn leftovers_are_swept_when_nobody_works() {
    let folder = tempfile::tempdir().unwrap();
    let store = init(folder.path()).unwrap();
    let left = store.staging().join("new-1-2-abc");
    fs::write(&left, "x").unwrap();
    let held = store.lock().shared().unwrap();
    open(folder.path()).unwrap();
    assert!(left.exists());
    drop(held);
    open(folder.path()).unwrap();
    assert!(!left.exists());
}

#[test]
fn the_lock_is_shared_or_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let lock = Lock::at(folder.path().join("lock"));
    let (one, two) = (lock.shared().unwrap(), lock.shared().unwrap());
    assert!(matches!(lock.try_exclusive(), Err(StoreError::Locked)));
    drop((one, two));
    let alone = lock.try_exclusive().unwrap();
    assert!(matches!(lock.try_exclusive(), Err(StoreError::Locked)));
    drop(alone);
    drop(lock.exclusive().unwrap());
}

#[test]
fn a_disk_without_room_keeps_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    drop(SqliteCatalog::create(&path, free()).unwrap());
    let catalog = SqliteCatalog::open(&path, refuse("commit")).unwrap();
    let error = catalog.commit(&Batch::durable()).unwrap_err();
    assert!(error.is_full() && error.help().starts_with("make room"), "{error}");
}
