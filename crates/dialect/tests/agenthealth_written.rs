//! AgentHealth import files: what is written, what is lost, and that it reads back the same.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;

use heldset_dialect::write::{Target, WriteOptions, Writer, writer};
use heldset_dialect::{DatasetInfo, Format, ReadOptions};
use heldset_testkit::{MemoryFiles, Reading, read_bytes, read_with};

/// The file that the records of a reading are written as, and what it loses.
#[allow(irrefutable_let_patterns, reason = "not every kind of file is written row by row")]
fn written(reading: &Reading) -> (String, Vec<String>) {
    let Writer::Rows(writer) = writer(Target::AgentHealth, WriteOptions { typed: false, for_spreadsheet: false })
    else {
        panic!("test cases are written row by row")
    };
    let mut bytes = writer.head(&DatasetInfo::default());
    let mut losses = Vec::new();
    for (index, record) in reading.records.iter().enumerate() {
        if index > 0 {
            bytes.extend(writer.between().bytes());
        }
        let row = writer.row(record);
        bytes.extend(row.bytes);
        losses.extend(row.losses.iter().map(ToString::to_string));
    }
    bytes.extend(writer.tail().bytes());
    (String::from_utf8(bytes).unwrap(), losses)
}

fn records(text: &str) -> Reading {
    let options =
        ReadOptions { format: Some(Format::Records), id: heldset_dialect::IdRule::Auto, schema: None, threads: 1 };
    let reading = read_with("r.jsonl", text.as_bytes(), &options, &MemoryFiles::default());
    assert!(reading.faults.is_empty(), "{:?}", reading.faults);
    reading
}

/// Writes records and reads them back; says what was written.
fn round_trip(reading: &Reading) -> String {
    let (text, losses) = written(reading);
    assert!(losses.is_empty(), "{losses:?}");
    let back = read_bytes("c.json", text.as_bytes());
    assert_eq!(back.report.format, Format::AgentHealth, "{text}");
    assert_eq!(back.lines(), reading.lines(), "{text}: {:?}", back.faults);
    text
}

#[test]
fn a_case_is_written_with_the_names_of_agenthealth() {
    for (record, case) in [
        (
            r#"{"tags":["t"],"id":"a","x":1,"labels":{"category":"c","difficulty":"Easy","subcategory":"s"},"input":"q","category":"c","name":"n","expected_outcomes":["o"],"description":"d"}"#,
            r#"{"id":"a","name":"n","description":"d","category":"c","subcategory":"s","difficulty":"Easy","initialPrompt":"q","expectedOutcomes":["o"],"labels":["category:c","difficulty:Easy","subcategory:s"],"tags":["t"],"x":1}"#,
        ),
        (
            r#"{"id":"7","input":"q","expected_trajectory":[{"step":1,"description":"d","required_tools":["t"]}]}"#,
            r#"{"id":"7","initialPrompt":"q","expectedTrajectory":[{"description":"d","requiredTools":["t"],"step":1}]}"#,
        ),
        (
            r#"{"id":"a","input":"q","context":[{"source":"s","content":"c"},{"source":"s","content":"c","metadata":{"disposition":"prompt"}}]}"#,
            r#"{"id":"a","initialPrompt":"q","context":[{"description":"s","value":"c"},{"description":"s","disposition":"prompt","value":"c"}]}"#,
        ),
        (
            r#"{"id":"a","input":"q","context":[{"type":"log","source":"s","content":"c"},{"source":"s","content":{"k":1}},{"source":"s","content":"c","metadata":{"k":1}}]}"#,
            r#"{"id":"a","initialPrompt":"q","context":[{"content":"c","source":"s","type":"log"},{"content":{"k":1},"source":"s"},{"content":"c","metadata":{"k":1},"source":"s"}]}"#,
        ),
        (
            r#"{"id":"a","input":"q","labels":{"n":1,"a:b":"c","":"e","one":["x"],"many":["x","y:z"],"none":[],"null":null}}"#,
            r#"{"id":"a","initialPrompt":"q","labels":[{"key":"n","value":1},{"key":"a:b","value":"c"},{"key":"","value":"e"},{"key":"one","value":["x"]},"many:x","many:y:z",{"key":"none","value":[]},{"key":"null","value":null}]}"#,
        ),
    ] {
        assert_eq!(round_trip(&records(record)), format!("[\n{case}\n]\n"));
    }
}

