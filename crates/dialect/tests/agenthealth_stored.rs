//! AgentHealth test cases as they are stored: dumps, versions, and a folder of documents.

use heldset_dialect::{Format, IdRule, NoFiles, ReadOptions};
use heldset_testkit::{MemoryFiles, Reading, read_bytes, read_folder_with};

use crate::agenthealth::forced;

fn check(reading: &Reading, lines: &[&str], older: &[&str], faults: &[&str]) {
    assert_eq!(reading.places(), faults, "{:?}", reading.faults);
    assert_eq!(reading.lines(), lines);
    assert_eq!(reading.history(), older);
    let report = &reading.report;
    assert_eq!(report.format, Format::AgentHealth);
    assert_eq!((report.kept, report.older), (lines.len() as u64, older.len() as u64));
    assert_eq!(report.read, report.kept + report.older + report.refused);
}

fn check_lines(text: &str, lines: &[&str], older: &[&str], faults: &[&str]) {
    check(&read_bytes("dump.ndjson", text.as_bytes()), lines, older, faults);
}

#[test]
fn the_newest_version_is_the_record_whatever_the_order() {
    let rows = [
        r#"{"id":"a","version":2,"initialPrompt":"a2"}"#,
        r#"{"id":"b","version":10,"initialPrompt":"b10"}"#,
        r#"{"id":"a","version":1,"initialPrompt":"a1"}"#,
        r#"{"id":"b","version":9,"initialPrompt":"b9"}"#,
        r#"{"id":"c","initialPrompt":"c"}"#,
        r#"{"id":"a","version":3,"initialPrompt":"a3"}"#,
    ];
    let lines = [
        r#"{"id":"b","input":"b10","version":10}"#,
        r#"{"id":"c","input":"c"}"#,
        r#"{"id":"a","input":"a3","version":3}"#,
    ];
    let older = ["2 a", "1 a", "9 b"];
    check_lines(&rows.join("\n"), &lines, &older, &[]);
    check(&read_bytes("dump.json", format!("[{}]", rows.join(",\n")).as_bytes()), &lines, &older, &[]);
}

