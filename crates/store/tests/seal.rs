//! What is sealed opens for its key at its place, and for nothing else.

use std::ops::Range;

use bytes::Bytes;
use heldset_store::{DatasetKeys, Heading, RangeRead, SEGMENT, SealedHeader, SealedReader, StoreError, seal, unseal};
use proptest::prelude::*;

use crate::seeded::Seeded;

const NONCE_AND_TAG: usize = 40;
const STRIDE: usize = SEGMENT as usize + NONCE_AND_TAG;

fn heading() -> Heading {
    Heading { dataset: "d1".to_owned(), label: "evaluator_only".to_owned(), canary: "c-1".to_owned() }
}

fn keys() -> DatasetKeys {
    DatasetKeys::generate(&Seeded::new(1))
}

fn sealed(plain: &[u8], seed: u64) -> Vec<u8> {
    seal(plain, &keys().newest(), &heading(), &Seeded::new(seed))
}

fn reader(sealed: &[u8]) -> Result<SealedReader, StoreError> {
    let sealed = Bytes::copy_from_slice(sealed);
    let size = sealed.len() as u64;
    let fetch = Box::new(move |range: Range<u64>| Ok(sealed.slice(range.start as usize..range.end as usize)));
    SealedReader::open(size, &keys(), "d1", "evaluator_only", "it", fetch)
}

/// Whether anything at all can be opened wrongly: the whole must fail.
fn opens(sealed: &[u8]) -> bool {
    reader(sealed).and_then(|reader| reader.read(0..reader.plain_len())).is_ok()
}

/// How many bytes lie before the segments.
fn header_len(plain: usize, sealed: &[u8]) -> usize {
    sealed.len() - plain - plain.div_ceil(SEGMENT as usize).max(1) * NONCE_AND_TAG
}

#[test]
fn the_header_says_what_it_is_and_no_more() {
    let object = sealed(b"the answer is 42", 2);
    let header = SealedHeader::read(&object, "it").unwrap().unwrap();
    assert_eq!((header.heading, header.key, header.object.len()), (heading(), 1, 32));
    assert!(!object.windows(6).any(|window| window == b"answer"));
    assert_ne!(object, sealed(b"the answer is 42", 3), "each object has its own nonces");
    assert_eq!(SealedHeader::read(&object[..30], "it").unwrap(), None);
}

#[test]
fn a_long_header_is_found_as_well() {
    let heading = Heading { canary: "x".repeat(5000), ..heading() };
    let object = seal(b"abc", &keys().newest(), &heading, &Seeded::new(2));
    assert_eq!(reader(&object).unwrap().read(0..3).unwrap(), "abc");
}

#[test]
fn every_flipped_byte_is_found() {
    for length in [0, 1, 300] {
        let object = sealed(&Seeded::new(4).bytes(length), 2);
        assert!(opens(&object));
        for byte in 0..object.len() {
            let mut flipped = object.clone();
            flipped[byte] ^= 1 << (byte % 8);
            assert!(!opens(&flipped), "byte {byte} of {}", object.len());
        }
    }
}

#[test]
fn a_flipped_byte_closes_its_segment_and_no_other() {
    let plain = Seeded::new(4).bytes(3 * SEGMENT as usize);
    let object = sealed(&plain, 2);
    let start = header_len(plain.len(), &object);
    for offset in [0, 23, 24, 1000, STRIDE - 17, STRIDE - 16, STRIDE - 1] {
        let mut flipped = object.clone();
        flipped[start + STRIDE + offset] ^= 1;
        let reader = reader(&flipped).unwrap();
        let segment = |number: u64| reader.read(number * SEGMENT..(number + 1) * SEGMENT);
        assert_eq!(segment(0).unwrap(), plain[..SEGMENT as usize]);
        assert!(matches!(segment(1), Err(StoreError::Damaged { what }) if what == "it"));
        assert_eq!(segment(2).unwrap(), plain[2 * SEGMENT as usize..]);
    }
}

#[test]
fn segments_stay_where_they_are() {
    let plain = Seeded::new(4).bytes(3 * SEGMENT as usize);
    let (object, other) = (sealed(&plain, 2), sealed(&plain, 3));
    let start = header_len(plain.len(), &object);
    let at = |number: usize| start + number * STRIDE..start + (number + 1) * STRIDE;
    let mut swapped = object.clone();
    swapped[at(0)].copy_from_slice(&object[at(1)]);
    swapped[at(1)].copy_from_slice(&object[at(0)]);
    let mut foreign = object.clone();
    foreign[at(1)].copy_from_slice(&other[at(1)]);
    let mut doubled = object.clone();
    doubled.extend_from_slice(&object[at(2)]);
    let without_first = [&object[..start], &object[at(1)], &object[at(2)]].concat();
    for changed in [swapped, foreign, doubled, without_first] {
        assert!(!opens(&changed));
    }
}