#[test]
fn rich_cases_read_back_the_same() {
    round_trip(&records(
        &[
            r#"{"id":"1","input":"q","turns":[{"role":"user","content":"more"}],"expected_turns":[null,"x"],"metadata":{"id":3},"memory_seeds":[{"source":"s","content":"c"}]}"#,
            r#"{"id":"2","input":"q","expected_output":{"k":[1.5]},"rubric":"r","agent_args":{"a":null},"labels":{},"context":[],"tags":[]}"#,
            r#"{"id":"3","input":"q","category":"field","labels":{"category":"label"},"difficulty":null}"#,
            r#"{"id":"4","input":"q","difficulty":"Hard","labels":{"difficulty":"Easy"},"version":3,"createdAt":"t"}"#,
            r#"{"id":"5","input":"q","labels":{"difficulty":3,"subcategory":["a","b"],"category":"c"},"context":[{"content":"c"},{"source":null,"content":"c"}]}"#,
            r#"{"id":"é","input":"q\n","labels":null,"context":null,"expected_outcomes":null,"tools":[{"name":"t","parameters":{}}]}"#,
        ]
        .join("\n"),
    ));
}

#[test]
fn what_cannot_be_carried_is_listed() {
    for (record, loss) in [
        (r#"{"id":"a","input":"q","category":"c"}"#, "record `a`: `labels` would be added"),
        (r#"{"id":"a","input":"q","difficulty":"Easy"}"#, "record `a`: `difficulty` would be lost"),
        (r#"{"id":"a","input":"q","initialPrompt":"p"}"#, "record `a`: `initialPrompt` would be lost"),
        (r#"{"id":"a","name":"n"}"#, "record `a`: `input` would be refused: there is no `initialPrompt`"),
        (r#"{"id":"a","input":"q","labels":["a:b"]}"#, "record `a`: `labels` would change"),
        (
            r#"{"id":"a","input":"q","expected_trajectory":[{"requiredTools":[]}]}"#,
            "record `a`: `expected_trajectory` would change",
        ),
    ] {
        let (_, losses) = written(&records(record));
        assert_eq!(losses.first().map(String::as_str), Some(loss), "{record}: {losses:?}");
    }
}

#[test]
fn files_that_others_wrote_are_read_and_round_trip() {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("HELDSET_COMPAT_DIR").map_or(beside, PathBuf::from).join("agenthealth");
    if !folder.is_dir() {
        eprintln!("skipped: there is no folder of compatibility fixtures; name it in HELDSET_COMPAT_DIR");
        return;
    }
    for (name, kept, faults) in [
        ("otel-benchmark-test-cases.json", 3, &[] as &[&str]),
        ("errors_by_service.json", 2, &[]),
        ("rca.json", 3, &[]),
        ("sample-import-test-cases.json", 2, &[]),
        ("conversational_queries.json", 0, &["E023 - -"]),
        ("invalid-import-test-cases.json", 0, &["E011 2:3 -"]),
    ] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let reading = read_bytes(name, &bytes);
        assert_eq!(reading.report.kept, kept, "{name}: {:?}", reading.faults);
        assert_eq!(reading.places(), faults, "{name}");
        if kept > 0 {
            round_trip(&reading);
        }
    }
    let invalid = std::fs::read(folder.join("invalid-import-test-cases.json")).unwrap();
    let forced = crate::agenthealth::forced(heldset_dialect::IdRule::Auto);
    let reading = read_with("invalid.json", &invalid, &forced, &MemoryFiles::default());
    assert_eq!((reading.report.refused, reading.places()), (1, vec!["E014 2:3 -".to_owned()]));
}
