//! Containers: lines, lists, cells, and the places of their faults.

use heldset_testkit::read_bytes;

fn check(name: &str, text: &str, lines: &[&str], faults: &[&str]) {
    let reading = read_bytes(name, text.as_bytes());
    assert_eq!(reading.lines(), lines, "records of {text:?}: {:?}", reading.faults);
    assert_eq!(reading.places(), faults, "faults of {text:?}: {:?}", reading.faults);
    assert_eq!(reading.report.read, reading.report.kept + reading.report.refused);
}

#[test]
fn jsonl_lines_end_three_ways_and_blank_ones_are_no_rows() {
    let rows = [r#"{"id":"a","x":1}"#, r#"{"id":"b","x":2}"#];
    for text in ["\u{feff}A\nB", "A\r\n\r\nB\r\n", "A\r\rB", "\n \nA\nB\n\n"] {
        let text = text.replace('A', rows[0]).replace('B', rows[1]);
        check("r.jsonl", &text, &rows, &[]);
    }
}

#[test]
fn faults_of_json_rows_have_line_and_column() {
    check(
        "r.jsonl",
        "{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"x\":[1,{\"k\":1e400}]}\n{\"id\":\"a\"}\n{\"id\":\"é\" \"x\":1}\n7\n",
        &[r#"{"id":"a","x":1}"#],
        &["E005 2:23 x[1].k", "E012 3:7 id", "E002 4:11 -", "E032 5:1 -"],
    );
}

#[test]
fn a_json_list_is_read_element_by_element() {
    check(
        "r.json",
        "[\n  {\"id\": \"a\", \"x\": \"],[\\\"\"},\n  {\"id\": \"b\", \"x\": nul},\n {\"id\":true}\n]\n",
        &[r#"{"id":"a","x":"],[\""}"#],
        &["E002 3:20 x", "E013 4:8 id"],
    );
    check("r.json", "[{\"id\":\"a\"},]", &[r#"{"id":"a"}"#], &["E002 1:13 -"]);
    check("r.json", "[{\"id\":\"a\"}", &[], &["E002 1:12 -"]);
    check("r.json", "[{\"id\":\"a\"},{\"id\"", &[r#"{"id":"a"}"#], &["E002 1:18 -"]);
    check("r.json", "[{\"id\":\"a\"}] x", &[r#"{"id":"a"}"#], &["E002 1:14 -"]);
    check("r.json", " [ ] ", &[], &["E023 - -"]);
}

#[test]
fn csv_cells_stay_what_was_typed() {
    check(
        "r.csv",
        "\u{feff}id,a,b\r\n1,007,\"x, \"\"y\"\"\nz\"\r\n\r\n2,,5\" disk\r\n3\r\n",
        &[r#"{"a":"007","b":"x, \"y\"\nz","id":"1"}"#, r#"{"b":"5\" disk","id":"2"}"#, r#"{"id":"3"}"#],
        &[],
    );
}

#[test]
fn faults_of_csv_rows_have_line_and_column() {
    check(
        "r.csv",
        "id,a\n1,\"x\ny\"\n2,b,c\n3,\"q\"r\n,z\n1,w\n",
        &[r#"{"a":"x\ny","id":"1"}"#],
        &["E029 4:5 -", "E028 5:6 -", "E011 6:1 -", "E012 7:1 id"],
    );
    check("r.csv", "id,a\n1,\"x\n", &[], &["E028 2:3 -"]);
    check("r.csv", "id,id\n1,2\n", &[], &["E031 1:4 -"]);
    check("r.csv", "id,a\n", &[], &["E023 - -"]);
}

#[test]
fn a_csv_cell_s_bad_json_points_inside_the_cell() {
    check(
        "l.csv",
        "input,metadata\nq,\"{\"\"a\"\": 1, \"\"b\"\": x}\"\nq,\"{\"\"a\"\": [1e999]}\"\n",
        &[],
        &["E030 2:22 metadata.b", "E005 3:13 metadata.a[0]"],
    );
}

#[test]
fn a_large_file_gives_the_same_for_any_number_of_workers() {
    let text: String =
        (0..60_000).map(|row| format!("{{\"id\":{row},\"x\":\"{}\"}}\n", "é".repeat(row % 60))).collect();
    let reading = read_bytes("r.jsonl", text.as_bytes());
    assert_eq!(reading.report.kept, 60_000);

    let ids: Vec<_> = reading.records.iter().map(|record| record.id.as_str().to_owned()).collect();
    assert!(ids.iter().enumerate().all(|(row, id)| *id == row.to_string()));
}

#[test]
fn short_rows_beyond_a_block_keep_their_order_and_their_lines() {
    let lines: String = (0..20_000).map(|row| format!("{{\"id\":{row}}}\n")).collect();
    let list = format!("[{}]", (0..20_000).map(|row| format!("{{\"id\":{row}}}")).collect::<Vec<_>>().join(",\n"));
    let document = format!(
        "{{\"items\":[{}]}}",
        (0..20_000).map(|row| format!("{{\"id\":{row},\"prompt\":\"p\"}}")).collect::<Vec<_>>().join(",\n")
    );
    let yaml: String = (0..20_000).map(|row| format!("- {{id: {row}, prompt: p}}\n")).collect();
    let table: String =
        "id\n".chars().chain((0..20_000).flat_map(|row| format!("{row}\n").chars().collect::<Vec<_>>())).collect();
    for (name, text, first) in
        [("r.jsonl", lines, 1), ("r.json", list, 1), ("d.json", document, 1), ("r.yaml", yaml, 1), ("r.csv", table, 2)]
    {
        let text = format!("{}\n", text.trim_end()).replacen("19999", "7", 1);
        let reading = read_bytes(name, text.as_bytes());
        assert_eq!(reading.report.kept, 19_999, "{name}: {:?}", reading.faults.first());
        assert!(
            reading.records.iter().enumerate().all(|(row, record)| record.id.as_str() == row.to_string()),
            "{name}"
        );
        let fault = &reading.faults[0];
        assert_eq!(fault.place.unwrap().line, 19_999 + first, "{name}");
        assert!(fault.message.contains(&format!("line {}", 7 + first)), "{name}: {}", fault.message);
    }
}
