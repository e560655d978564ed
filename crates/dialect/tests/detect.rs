//! What a file is: first by its content, then by its name.

use heldset_dialect::Format;
use heldset_testkit::read_bytes;

fn check(name: &str, text: &str, format: Format, kept: u64) {
    let reading = read_bytes(name, text.as_bytes());
    assert_eq!((reading.report.format, reading.report.kept), (format, kept), "{name} {text:?}: {:?}", reading.faults);
    assert_eq!(reading.faults, [], "{name} {text:?}");
}

#[test]
fn content_comes_before_the_name() {
    let lines = "{\"input\":\"a\"}\n{\"input\":\"b\"}\n";
    let table = "input,ground_truth\na,b\n";
    let tabs = "id\tx\n1\tb\n";
    let manifest = "items:\n  - id: a\n    prompt: b\n";
    let list = "[{\"id\":\"a\",\"prompt\":\"b\"}]";
    for name in ["x", "x.jsonl", "x.json", "x.yaml", "x.csv", "-"] {
        check(name, lines, Format::Letta, 2);
        check(name, list, Format::Lab, 1);
        check(name, manifest, Format::Lab, 1);
        check(name, table, Format::Letta, 1);
        check(name, tabs, Format::Records, 1);
    }
}

#[test]
fn yaml_in_braces_is_yaml() {
    for name in ["x", "x.yaml"] {
        check(name, "{items: [{id: a, prompt: b}]}", Format::Lab, 1);
        check(name, "[{id: a, prompt: b}]", Format::Lab, 1);
        check(name, "\"items\":\n  - {id: a, prompt: b}\n", Format::Lab, 1);
    }
}

#[test]
fn a_table_may_have_a_colon_in_its_header() {
    check("x", "id,question: a\nx,y\n", Format::Records, 1);
    check("x.csv", "id,question: a\nx,y\n", Format::Records, 1);
}

#[test]
fn a_broken_first_line_does_not_hide_that_there_are_lines() {
    let reading = read_bytes("-", b"{\"input\":\"a\",}\n{\"input\":\"b\"}\n");
    assert_eq!((reading.report.read, reading.report.kept), (2, 1));
}

#[test]
fn an_empty_file_of_any_name_is_an_empty_dataset() {
    for name in ["x", "x.jsonl", "x.json", "x.yaml", "x.csv", "x.tsv", "x.parquet"] {
        for text in ["", "\u{feff}", " \n\n"] {
            let reading = read_bytes(name, text.as_bytes());
            assert_eq!(reading.places(), ["E023 - -"], "{name} {text:?}");
        }
    }
}

#[test]
fn the_length_of_the_first_row_does_not_change_what_a_file_is() {
    let long = "x".repeat(700 << 10);
    check("x.jsonl", &format!("{{\"input\":\"{long}\",\"ground_truth\":\"4\"}}\n"), Format::Letta, 1);
    check(
        "x.jsonl",
        &format!("{}{{\"input\":\"a\",\"ground_truth\":\"4\"}}\n", "\n".repeat(700 << 10)),
        Format::Letta,
        1,
    );
}

#[test]
fn a_document_with_an_item_on_each_line_is_no_jsonl() {
    for name in ["x", "x.json", "x.yaml"] {
        check(
            name,
            "{\"items\":[\n{\"id\":\"a\",\"prompt\":\"p\"},\n{\"id\":\"b\",\"prompt\":\"q\"}\n]}\n",
            Format::Lab,
            2,
        );
    }
}
