//! Flipped bits in stored files: each is reported, or changes no answer.

use std::fs;
use std::path::Path;

use heldset_store::{Batch, Catalog, Key, SqliteCatalog, StoreError};

use crate::seeded::{Seeded, free};

const SPACES: [&str; 2] = ["datasets", "versions"];
const FLIPS: usize = 500;

/// All that a catalogue answers: entries that are there, entries that are not, and scans.
type Answers = (Vec<Option<Vec<u8>>>, Vec<(String, Vec<u8>)>);

fn answers(path: &Path) -> Result<Answers, StoreError> {
    let catalog = SqliteCatalog::open(path, free())?;
    let mut answers = Answers::default();
    for space in SPACES {
        for number in 0..70 {
            answers.0.push(catalog.get(&Key::new(space, format!("{number:03}")))?);
        }
        for prefix in ["", "0", "01", "06", "1", "a"] {
            answers.1.extend(catalog.scan(space, prefix)?);
        }
    }
    catalog.check().into_iter().next().map_or(Ok(answers), Err)
}

fn catalogue(path: &Path) {
    let random = Seeded::new(7);
    let catalog = SqliteCatalog::create(path, free()).unwrap();
    let mut batch = Batch::durable();
    for space in SPACES {
        for number in 0..60 {
            let length = if number % 13 == 0 { 9000 } else { 40 + number * 5 };
            batch.put(Key::new(space, format!("{number:03}")), random.bytes(length));
        }
    }
    catalog.commit(&batch).unwrap();
    let mut batch = Batch::durable();
    for number in 30..40 {
        batch.delete(Key::new(SPACES[0], format!("{number:03}")));
    }
    catalog.commit(&batch).unwrap();
}

#[test]
fn a_flipped_bit_of_the_catalogue_is_reported_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    catalogue(&path);
    let whole = fs::read(&path).unwrap();
    let before = answers(&path).unwrap();
    let random = Seeded::new(11);
    let mut reported = 0;
    for flip in 0..FLIPS {
        // The first page has the header and the schema: a fifth of the flips go there.
        let bound = if flip % 5 == 0 { 4096 } else { whole.len() };
        let (byte, bit) = (random.next() as usize % bound, random.next() % 8);
        let mut flipped = whole.clone();
        flipped[byte] ^= 1 << bit;
        let copy = folder.path().join(format!("flip{flip}.db"));
        fs::write(&copy, flipped).unwrap();
        match answers(&copy) {
            Ok(after) => assert!(after == before, "byte {byte}, bit {bit}: other answers, and nobody said so"),
            Err(_) => reported += 1,
        }
        fs::remove_file(&copy).unwrap();
    }
    assert!(reported > FLIPS / 2, "only {reported} flips hit anything");
}