#[test]
fn an_object_that_lost_its_end_does_not_open() {
    let plain = Seeded::new(4).bytes(2 * SEGMENT as usize + 100);
    let object = sealed(&plain, 2);
    let start = header_len(plain.len(), &object);
    for length in [object.len() - 1, start + 2 * STRIDE, start + STRIDE, start + 39, start, start - 1, 10, 0] {
        assert!(!opens(&object[..length]), "{length}");
    }
}

#[test]
fn another_label_dataset_or_key_does_not_open_it() {
    let object = Bytes::from(sealed(b"abc", 2));
    let open = |keys: &DatasetKeys, dataset: &str, label: &str| unseal(object.clone(), keys, dataset, label, "it");
    assert_eq!(open(&keys(), "d1", "evaluator_only").unwrap(), "abc");
    assert!(matches!(open(&keys(), "d1", "internal"), Err(StoreError::Damaged { .. })));
    assert!(matches!(open(&keys(), "d2", "evaluator_only"), Err(StoreError::Damaged { .. })));
    let others = DatasetKeys::generate(&Seeded::new(9));
    assert!(matches!(open(&others, "d1", "evaluator_only"), Err(StoreError::Damaged { .. })));
}

/// The header of one object before the segments of another: both are whole, and do not fit.
#[test]
fn segments_are_bound_to_label_and_dataset() {
    let object = sealed(b"abc", 2);
    for other in
        [Heading { label: "internal".to_owned(), ..heading() }, Heading { dataset: "d2".to_owned(), ..heading() }]
    {
        // The same seed: the same name and nonces, so nothing differs but what is said.
        let said = seal(b"abc", &keys().newest(), &other, &Seeded::new(2));
        let mixed = [&said[..header_len(3, &said)], &object[header_len(3, &object)..]].concat();
        let open = |bytes: Vec<u8>| unseal(bytes.into(), &keys(), &other.dataset, &other.label, "it");
        assert_eq!(open(said).unwrap(), "abc");
        assert!(matches!(open(mixed), Err(StoreError::Damaged { .. })));
    }
}

#[test]
fn old_keys_open_what_they_sealed_and_a_missing_one_is_named() {
    let mut keys = keys();
    let old = seal(b"old", &keys.newest(), &heading(), &Seeded::new(2));
    keys.rotate(&Seeded::new(5));
    let new = seal(b"new", &keys.newest(), &heading(), &Seeded::new(2));
    assert_eq!(keys.newest().id(), 2);
    let open =
        |object: &[u8], keys: &DatasetKeys| unseal(Bytes::copy_from_slice(object), keys, "d1", "evaluator_only", "it");
    assert_eq!(open(&old, &keys).unwrap(), "old");
    assert_eq!(open(&new, &keys).unwrap(), "new");
    assert!(matches!(open(&new, &self::keys()), Err(StoreError::NoKey { dataset }) if dataset == "d1"));
}

#[test]
fn a_newer_format_is_named() {
    let mut object = sealed(b"abc", 2);
    object[15] = b'2';
    assert!(matches!(reader(&object), Err(StoreError::NewerFormat { found }) if found == "heldset/sealed/2"));
}

fn lengths() -> impl Strategy<Value = usize> {
    (0..4i64, -2..3i64).prop_map(|(segments, more)| (segments * SEGMENT as i64 + more).max(0) as usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_sealed_opens_to_the_same_bytes(length in lengths(), from in 0.0..=1.0f64, to in 0.0..=1.0f64) {
        let plain = Seeded::new(7).bytes(length);
        let reader = reader(&sealed(&plain, 8)).unwrap();
        prop_assert_eq!(reader.plain_len(), length as u64);
        prop_assert_eq!(&reader.read(0..length as u64).unwrap()[..], &plain[..]);
        let at = |part: f64| (part * length as f64) as usize;
        let range = at(from.min(to))..at(from.max(to));
        prop_assert_eq!(&reader.read(range.start as u64..range.end as u64).unwrap()[..], &plain[range]);
        prop_assert!(reader.read(0..length as u64 + 1).is_err());
    }
}
