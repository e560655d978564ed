//! `heldset diff` from outside.

use heldset_core::json;
use heldset_core::value::Value;

use crate::{Store, store};

const FIRST: &str = r#"{"id":"tc-001","input":"one","expected_output":"A","category":"x"}
{"id":"tc-002","input":"two","expected_output":"B"}
{"id":"tc-003","input":"three","expected_output":"C"}
"#;

/// What a diff says, without which versions it is of.
#[track_caller]
fn check(store: &Store, args: &[&str], code: i32, expected: &str) {
    let ran = store.run(&[&["diff", "--json"], args].concat());
    assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
    let said = json::read(&ran.out).unwrap();
    let Value::Object(mut said) = said else { panic!("{}", ran.out) };
    for side in ["a", "b"] {
        let side = said.remove(side).unwrap();
        let side = side.as_object().unwrap();
        assert!(side.get("digest").unwrap().as_str().unwrap().starts_with("sha256:"));
        assert!(side.contains("dataset") && side.contains("version"));
    }
    assert_eq!(said.remove("runs"), Some(Value::Array(Vec::new())), "no run is affected");
    assert_eq!(Value::Object(said), json::read(expected).unwrap(), "{args:?}: {}", ran.out);
}

#[test]
fn records_are_compared_by_id_and_field() {
    let store = store();
    store.import("trips", FIRST, &[]);
    store.import(
        "trips",
        r#"{"id":"tc-004","input":"four"}
{"id":"tc-001","input":"one","expected_output":"Z","category":"x"}
{"id":"tc-002","input":"two!","expected_output":"B","context":null}
"#,
        &[],
    );
    check(
        &store,
        &["trips@1", "trips@2"],
        1,
        r#"{"added":["tc-004"],"removed":["tc-003"],"changed":[
            {"id":"tc-001","split":"default","fields":["expected_output"]},
            {"id":"tc-002","split":"default","fields":["input","context"]}],"moved":[],"schema":"same"}"#,
    );
    let same = r#"{"added":[],"removed":[],"changed":[],"moved":[],"schema":"same"}"#;
    check(&store, &["trips@2", "trips@2"], 0, same);
    let text = store.run(&["diff", "trips@1", "trips@2"]);
    insta::assert_snapshot!(text.out + &text.err, @r#"
    - tc-003
    + tc-004
    ~ tc-001
        expected_output: "A" → "Z"
    ~ tc-002
        input: "two" → "two!"
        context: (absent) → null
    trips@1 → trips@2: 1 added, 1 removed, 2 changed, 0 moved
    "#);
    let equal = store.run(&["diff", "trips", "trips@2"]);
    assert_eq!((equal.out.as_str(), equal.err.as_str()), ("", "trips@2 and trips@2 hold the same records\n"));
    store.import("other", FIRST, &[]);
    check(&store, &["trips@1", "other"], 0, same);
    for (args, code) in [(["trips@1", "trips@9"], 2), (["trips@1", "nothing"], 2)] {
        assert_eq!(store.run(&["diff", args[0], args[1]]).code, code);
    }
}

#[test]
fn a_sealed_change_is_no_change_for_an_agent() {
    let store = store();
    store.import("trips", FIRST, &[]);
    store.fine(&["record", "edit", "trips", "tc-001", "--set", "expected_output=Q", "--set", "category=y"]);
    let same = r#"{"added":[],"removed":[],"changed":[],"moved":[],"schema":"same"}"#;
    check(&store, &["trips@1", "trips@2", "--as", "agent"], 0, same);
    check(
        &store,
        &["trips@1", "trips@2", "--as", "operator"],
        1,
        r#"{"added":[],"removed":[],"changed":[{"id":"tc-001","split":"default","fields":["category"]}],"moved":[],"schema":"same"}"#,
    );
    // A split that the agent may not see does not exist: neither its records nor moves out of it.
    store.import("trips", "{\"id\":\"h\",\"input\":\"q\"}", &["--split", "held", "--visibility", "evaluator_only"]);
    check(&store, &["trips@1", "trips@3", "--as", "agent"], 0, same);
    let hidden = store.run(&["diff", "trips@1", "trips@3", "--split", "held", "--as", "agent"]);
    let absent = store.run(&["diff", "trips@1", "trips@3", "--split", "hell", "--as", "agent"]);
    assert_eq!((hidden.code, absent.code), (2, 2));
    assert_eq!(hidden.err.replace("held", "hell"), absent.err);
    // Under another policy nothing at rest is the same, and what is seen still is.
    store.fine(&["import", "trips", "--label", "expected_output=internal", "--declassify", "for annotators"]);
    check(&store, &["trips@3", "trips@4"], 0, same);
    check(&store, &["trips@3", "trips@4", "--as", "agent"], 0, same);
}

#[test]
fn a_record_that_changes_its_split_has_moved() {
    let store = store();
    let rows: Vec<&str> = FIRST.lines().collect();
    store.import("trips", FIRST, &["--split", "train"]);
    store.import("trips", "{\"id\":\"z\",\"input\":\"z\"}", &["--split", "test"]);
    store.import("trips", &rows[..1].join("\n"), &["--split", "train"]);
    store.import("trips", &rows[1..].join("\n").replace("three", "3"), &["--split", "test"]);
    check(
        &store,
        &["trips@2", "trips@4"],
        1,
        r#"{"added":[],"removed":["z"],"changed":[{"id":"tc-003","split":"test","fields":["input"]}],
            "moved":[{"id":"tc-002","from":"train","to":"test"},{"id":"tc-003","from":"train","to":"test"}],"schema":"same"}"#,
    );
    check(
        &store,
        &["trips@2", "trips@4", "--split", "train"],
        1,
        r#"{"added":[],"removed":["tc-002","tc-003"],"changed":[],"moved":[],"schema":"same"}"#,
    );
    check(
        &store,
        &["trips@1", "trips@2", "--split", "test"],
        1,
        r#"{"added":["z"],"removed":[],"changed":[],"moved":[],"schema":"same"}"#,
    );
}

#[test]
fn a_large_split_is_compared_in_order() {
    let store = store();
    let row =
        |number: usize, text: &str| format!("{{\"id\":\"r{number}\",\"input\":\"{text}\",\"expected\":{number}}}\n");
    let rows = |count: usize, changed: usize| -> String {
        (0..count).map(|number| row(number, if number == changed { "new" } else { "old" })).collect()
    };
    store.import("big", &rows(3000, 9999), &[]);
    store.import("big", &rows(3010, 1234), &[]);
    let added: Vec<String> = (3000..3010).map(|number| format!("\"r{number}\"")).collect();
    let expected = format!(
        r#"{{"added":[{}],"removed":[],"changed":[{{"id":"r1234","split":"default","fields":["input"]}}],"moved":[],"schema":"same"}}"#,
        added.join(",")
    );
    check(&store, &["big@1", "big@2"], 1, &expected);
    check(&store, &["big@1", "big@2", "--as", "agent"], 1, &expected);
}
