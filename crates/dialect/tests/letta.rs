//! Letta samples.

use heldset_dialect::{Format, IdRule, ReadOptions};
use heldset_testkit::{MemoryFiles, read_bytes, read_with};

fn check(name: &str, text: &str, lines: &[&str], faults: &[&str]) {
    let options = ReadOptions { format: Some(Format::Letta), id: IdRule::Auto, schema: None, threads: 1 };
    let files = MemoryFiles::of(&[("rubrics/dog.txt", "Score the dog.")]);
    let reading = read_with(name, text.as_bytes(), &options, &files);
    assert_eq!(reading.lines(), lines, "records of {text:?}: {:?}", reading.faults);
    assert_eq!(reading.places(), faults, "faults of {text:?}: {:?}", reading.faults);
}

#[test]
fn a_list_input_becomes_turns_and_a_list_answer_expected_turns() {
    check(
        "s.jsonl",
        r#"{"input":["a","b"],"ground_truth":[null,"y"],"tags":["t"]}"#,
        &[r#"{"expected_turns":[null,"y"],"id":"0","input":"a","tags":["t"],"turns":[{"content":"b","role":"user"}]}"#],
        &[],
    );
    check("s.jsonl", r#"{"input":["a","b"],"ground_truth":["y"]}"#, &[], &["E017 1:35 ground_truth"]);
    check(
        "s.jsonl",
        r#"{"input":"a","ground_truth":["y"]}"#,
        &[r#"{"expected_output":["y"],"id":"0","input":"a"}"#],
        &[],
    );
}

#[test]
fn ids_come_from_sample_id_then_id_then_the_row() {
    check(
        "s.jsonl",
        "{\"input\":\"a\"}\n\n{\"input\":\"b\",\"id\":7}\n{\"input\":\"c\",\"id\":9,\"sample_id\":\"s\"}\n{\"id\":3.0,\"input\":\"d\"}",
        &[
            r#"{"id":"0","input":"a"}"#,
            r#"{"id":"7","input":"b"}"#,
            r#"{"id":"s","input":"c","original_id":9}"#,
            r#"{"id":"3","input":"d"}"#,
        ],
        &[],
    );
    check("s.jsonl", "{\"input\":\"a\"}\n{\"id\":0,\"input\":\"b\"}", &[r#"{"id":"0","input":"a"}"#], &["E012 2:7 id"]);
}

#[test]
fn wrong_types_point_at_the_value() {
    for (row, fault) in [
        (r#"{"input":5}"#, "E015 1:10 input"),
        (r#"{"input":["a",5]}"#, "E015 1:15 input[1]"),
        (r#"{"input":""}"#, "E014 1:10 input"),
        (r#"{"input":[]}"#, "E014 1:10 input"),
        (r#"{"ground_truth":"x"}"#, "E014 1:1 -"),
        (r#"{"input":"a","tags":["x",1]}"#, "E015 1:26 tags[1]"),
        (r#"{"input":"a","metadata":"x"}"#, "E015 1:25 metadata"),
        (r#"{"input":"a","agent_args":[1]}"#, "E015 1:27 agent_args"),
        (r#"{"input":"a","rubric":"r","rubric_path":"rubrics/dog.txt"}"#, "E018 1:41 rubric_path"),
        (r#"{"input":"a","rubric_path":"nope.txt"}"#, "E019 1:28 rubric_path"),
        (r#"{"input":"a","rubric_path":"../x"}"#, "E020 1:28 rubric_path"),
    ] {
        check("s.jsonl", row, &[], &[fault]);
    }
}

#[test]
fn unknown_fields_stay_and_the_prompt_is_an_alias() {
    check(
        "s.jsonl",
        r#"{"prompt":"p","score":0.5,"metadata":{"agent_args":{"x":1}},"rubric_path":"rubrics/dog.txt"}"#,
        &[r#"{"id":"0","input":"p","metadata":{"agent_args":{"x":1}},"rubric":"Score the dog.","score":0.5}"#],
        &[],
    );
    check("s.jsonl", r#"{"prompt":"p","input":"i"}"#, &[r#"{"id":"0","input":"i","prompt":"p"}"#], &[]);
}

#[test]
fn csv_cells_are_text_unless_they_have_the_form_of_a_list() {
    check(
        "s.csv",
        "id,input,ground_truth,agent_args,tags\n001,[hello,007,\"{\"\"k\"\":1}\",\"[\"\"t\"\"]\"\n,\"[\"\"a\"\",\"\"b\"\"]\",{4},,\n",
        &[
            r#"{"agent_args":{"k":1},"expected_output":"007","id":"001","input":"[hello","tags":["t"]}"#,
            r#"{"expected_output":"{4}","id":"1","input":"a","turns":[{"content":"b","role":"user"}]}"#,
        ],
        &[],
    );
    check("s.csv", "input\n[hello]\n", &[], &["E030 2:2 input[0]"]);
    check("s.csv", "input,agent_args\na,{k:1}\na,[1]\n", &[], &["E030 2:4 agent_args", "E015 3:3 agent_args"]);
}

#[test]
fn letta_is_found_by_content() {
    for (name, text) in
        [("x", "{\"input\":\"a\",\"ground_truth\":\"b\"}\n{\"input\":\"c\"}\n"), ("x.csv", "input,ground_truth\na,b\n")]
    {
        assert_eq!(read_bytes(name, text.as_bytes()).report.format, Format::Letta, "{text:?}");
    }
    for text in [
        "{\"id\":\"a\",\"input\":\"q\",\"expected_output\":\"x\"}\n{\"id\":\"b\"}\n",
        "{\"id\":\"a\",\"title\":\"q\"}\n",
    ] {
        assert_eq!(read_bytes("x.jsonl", text.as_bytes()).report.format, Format::Records, "{text:?}");
    }
}

#[test]
fn an_id_that_is_not_asked_for_stays_as_metadata() {
    let rows = "{\"id\":7,\"key\":\"k\",\"input\":\"a\"}\n";
    for (rule, expected) in [
        (IdRule::Field("key".into()), r#"{"id":"k","input":"a","key":"k","original_id":7}"#),
        (IdRule::Row, r#"{"id":"0","input":"a","key":"k","original_id":7}"#),
    ] {
        for format in [Format::Letta, Format::Records] {
            let options = ReadOptions { format: Some(format), id: rule.clone(), schema: None, threads: 1 };
            let reading = read_with("s.jsonl", rows.as_bytes(), &options, &MemoryFiles::default());
            assert_eq!(reading.lines(), [expected], "{:?}", reading.faults);
        }
    }
}

#[test]
fn a_repeated_id_shows_the_field_it_stands_in() {
    check(
        "s.jsonl",
        "{\"sample_id\":\"x\",\"id\":1,\"input\":\"a\"}\n{\"sample_id\":\"x\",\"id\":2,\"input\":\"b\"}\n",
        &[r#"{"id":"x","input":"a","original_id":1}"#],
        &["E012 2:14 sample_id"],
    );
    check(
        "s.csv",
        "sample_id,id,input\nx,1,a\nx,2,b\n",
        &[r#"{"id":"x","input":"a","original_id":"1"}"#],
        &["E012 3:1 sample_id"],
    );
    check(
        "s.jsonl",
        "{\"id\":\"a\",\"input\":5}\n{\"id\":\"a\",\"input\":\"x\"}\n",
        &[],
        &["E015 1:19 input", "E012 2:7 id"],
    );
}

#[test]
fn every_bad_cell_of_a_row_is_reported() {
    check(
        "s.csv",
        "input,tags,metadata,agent_args\nq,x,{a},[1\n",
        &[],
        &["E030 2:3 tags", "E030 2:6 metadata", "E030 2:11 agent_args"],
    );
}
