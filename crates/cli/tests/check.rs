//! `heldset check`.

use heldset_core::json;
use heldset_core::value::Value;

use crate::{examples, folder_with, heldset, heldset_with};

#[test]
fn faults_are_printed_with_place_line_caret_and_help() {
    let ran = heldset(&examples(), &["check", "broken/cases.jsonl"]);
    assert_eq!(ran.code, 3);
    assert_eq!(ran.err, "");
    insta::assert_snapshot!(ran.out, @r#"
    error[E015]: wrong type
     --> broken/cases.jsonl:2:50
      |
    2 | {"id": "tc-2", "input": "Name a prime.", "tags": "math"}
      |                                                  ^^^^^^ `tags` must be a list, not text

    error[E012]: duplicate id
     --> broken/cases.jsonl:3:8
      |
    3 | {"id": "tc-1", "input": "What is 3+3?", "ground_truth": "6"}
      |        ^^^^^^ duplicate id `tc-1`, first on line 1
      |
      = help: every record of a split needs an id of its own

    error[E004]: integer beyond 64 bits
     --> broken/cases.jsonl:4:61
      |
    4 | {"id": "tc-3", "input": "How many grains?", "ground_truth": 12345678901234567890123}
      |                                                             ^ integer beyond 64 bits
      |
      = help: write it as text, in quotes: as a number it would be rounded

    error[E017]: answers do not match the turns
     --> broken/cases.jsonl:5:53
      |
    5 | {"id": "tc-4", "input": ["a", "b"], "ground_truth": ["x"]}
      |                                                     ^^^^^ answers in `ground_truth`: 1, messages in `input`: 2
      |
      = help: give one answer for each message (null where none is expected), or one text for the last

    error[E002]: invalid JSON
     --> broken/cases.jsonl:6:15
      |
    6 | {"id": "tc-5" "input": "Where is the comma?"}
      |               ^ expected `,` or `}`, found `"`

    broken/cases.jsonl: letta, 6 read, 1 kept, 5 refused, 0 dropped
      mapped: ground_truth → expected_output (2)
      kept as they are: input (4), tags (1)
    "#);
}

#[test]
fn a_file_without_faults_is_reported_and_ends_well() {
    let ran = heldset(&examples(), &["check", "letta/capitals.jsonl", "letta/sums.csv"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(ran.out, @r#"
    letta/capitals.jsonl: letta, 3 read, 3 kept, 0 refused, 0 dropped
      mapped: ground_truth → expected_output (2), ground_truth → expected_turns (1)
      kept as they are: input (3), metadata (1), tags (3)
    letta/sums.csv: letta, 3 read, 3 kept, 0 refused, 0 dropped
      mapped: ground_truth → expected_output (3)
      kept as they are: agent_args (1), input (3)
    "#);
}

#[test]
fn json_has_the_promised_shape() {
    let ran = heldset(&examples(), &["--json", "check", "broken/cases.jsonl", "letta/sums.csv"]);
    assert_eq!(ran.code, 3);
    let answer = json::read(ran.out.trim()).unwrap();
    let files = answer.as_object().unwrap().get("files").unwrap().as_array().unwrap();
    assert_eq!(files.len(), 2);
    let first = files[0].as_object().unwrap();
    for key in ["file", "format", "read", "kept", "refused", "faults"] {
        assert!(first.contains(key), "no `{key}`");
    }
    assert_eq!(first.get("read"), Some(&Value::from(6)));
    assert_eq!(first.get("kept"), Some(&Value::from(1)));
    assert_eq!(first.get("refused"), Some(&Value::from(5)));
    let fault = first.get("faults").unwrap().as_array().unwrap()[1].as_object().unwrap();
    let keys: Vec<_> = fault.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["code", "severity", "line", "column", "field", "message", "help"]);
    assert_eq!(fault.get("code"), Some(&Value::from("E012")));
    assert_eq!((fault.get("line"), fault.get("column")), (Some(&Value::from(3)), Some(&Value::from(8))));
}

#[test]
fn global_options_are_taken_before_and_after_the_command() {
    let before = heldset(&examples(), &["--json", "check", "letta/sums.csv"]);
    let after = heldset(&examples(), &["check", "letta/sums.csv", "--json"]);
    assert_eq!(before.out, after.out);
}

#[test]
fn standard_input_is_a_file_too() {
    let ran = heldset_with(
        &examples(),
        &["check", "-"],
        b"{\"input\":\"a\",\"ground_truth\":\"b\"}\n{\"input\":\"c\"}\n".to_vec(),
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.starts_with("-: letta, 2 read, 2 kept"), "{}", ran.out);
}

#[test]
fn a_missing_file_is_a_usage_error_that_says_so() {
    let ran = heldset(&examples(), &["check", "nope.jsonl"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.out, "");
    assert!(ran.err.starts_with("error[E101]: `nope.jsonl` cannot be opened: no such file"), "{}", ran.err);
    let ran = heldset(&examples(), &["check", "--json", "nope.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.starts_with("{\"error\":{\"code\":\"E101\""), "{}", ran.out);
}

#[test]
fn a_usage_error_is_json_when_asked() {
    let ran = heldset(&examples(), &["--json", "chekc", "x"]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.starts_with("{\"error\":{\"code\":\"E105\""), "{}", ran.out);
    assert_eq!(heldset(&examples(), &["chekc"]).code, 2);
    assert_eq!(heldset(&examples(), &["--version"]).code, 0);
}

#[test]
fn what_is_legal_and_unwise_is_hinted_at() {
    let row = |id: u32, input: &str, answer: &str| {
        format!("{{\"id\":{id},\"input\":\"{input}\",\"ground_truth\":\"{answer}\"}}\n")
    };
    let mut text = row(0, "Which planet is largest?", "Jupiter is by far the largest planet.");
    text += &row(1, "which planet is LARGEST", "Jupiter");
    for id in 2..6 {
        text += &row(id, &format!("Is {id} an even number?"), "yes");
    }
    text += "{\"id\":9,\"input\":\"Write a poem about rain.\"}\n";
    let folder = folder_with("cases.jsonl", text);
    let ran = heldset(folder.path(), &["check", "cases.jsonl", "--json"]);
    assert_eq!(ran.code, 0);
    for code in ["H001", "H003", "H004"] {
        assert!(ran.out.contains(&format!("\"code\":\"{code}\",\"severity\":\"hint\"")), "no {code} in {}", ran.out);
    }
    let outcomes = r#"[{"id":"a","initialPrompt":"q","expectedOutcomes":["The agent says \"the pool is full\""]}]"#;
    let folder = folder_with("cases.json", outcomes);
    assert!(heldset(folder.path(), &["check", "cases.json"]).out.contains("hint[H002]"));
    let folder = folder_with("cases.csv", "input, ground_truth\na,b\n");
    assert!(heldset(folder.path(), &["check", "cases.csv"]).out.contains("hint[H005]"));
}

#[test]
fn a_schema_gives_cells_their_types() {
    let folder = folder_with("r.csv", "id,score,note\na,1.5,x\nb,\"\"\"high\"\"\",7\n");
    std::fs::write(folder.path().join("s.json"), r#"{"fields":[{"name":"score","type":"number"}]}"#).unwrap();
    let ran = heldset(folder.path(), &["check", "r.csv", "--schema", "s.json", "--json"]);
    assert_eq!(ran.code, 3);
    assert!(ran.out.contains("\"code\":\"E035\",\"severity\":\"error\",\"line\":3,\"column\":4"), "{}", ran.out);
    std::fs::write(folder.path().join("s.json"), r#"{"fields":[{"name":"score","type":"nubmer"}]}"#).unwrap();
    let ran = heldset(folder.path(), &["check", "r.csv", "--schema", "s.json"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("error[E037]") && ran.err.contains("did you mean `number`?"), "{}", ran.err);
}

#[test]
fn equal_inputs_beside_different_memory_are_no_near_duplicates() {
    let text = "{\"id\":1,\"input\":\"Book my usual route\",\"agent_args\":{\"u\":1}}\n{\"id\":2,\"input\":\"Book my usual route\",\"agent_args\":{\"u\":2}}\n{\"id\":3,\"input\":\"Fix the bug in task_1.py now\"}\n{\"id\":4,\"input\":\"Fix the bug in task_2.py now\"}\n";
    let folder = folder_with("cases.jsonl", text);
    let ran = heldset(folder.path(), &["check", "cases.jsonl"]);
    assert!(!ran.out.contains("H003"), "{}", ran.out);
}

#[test]
fn a_folder_is_an_agenthealth_file_back_end() {
    let folder = folder_with("tc-1-v1.json", r#"{"id":"tc-1","version":1,"name":"n","initialPrompt":"old"}"#);
    std::fs::write(folder.path().join("tc-1-v2.json"), r#"{"id":"tc-1","version":2,"name":"n","initialPrompt":"new"}"#)
        .unwrap();
    let ran = heldset(folder.path(), &["check", "."]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("2 read, 1 kept, 0 refused") && ran.out.contains("older versions: 1"), "{}", ran.out);
    let ran = heldset(folder.path(), &["convert", ".", "--to", "jsonl"]);
    assert_eq!(ran.out, "{\"id\":\"tc-1\",\"name\":\"n\",\"input\":\"new\",\"version\":2}\n");
}

#[test]
fn one_missing_file_does_not_hide_the_others() {
    let ran = heldset(&examples(), &["check", "nope.jsonl", "broken/cases.jsonl", "--json"]);
    assert_eq!(ran.code, 2);
    let answer = json::read(ran.out.trim()).unwrap();
    let files = answer.as_object().unwrap().get("files").unwrap().as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert!(ran.out.contains("E101") && ran.out.contains("E012"), "{}", ran.out);
}

#[test]
fn a_schema_beside_the_file_that_cannot_be_read_is_a_fault() {
    let folder = folder_with("r.csv", "id,n\na,1\n");
    std::fs::write(folder.path().join("r.csv.schema.json"), "{\"fields\":[{\"name\":\"n\",\"type\":\"integer\"}]}")
        .unwrap();
    assert_eq!(heldset(folder.path(), &["convert", "r.csv", "--to", "jsonl"]).out, "{\"id\":\"a\",\"n\":1}\n");
    std::fs::remove_file(folder.path().join("r.csv.schema.json")).unwrap();
    std::fs::create_dir(folder.path().join("r.csv.schema.json")).unwrap();
    let ran = heldset(folder.path(), &["check", "r.csv"]);
    assert!(ran.code == 3 && ran.out.contains("error[E019]"), "{}", ran.out);
}
