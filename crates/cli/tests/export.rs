//! `heldset export`.

use crate::{Store, store};

const CASES: &str = "{\"id\":\"t1\",\"input\":\"capital of France?\",\"expected_output\":\"Paris, of course\",\"category\":\"geo\",\"metadata\":{\"k\":[1,2.5]}}
{\"id\":\"t2\",\"input\":\"two, \\\"quoted\\\"\",\"expected_output\":\"zwei\\nlines\",\"category\":\"words\"}
";
/// What AgentHealth can carry: everything it asks for is there.
const HEALTH: &str = "{\"id\":\"t1\",\"input\":\"is the cluster up?\",\"name\":\"up\",\"expected_outcomes\":[\"says that the cluster is up\"]}\n";

fn with(rows: &str) -> Store {
    let kept = store();
    kept.file("cases.jsonl", rows).fine(&["import", "cases", "cases.jsonl", "-q"]);
    kept
}

#[test]
fn what_is_exported_and_imported_again_is_the_same_version() {
    for (rows, to) in [
        (CASES, "jsonl"),
        (CASES, "json"),
        (CASES, "csv"),
        (CASES, "parquet"),
        (CASES, "lab"),
        (CASES, "letta-jsonl"),
        (CASES, "letta-csv"),
        (HEALTH, "agenthealth"),
    ] {
        let kept = with(rows);
        let ending = to.trim_start_matches("letta-");
        let file = format!(
            "out.{}",
            match ending {
                "lab" => "yaml",
                "agenthealth" => "json",
                ending => ending,
            }
        );
        kept.fine(&["export", "cases@1", "--to", to, "-o", &file]);
        let again = kept.fine(&["import", "cases", &file, "--json"]);
        assert!(again.contains("\"version\":1") && again.contains("\"created\":false"), "{to}: {again}");
    }
}

#[test]
fn an_export_has_what_its_audience_sees_and_says_so_beside_it() {
    let kept = with(CASES);
    kept.fine(&["export", "cases", "--to", "jsonl", "-o", "out.jsonl", "--as", "agent"]);
    let out = std::fs::read_to_string(kept.path().join("out.jsonl")).unwrap();
    assert_eq!(
        out,
        "{\"id\":\"t1\",\"input\":\"capital of France?\"}\n{\"id\":\"t2\",\"input\":\"two, \\\"quoted\\\"\"}\n"
    );
    let beside = std::fs::read_to_string(kept.path().join("out.jsonl.heldset.json")).unwrap();
    for part in [
        "\"dataset\":\"cases\",\"version\":1,\"digest\":\"sha256:",
        "\"split\":\"default\"",
        "\"audience\":\"agent\"",
        "\"labels\":[\"agent_visible\"]",
    ] {
        assert!(beside.contains(part), "{part}: {beside}");
    }
    assert_eq!(kept.fine(&["export", "cases", "--to", "csv", "--as", "agent"]).lines().next(), Some("id,input"));
}

#[test]
fn what_a_target_cannot_carry_is_refused_and_nothing_is_written() {
    let kept = with("{\"id\":\"1\",\"input\":\"q\",\"note\":\"=1+1\",\"category\":\"c\"}\n");
    let ran = kept.run(&["export", "cases", "--to", "agenthealth", "-o", "out.json"]);
    assert!(ran.code == 3 && ran.err.contains("E036"), "{}", ran.err);
    assert!(!kept.path().join("out.json").exists() && !kept.path().join("out.json.heldset.json").exists());
    assert_eq!(kept.fine(&["copies", "cases", "--json"]), "[]\n");
    kept.fine(&["export", "cases", "--to", "agenthealth", "-o", "out.json", "--lossy"]);
    assert!(kept.fine(&["export", "cases", "--to", "csv", "--for-spreadsheet"]).contains("'=1+1"));
}

#[test]
fn one_file_holds_one_split_and_an_invisible_one_does_not_exist() {
    let kept = with("{\"id\":\"1\",\"text\":\"open\"}\n");
    kept.fine(&["import", "cases", "cases.jsonl", "-q", "--split", "hidden", "--visibility", "evaluator_only"]);
    let ran = kept.run(&["export", "cases", "--to", "jsonl"]);
    assert!(ran.code == 2 && ran.err.contains("E103") && ran.err.contains("`default`, `hidden`"), "{}", ran.err);
    kept.fine(&["export", "cases", "--to", "jsonl", "--split", "hidden"]);
    kept.fine(&["export", "cases", "--to", "jsonl", "--as", "agent"]);
    let hidden = kept.run(&["export", "cases", "--to", "jsonl", "--as", "agent", "--split", "hidden"]);
    let absent = kept.run(&["export", "cases", "--to", "jsonl", "--as", "agent", "--split", "absent"]);
    assert_eq!((hidden.code, hidden.err.replace("hidden", "absent")), (absent.code, absent.err));
}

#[test]
fn sealed_rows_do_not_travel_where_the_policy_forbids() {
    let kept = with(CASES);
    let ran = kept.run(&["export", "cases", "--to", "jsonl", "-o", "out.jsonl", "--place", "local_disk"]);
    assert!(ran.code == 5 && ran.err.contains("E121"), "{}", ran.err);
    assert!(!kept.path().join("out.jsonl").exists());
    kept.fine(&["export", "cases", "--to", "jsonl", "-o", "out.jsonl", "--place", "local_disk", "--as", "agent"]);
}
