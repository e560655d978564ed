//! Fuzz targets, one per reader: whatever the bytes, a reading ends without a panic and its counts add up.
//!
//! They run for a short fixed time here; `BOLERO_RANDOM_TEST_TIME_MS` or a fuzzing engine runs them longer.

use std::time::Duration;

use bolero::check;
use heldset_dialect::{Format, IdRule, ReadOptions, read_compat};
use heldset_testkit::{MemoryFiles, read_with};

const TIME: Duration = Duration::from_millis(1500);

/// Pieces that make random bytes look like the files they stand for.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\n",
    "\r\n",
    "\\u00",
    "\\ud83d",
    "id",
    "\"id\":",
    "\"input\":",
    "\"ground_truth\":",
    "inputs",
    "items",
    "- ",
    ": ",
    "  ",
    "&a ",
    "*a",
    "!!str ",
    "<<",
    "|\n",
    "null",
    "true",
    "1e400",
    "-0",
    "9007199254740993",
    "é",
    "\u{feff}",
    "\t",
    "testCases",
    "hits",
    "_source",
    "\"version\":2",
    "labels",
    "context",
    "expectedOutcomes",
    "memory_seeds: x.yaml",
    "turns",
    "role",
    "prompt",
    "spec",
    "kind: Dataset",
    "''",
    "#",
    "---\n",
];

fn options(format: Option<Format>) -> ReadOptions {
    ReadOptions { format, id: IdRule::Auto, schema: None, threads: 1 }
}

fn files() -> MemoryFiles {
    MemoryFiles::of(&[("x.yaml", "- {source: s, content: c}\n")])
}

/// Bytes made of pieces and of noise.
fn text_of(noise: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in noise {
        match PIECES.get(usize::from(*byte)) {
            Some(piece) => text.extend_from_slice(piece.as_bytes()),
            None => text.push(*byte),
        }
    }
    text
}

fn read_all(name: &str, bytes: &[u8]) {
    for format in [None].into_iter().chain(Format::ALL.iter().copied().map(Some)) {
        let reading = read_with(name, bytes, &options(format), &files());
        let report = &reading.report;
        assert_eq!(report.read, report.kept + report.older + report.refused);
        assert_eq!(report.kept, reading.records.len() as u64);
        assert!(report.refused == 0 || report.faults > 0, "a row was refused without a fault");
        assert!(report.read > 0 || report.faults > 0, "nothing was read and nothing said");
    }
}

fn fuzz(name: &'static str) {
    check!().with_test_time(TIME).for_each(|noise: &[u8]| {
        read_all(name, &text_of(noise));
    });
}

#[test]
fn fuzz_json_lines() {
    fuzz("f.jsonl");
}

#[test]
fn fuzz_json() {
    fuzz("f.json");
}

#[test]
fn fuzz_csv() {
    fuzz("f.csv");
}

#[test]
fn fuzz_tsv() {
    fuzz("f.tsv");
}

#[test]
fn fuzz_yaml() {
    fuzz("f.yaml");
}

#[test]
fn fuzz_names_without_ending() {
    fuzz("f");
}

#[test]
fn fuzz_columns() {
    check!().with_test_time(TIME).for_each(|noise: &[u8]| {
        for magic in [&b"PAR1"[..], b"ARROW1\0\0", &[0xff; 4]] {
            let bytes = [magic, noise, magic].concat();
            read_with("f", &bytes, &options(None), &files());
        }
    });
}

#[test]
fn fuzz_compressed() {
    check!().with_test_time(TIME).for_each(|noise: &[u8]| {
        for magic in [&[0x1f, 0x8b, 8, 0][..], &[0x28, 0xb5, 0x2f, 0xfd]] {
            read_with("f.jsonl", &[magic, noise].concat(), &options(None), &files());
        }
    });
}

#[test]
fn fuzz_the_released_loader() {
    check!().with_test_time(TIME).for_each(|noise: &[u8]| {
        let text = text_of(noise);
        for name in ["f.jsonl", "f.csv"] {
            for sample in read_compat(name, &text, &files()).samples {
                assert!(sample.to_json_line().starts_with(b"{"));
            }
        }
    });
}