#[test]
fn a_version_is_known_by_either_name_and_a_text_is_none() {
    check_lines(
        "{\"id\":\"a\",\"currentVersion\":1,\"initialPrompt\":\"1\"}\n{\"id\":\"a\",\"currentVersion\":2,\"initialPrompt\":\"2\"}\n",
        &[r#"{"currentVersion":2,"id":"a","input":"2"}"#],
        &["1 a"],
        &[],
    );
    check_lines(
        "{\"id\":\"a\",\"version\":\"1\",\"initialPrompt\":\"1\"}\n{\"id\":\"a\",\"version\":\"2\",\"initialPrompt\":\"2\"}\n",
        &[r#"{"id":"a","input":"1","version":"1"}"#],
        &[],
        &["E012 2:7 id"],
    );
}

#[test]
fn the_same_version_twice_is_refused_naming_both_places() {
    let text =
        "{\"id\":\"a\",\"version\":3,\"initialPrompt\":\"1\"}\n{\"id\":\"a\",\"version\":3,\"initialPrompt\":\"2\"}\n";
    let reading = read_bytes("dump.ndjson", text.as_bytes());
    check(&reading, &[r#"{"id":"a","input":"1","version":3}"#], &[], &["E038 2:21 version"]);
    assert_eq!(reading.faults[0].message, "version 3 of this id is already on line 1");
}

#[test]
fn a_document_without_a_version_has_no_versions_beside_it() {
    let with = r#"{"id":"a","version":1,"initialPrompt":"1"}"#;
    let without = r#"{"id":"a","initialPrompt":"0"}"#;
    check_lines(&format!("{without}\n{with}"), &[r#"{"id":"a","input":"0"}"#], &[], &["E012 2:7 id"]);
    check_lines(&format!("{with}\n{without}"), &[r#"{"id":"a","input":"1","version":1}"#], &[], &["E012 2:7 id"]);
}

#[test]
fn an_older_version_never_stands_in_for_a_newest_one_that_was_refused() {
    check_lines(
        "{\"id\":\"a\",\"version\":1,\"initialPrompt\":\"1\"}\n{\"id\":\"a\",\"version\":2,\"initialPrompt\":\"\"}\n{\"id\":\"b\",\"initialPrompt\":\"b\"}\n",
        &[r#"{"id":"b","input":"b"}"#],
        &["1 a"],
        &["E014 2:39 initialPrompt"],
    );
}

#[test]
fn a_bulk_dump_has_an_action_before_each_document() {
    let text = concat!(
        "{\"index\":{\"_index\":\"evals_test_cases\",\"_id\":\"tc-001-v1\"}}\n",
        "{\"id\":\"tc-001\",\"version\":1,\"initialPrompt\":\"old\"}\n",
        "\n",
        "{\"create\":{\"_id\":\"tc-001-v2\"}}\n",
        "{\"version\":2,\"initialPrompt\":\"new\"}\n",
        "{\"index\":{}}\n",
        "{\"initialPrompt\":\"row\"}\n",
        "{\"index\":{\"_id\":\"x\"}}\n",
        "{\"initialPrompt\":5}\n",
        "{\"index\":{\"_id\":\"y-v1\"}}\n",
        "{\"initialPrompt\":\"named\"}\n",
        "{\"delete\":{\"_id\":\"z\"}}\n",
        "{\"index\":{\"_id\":\"last\"}}\n",
    );
    check_lines(
        text,
        &[
            r#"{"id":"tc-001","input":"new","version":2}"#,
            r#"{"id":"2","input":"row"}"#,
            r#"{"id":"y-v1","input":"named"}"#,
        ],
        &["1 tc-001"],
        &["E015 9:18 initialPrompt", "E014 12:1 -", "E021 13:1 -"],
    );
}

#[test]
fn a_bulk_dump_of_many_blocks_keeps_its_pairs() {
    let text: String = (0..30_000)
        .map(|row| {
            let filler = "é".repeat(row % 60);
            format!("{{\"index\":{{\"_id\":\"t-{row}\"}}}}\n{{\"initialPrompt\":\"{filler}{row}\"}}\n")
        })
        .collect();
    let reading = read_bytes("dump.ndjson", text.as_bytes());
    assert_eq!(reading.report.kept, 30_000, "{:?}", reading.faults.first());
    let pairs = reading.records.iter().enumerate().all(|(row, record)| {
        let input = record.fields.get("input").and_then(|input| input.as_str()).unwrap_or("");
        record.id.as_str() == format!("t-{row}") && input.ends_with(&row.to_string())
    });
    assert!(pairs);
}

#[test]
fn a_search_dump_holds_the_case_in_its_source() {
    check_lines(
        concat!(
            "{\"_index\":\"i\",\"_id\":\"tc-1-v1\",\"_score\":1,\"_source\":{\"id\":\"tc-1\",\"version\":1,\"initialPrompt\":\"1\"}}\n",
            "{\"_index\":\"i\",\"_id\":\"tc-1-v2\",\"_source\":{\"version\":2,\"initialPrompt\":\"2\"}}\n",
            "{\"_id\":\"tc-2-v1\",\"_source\":{\"id\":\"tc-2\",\"expectedOutcomes\":[5],\"initialPrompt\":\"1\"}}\n",
            "{\"_id\":\"tc-3-v1\",\"_source\":{\"name\":\"n\"}}\n",
        ),
        &[r#"{"id":"tc-1","input":"2","version":2}"#],
        &["1 tc-1"],
        &["E015 3:61 _source.expectedOutcomes[0]", "E014 4:28 _source"],
    );
}

#[test]
fn a_folder_has_one_document_per_version() {
    let files = MemoryFiles::of(&[
        ("data/test-cases/tc-001-v1.json", "{\"id\":\"tc-001\",\"version\":1,\"initialPrompt\":\"old\"}"),
        ("data/test-cases/tc-001-v2.json", "\u{feff}{\"version\":2,\n\"initialPrompt\":\"new\"}"),
        ("data/test-cases/tc-002-v1.json", "{\"id\":\"tc-002\",\"version\":1,\n\"initialPrompt\":5}"),
        ("data/test-cases/broken.json", "{\"id\":\"x\",\n\"name\": nul}"),
        ("data/test-cases/notes.txt", "not a test case"),
        (
            "data/more.json",
            "[{\"id\":\"m\",\"initialPrompt\":\"m\"},{\"id\":\"tc-001\",\"version\":2,\"initialPrompt\":\"again\"}]",
        ),
        ("data/benchmarks/b.json", "{\"id\":\"b\"}"),
    ]);
    let reading = read_folder_with("data/", &forced(IdRule::Auto), &files);
    check(
        &reading,
        &[r#"{"id":"m","input":"m"}"#, r#"{"id":"tc-001","input":"again","version":2}"#],
        &["1 tc-001"],
        &[
            "data/test-cases/broken.json E002 2:9 name",
            "data/test-cases/tc-001-v2.json E038 1:12 version",
            "data/test-cases/tc-002-v1.json E015 2:17 initialPrompt",
        ],
    );
    assert_eq!(reading.faults[1].message, "version 2 of this id is already in `data/more.json` on line 1");
}

#[test]
fn a_folder_s_repeated_id_names_both_files() {
    let case = "{\"id\":\"a\",\"initialPrompt\":\"q\"}";
    let reading =
        read_folder_with("d", &forced(IdRule::Auto), &MemoryFiles::of(&[("d/1.json", case), ("d/2.json", case)]));
    check(&reading, &[r#"{"id":"a","input":"q"}"#], &[], &["d/2.json E012 1:7 id"]);
    assert_eq!(reading.faults[0].message, "duplicate id `a`, first in `d/1.json` on line 1");
}

#[test]
fn a_folder_that_cannot_be_read_is_a_fault() {
    let files = MemoryFiles::of(&[("d/readme.md", "")]);
    let places = |folder: &str, options: &ReadOptions| read_folder_with(folder, options, &files).places();
    assert_eq!(places("d", &forced(IdRule::Auto)), ["E023 - -"]);
    assert_eq!(places("gone", &forced(IdRule::Auto)), ["E019 - -"]);
    let letta = ReadOptions { format: Some(Format::Letta), ..forced(IdRule::Auto) };
    assert_eq!(places("d", &letta), ["E024 - -"]);
    assert_eq!(read_folder_with("d", &forced(IdRule::Auto), &NoFiles).places(), ["E019 - -"]);
}
