//! One suite of facts for objects on disk and in memory, and for ranges of them.

use std::fs;

use bytes::Bytes;
use heldset_store::{Address, CheckedReader, Kind, Objects, RangeRead, SEGMENT, Segments, StoreError};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::seeded::{Seeded, free, refuse};

fn local() -> (Objects, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    fs::create_dir(folder.path().join("objects")).unwrap();
    (Objects::local(folder.path(), free()).unwrap(), folder)
}

fn both(fact: impl Fn(&Objects)) {
    fact(&Objects::memory(free()));
    fact(&local().0);
}

#[test]
fn an_object_is_there_under_its_digest() {
    both(|objects| {
        for bytes in [Bytes::from_static(b""), Bytes::from_static(b"abc"), Seeded::new(1).bytes(200_000).into()] {
            let address = objects.put(bytes.clone()).unwrap();
            assert_eq!(address, Address::of(&bytes));
            assert_eq!(objects.put(bytes.clone()).unwrap(), address);
            assert_eq!(objects.get(&address).unwrap(), bytes);
            assert_eq!(objects.size(&address).unwrap(), Some(bytes.len() as u64));
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    });
}

#[test]
fn what_is_not_there_is_missing() {
    both(|objects| {
        let address = Address::of(b"nothing");
        for error in [objects.get(&address).unwrap_err(), objects.range(&address, 0..1).unwrap_err()] {
            assert!(matches!(&error, StoreError::Missing { what } if *what == objects.path_of(&address)), "{error}");
            assert_eq!(error.kind(), Kind::Integrity);
        }
        assert_eq!(objects.size(&address).unwrap(), None);
        objects.delete(&address).unwrap();
    });
}

#[test]
fn a_range_is_all_of_it_or_damaged() {
    both(|objects| {
        let address = objects.put(Bytes::from_static(b"0123456789")).unwrap();
        assert_eq!(objects.range(&address, 3..6).unwrap(), "345");
        assert_eq!(objects.range(&address, 0..10).unwrap(), "0123456789");
        assert_eq!(objects.range(&address, 4..4).unwrap(), "");
        for range in [8..11, 10..11, 90..91] {
            assert!(matches!(objects.range(&address, range), Err(StoreError::Damaged { .. })));
        }
    });
}

#[test]
fn all_objects_are_listed_until_they_are_removed() {
    both(|objects| {
        assert!(objects.list().unwrap().is_empty());
        let mut expected: Vec<(Address, u64)> =
            (1..5).map(|length| (objects.put(Seeded::new(2).bytes(length).into()).unwrap(), length as u64)).collect();
        expected.sort_unstable();
        assert_eq!(objects.list().unwrap(), expected);
        let (gone, _) = expected.remove(1);
        objects.delete(&gone).unwrap();
        assert_eq!(objects.list().unwrap(), expected);
        assert!(matches!(objects.get(&gone), Err(StoreError::Missing { .. })));
    });
}

#[test]
fn damage_is_told_with_its_path() {
    let (objects, _folder) = local();
    let bytes = Seeded::new(3).bytes(1000);
    let address = objects.put(bytes.clone().into()).unwrap();
    let path = objects.path_of(&address);
    let flipped = bytes.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == 500)).collect();
    for changed in [flipped, bytes[..999].to_vec(), [&bytes[..], b"x"].concat()] {
        fs::write(&path, changed).unwrap();
        let error = objects.get(&address).unwrap_err();
        assert!(matches!(&error, StoreError::Damaged { what } if *what == path), "{error}");
        assert_eq!(error.kind(), Kind::Integrity);
    }
}

#[test]
fn an_object_of_another_size_is_written_again() {
    let (objects, _folder) = local();
    let bytes = Bytes::from_static(b"abc");
    let address = objects.put(bytes.clone()).unwrap();
    fs::write(objects.path_of(&address), "ab").unwrap();
    assert_eq!(objects.put(bytes.clone()).unwrap(), address);
    assert_eq!(objects.get(&address).unwrap(), bytes);
}

#[test]
fn a_put_leaves_nothing_but_the_object() {
    let (objects, folder) = local();
    objects.put(Bytes::from_static(b"abc")).unwrap();
    assert_eq!(folder.path().join("tmp").read_dir().unwrap().count(), 0);
    let refusing = Objects::local(folder.path(), refuse("object")).unwrap();
    assert!(refusing.put(Bytes::from_static(b"def")).unwrap_err().is_full());
    assert_eq!(objects.list().unwrap().len(), 1);
}

#[test]
fn what_is_not_an_object_is_not_listed() {
    let (objects, folder) = local();
    let address = objects.put(Bytes::from_static(b"abc")).unwrap();
    let beside = folder.path().join("objects").join(&address.digest().hex()[..2]);
    fs::write(beside.join("stray"), "x").unwrap();
    fs::write(folder.path().join("objects/stray"), "x").unwrap();
    assert_eq!(objects.list().unwrap(), [(address, 3)]);
}

fn checked(objects: &Objects, bytes: Vec<u8>) -> (CheckedReader, Address) {
    let segments = Segments::of(&bytes);
    let address = objects.put(bytes.into()).unwrap();
    (CheckedReader::new(segments, objects.path_of(&address), objects.fetch(address)), address)
}

#[test]
fn a_flipped_byte_is_found_by_ranges_that_touch_its_segment() {
    let (objects, _folder) = local();
    let mut bytes = Seeded::new(4).bytes(3 * SEGMENT as usize + 10);
    let (reader, address) = checked(&objects, bytes.clone());
    bytes[SEGMENT as usize + 5] ^= 4;
    fs::write(objects.path_of(&address), &bytes).unwrap();
    for (range, found) in [
        (0..10, false),
        (0..SEGMENT, false),
        (0..SEGMENT + 1, true),
        (SEGMENT..SEGMENT + 1, true),
        (2 * SEGMENT - 1..2 * SEGMENT, true),
        (2 * SEGMENT..reader.plain_len(), false),
    ] {
        assert_eq!(matches!(reader.read(range.clone()), Err(StoreError::Damaged { .. })), found, "{range:?}");
    }
    fs::write(objects.path_of(&address), &bytes[..bytes.len() - 1]).unwrap();
    assert!(reader.read(3 * SEGMENT..3 * SEGMENT + 1).is_err());
}

#[test]
fn checks_read_back_when_there_are_as_many_as_needed() {
    for length in [0, 1, SEGMENT as usize, SEGMENT as usize + 1] {
        let segments = Segments::of(&Seeded::new(5).bytes(length));
        assert_eq!(segments.as_bytes().len(), length.div_ceil(SEGMENT as usize) * 16);
        assert_eq!(Segments::from_bytes(segments.size(), segments.as_bytes().to_vec()), Some(segments.clone()));
        assert_eq!(Segments::from_bytes(segments.size() + SEGMENT, segments.as_bytes().to_vec()), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_checked_range_is_that_slice(segments in 0..3u64, more in 0..3u64, from in 0.0..1.0f64, to in 0.0..1.0f64) {
        let bytes = Seeded::new(6).bytes((segments * SEGMENT + more) as usize);
        let at = |part: f64| (part * bytes.len() as f64) as usize;
        let range = at(from.min(to))..at(from.max(to));
        let (reader, _) = checked(&Objects::memory(free()), bytes.clone());
        prop_assert_eq!(&reader.read(range.start as u64..range.end as u64).unwrap()[..], &bytes[range]);
        let beyond = bytes.len() as u64 + 1;
        prop_assert!(reader.read(0..beyond).is_err());
    }
}
