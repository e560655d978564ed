//! `heldset convert`.

use crate::{examples, folder_with, heldset};

#[test]
fn records_go_to_standard_output_and_the_report_to_standard_error() {
    let ran = heldset(&examples(), &["convert", "letta/sums.csv", "--to", "jsonl"]);
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.out, @r#"
    {"id":"001","input":"What is 3 + 4?","expected_output":"007"}
    {"id":"002","input":"My number is 12.","turns":[{"content":"Double it.","role":"user"}],"agent_args":{"precision":0},"expected_output":"24"}
    {"id":"003","input":"Add one, two and three.","expected_output":"6"}
    "#);
    insta::assert_snapshot!(ran.err, @r#"
    letta/sums.csv: letta, 3 read, 3 kept, 0 refused, 0 dropped
      mapped: ground_truth → expected_output (3)
      kept as they are: agent_args (1), input (3)
    "#);
}

#[test]
fn with_a_fault_nothing_is_written_and_an_older_output_stays() {
    let folder = folder_with("bad.jsonl", "{\"id\":\"a\",\"x\":1}\n{\"id\":\"a\",\"x\":2}\n");
    std::fs::write(folder.path().join("out.jsonl"), "before").unwrap();
    let ran = heldset(folder.path(), &["convert", "bad.jsonl", "--to", "jsonl", "-o", "out.jsonl"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert_eq!(std::fs::read_to_string(folder.path().join("out.jsonl")).unwrap(), "before");
    assert_eq!(heldset(folder.path(), &["convert", "bad.jsonl", "--to", "jsonl"]).out, "");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "something was left behind: {names:?}");
}

#[test]
fn valid_rows_are_kept_and_refused_ones_written_aside_when_asked() {
    let folder = folder_with("bad.jsonl", "{\"id\":\"a\",\"x\":1}\n{\"id\":\"a\",\"x\":2}\nnope\n{\"id\":\"b\"}\n");
    let args = ["convert", "bad.jsonl", "--to", "jsonl", "--keep-valid", "--rejects", "aside.jsonl"];
    let ran = heldset(folder.path(), &args);
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\"}\n"));
    let aside = std::fs::read_to_string(folder.path().join("aside.jsonl")).unwrap();
    assert_eq!(aside, "{\"id\":\"a\",\"x\":2}\nnope\n");
}

#[test]
fn what_a_target_cannot_carry_is_listed_and_refused() {
    let folder = folder_with("n.jsonl", "{\"id\":\"a\",\"input\":\"q\",\"expected_output\":4}\n");
    let ran = heldset(folder.path(), &["convert", "n.jsonl", "--to", "letta-csv"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("error[E036]"), "{}", ran.err);
    let ran = heldset(folder.path(), &["convert", "n.jsonl", "--to", "letta-csv", "--lossy"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "id,input,ground_truth\na,q,4\n"));
}

#[test]
fn with_json_a_refusal_is_an_error_document() {
    let folder = folder_with("bad.jsonl", "{\"id\":\"a\"\n");
    let ran = heldset(folder.path(), &["convert", "bad.jsonl", "--to", "jsonl", "--json"]);
    assert_eq!(ran.code, 3);
    assert!(ran.out.starts_with("{\"error\":{\"code\":\"E002\",\"column\":10,"), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 1);
}

#[test]
fn compat_goes_to_json_lines_only() {
    let folder = folder_with("s.csv", "input,ground_truth\na,007\n");
    let ran = heldset(folder.path(), &["convert", "s.csv", "--to", "jsonl", "--compat", "letta/0.26"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"id\":\"0\",\"input\":\"a\",\"expected_output\":\"7\"}\n"));
    let ran = heldset(folder.path(), &["convert", "s.csv", "--to", "parquet", "--compat", "letta/0.26"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error[E103]"), "{}", ran.err);
}

#[test]
fn an_output_that_cannot_be_written_says_so() {
    let ran = heldset(&examples(), &["convert", "letta/sums.csv", "--to", "jsonl", "-o", "no/such/folder/x.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error[E104]"), "{}", ran.err);
}

#[test]
fn what_is_lost_is_told_once_counted_and_still_readable() {
    let rows = r#"{"id":"a","input":"q","expected_output":"","turns":[{"role":"hitl","content":"x"}],"context":[{"content":"c"}]}
{"id":"b","input":"[i]","expected_output":"[x]","turns":[{"role":"hitl","content":"x"}]}
"#;
    let folder = folder_with("r.jsonl", rows);
    let ran = heldset(folder.path(), &["convert", "r.jsonl", "--to", "letta-csv", "-o", "out.csv"]);
    assert_eq!(ran.code, 3);
    for field in ["`turns`", "`context`", "`expected_output`", "`input`"] {
        assert!(ran.err.contains(field), "{field} is not listed: {}", ran.err);
    }
    let ran = heldset(folder.path(), &["convert", "r.jsonl", "--to", "letta-csv", "--lossy", "-o", "out.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning[E036]") && !ran.err.contains(" 0 dropped"), "{}", ran.err);
    let ran = heldset(folder.path(), &["check", "out.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
}

#[test]
fn guards_for_spreadsheets_are_told_and_written() {
    let folder = folder_with("r.jsonl", "{\"id\":\"1\",\"x\":\"=1+1\"}\n");
    let ran = heldset(folder.path(), &["convert", "r.jsonl", "--to", "csv", "--for-spreadsheet", "-o", "out.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning[E036]"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(folder.path().join("out.csv")).unwrap(), "id,x\n1,'=1+1\n");
}

#[test]
fn refused_rows_never_go_where_the_data_is() {
    let folder = folder_with("in.jsonl", "{\"id\":\"a\"}\n");
    std::fs::write(folder.path().join("aside"), "precious").unwrap();
    for args in [
        &["convert", "in.jsonl", "--to", "jsonl", "--rejects", "in.jsonl"][..],
        &["convert", "in.jsonl", "--to", "jsonl", "-o", "aside", "--rejects", "aside"],
        &["convert", "in.jsonl", "--to", "csv", "--schema", "gone.json", "--rejects", "aside"],
    ] {
        let ran = heldset(folder.path(), args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert_eq!(std::fs::read_to_string(folder.path().join("in.jsonl")).unwrap(), "{\"id\":\"a\"}\n");
        assert_eq!(std::fs::read_to_string(folder.path().join("aside")).unwrap(), "precious");
    }
}

#[test]
fn an_output_keeps_what_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with("in.jsonl", "{\"id\":\"a\"}\n");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("private"), "old").unwrap();
    std::fs::set_permissions(at("private"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("private", at("link")).unwrap();
    assert_eq!(heldset(folder.path(), &["convert", "in.jsonl", "--to", "jsonl", "-o", "link"]).code, 0);
    assert!(at("link").is_symlink());
    assert_eq!(std::fs::read_to_string(at("private")).unwrap(), "{\"id\":\"a\"}\n");
    assert_eq!(at("private").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(heldset(folder.path(), &["convert", "in.jsonl", "--to", "jsonl", "-o", "-"]).out, "{\"id\":\"a\"}\n");
    let ran = heldset(folder.path(), &["convert", "in.jsonl", "--to", "jsonl", "-o", "."]);
    assert!(ran.code == 2 && ran.err.contains("it is a folder"), "{}", ran.err);
    std::fs::create_dir(at("c.csv.schema.json")).unwrap();
    assert_eq!(heldset(folder.path(), &["convert", "in.jsonl", "--to", "csv", "-o", "c.csv"]).code, 2);
    assert!(!at("c.csv").exists(), "the table is there without its types");
}
