//! `heldset record` from outside.

use heldset_core::chunk::RecordProof;
use heldset_core::digest::Digest;
use heldset_core::json;
use heldset_core::leaf::leaf_of_groups;
use heldset_core::merkle::Inclusion;
use heldset_core::value::{Object, Value};

use crate::{Store, store};

/// A record with three versions of its own over four versions of the dataset; only the second changed what an agent
/// sees.
fn with_history() -> Store {
    let store = store();
    store.import(
        "trips",
        r#"{"id":"tc-001","input":"one","expected_output":"A","category":"x"}
{"id":"tc-002","input":"two","expected_output":"B"}
{"id":"me@2","input":"three"}
"#,
        &[],
    );
    store.fine(&["record", "edit", "trips", "tc-001", "--set", "input=eins", "-m", "in German"]);
    store.fine(&["record", "edit", "trips", "tc-002", "--set", "input=zwei"]);
    store.fine(&["record", "edit", "trips", "tc-001", "--set", "expected_output=[1,null]", "--unset", "category"]);
    store
}

/// The record versions as number, versions of the dataset, and whether there is a leaf.
#[track_caller]
fn check_history(store: &Store, args: &[&str], expected: &[(u64, &str, bool)]) {
    let out = store.fine(&[&["record", "--history", "--json"], args].concat());
    let said = json::read(&out).unwrap();
    let found: Vec<_> = said.as_array().unwrap().iter().map(|own| own.as_object().unwrap()).collect();
    assert_eq!(found.len(), expected.len(), "{args:?}: {out}");
    for (own, (number, versions, leaf)) in found.into_iter().zip(expected) {
        assert_eq!(own.get("record_version"), Some(&Value::from(*number as i64)));
        assert_eq!(own.get("versions"), Some(&json::read(versions).unwrap()), "{out}");
        assert_eq!(own.get("first_version"), own.get("versions").unwrap().as_array().unwrap().first());
        assert_eq!(own.contains("leaf"), *leaf);
        assert!(own.get("created_at").unwrap().as_str().unwrap().ends_with('Z'));
    }
}

#[test]
fn a_record_has_versions_of_its_own() {
    let store = with_history();
    check_history(&store, &["trips", "tc-001"], &[(1, "[1]", true), (2, "[2,3]", true), (3, "[4]", true)]);
    check_history(&store, &["trips@3", "tc-001"], &[(1, "[1]", true), (2, "[2,3]", true)]);
    check_history(&store, &["trips", "tc-001@2"], &[(1, "[1]", true), (2, "[2,3]", true), (3, "[4]", true)]);
    check_history(&store, &["trips", "tc-002"], &[(1, "[1,2]", true), (2, "[3,4]", true)]);
    let text = store.fine(&["record", "trips", "tc-001", "--history"]);
    assert_eq!(text.lines().count(), 3);
    assert!(text.lines().nth(2).unwrap().starts_with("→ v3  "), "{text}");

    for (id, expected) in [
        ("tc-001@1", r#"{"id":"tc-001","input":"one","expected_output":"A","category":"x"}"#),
        ("tc-001@2", r#"{"id":"tc-001","input":"eins","expected_output":"A","category":"x"}"#),
        ("tc-001@3", r#"{"id":"tc-001","input":"eins","expected_output":[1,null]}"#),
        ("tc-001", r#"{"id":"tc-001","input":"eins","expected_output":[1,null]}"#),
        ("me@2", r#"{"id":"me@2","input":"three"}"#),
        ("me@2@1", r#"{"id":"me@2","input":"three"}"#),
    ] {
        let ran = store.run(&["record", "trips", id]);
        assert_eq!((ran.code, json::read(&ran.out).unwrap()), (0, json::read(expected).unwrap()), "{id}");
        assert_eq!(store.fine(&["record", "trips", id, "--json"]), ran.out);
    }
    let told = store.run(&["record", "trips", "tc-001@2"]).err;
    assert!(told.starts_with("trips@2  split default  tc-001@2  leaf sha256:"), "{told}");
    assert_eq!(store.fine(&["record", "trips", "tc-001"]), store.fine(&["cat", "trips", "--ids", "tc-001"]));
    for (args, code) in [
        (&["trips", "tc-001@4"][..], 2),
        (&["trips@1", "tc-001@2"], 2),
        (&["trips", "tc-009"], 2),
        (&["trips", "tc-001", "--history", "--proof"], 2),
        (&["trips"], 2),
        (&[], 2),
        (&["trips", "tc-001", "--place", "agent_sandbox"], 5),
    ] {
        assert_eq!(store.run(&[&["record"], args].concat()).code, code, "{args:?}");
    }
}

#[test]
fn a_record_that_was_removed_keeps_its_history() {
    let store = with_history();
    store.fine(&["record", "rm", "trips", "tc-001", "tc-002", "-m", "unclear"]);
    assert_eq!(store.fine(&["cat", "trips"]).lines().count(), 1);
    assert_eq!(store.run(&["record", "trips", "tc-001"]).code, 2);
    assert!(store.fine(&["record", "trips", "tc-001@2"]).contains("eins"));
    check_history(&store, &["trips", "tc-002"], &[(1, "[1,2]", true), (2, "[3,4]", true)]);
}

#[test]
fn a_sealed_change_makes_no_version_for_an_agent() {
    let store = with_history();
    check_history(&store, &["trips", "tc-001", "--as", "agent"], &[(1, "[1]", false), (2, "[2,3,4]", false)]);
    assert_eq!(
        store.fine(&["record", "trips", "tc-001@2", "--as", "agent"]),
        "{\"id\":\"tc-001\",\"input\":\"eins\"}\n"
    );
    let told = store.run(&["record", "trips", "tc-001", "--as", "agent"]);
    assert_eq!(told.err, "trips@4  split default  tc-001@2\n");
    assert_eq!(store.run(&["record", "trips", "tc-001@3", "--as", "agent"]).code, 2);
    // What becomes visible counts as a change.
    store.fine(&["import", "trips", "--label", "expected_output=agent_visible", "--declassify", "public now"]);
    check_history(
        &store,
        &["trips", "tc-001", "--as", "agent"],
        &[(1, "[1]", false), (2, "[2,3,4]", false), (3, "[5]", false)],
    );
}

fn text<'o>(object: &'o Object<'_>, key: &str) -> &'o str {
    object.get(key).unwrap().as_str().unwrap()
}

fn number(object: &Object<'_>, key: &str) -> u64 {
    let Some(Value::Number(number)) = object.get(key) else { panic!("{key}") };
    number.as_u64().unwrap()
}

fn way(proof: &Object<'_>, key: &str) -> Inclusion {
    let way = proof.get(key).unwrap().as_object().unwrap();
    let path = way.get("path").unwrap().as_array().unwrap();
    let path = path.iter().map(|digest| digest.as_str().unwrap().parse().unwrap()).collect();
    Inclusion { index: number(way, "index"), path }
}

/// Checks a proof from what is printed, and that its root is the one of the version.
#[track_caller]
fn check_proof(store: &Store, args: &[&str]) {
    let out = store.fine(&[&["record", "--proof"], args].concat());
    let said = json::read(&out).unwrap();
    let said = said.as_object().unwrap();
    let groups = said.get("groups").unwrap().as_object().unwrap();
    let groups: Vec<(&str, Digest)> =
        groups.iter().map(|(label, digest)| (label, digest.as_str().unwrap().parse().unwrap())).collect();
    let leaf: Digest = text(said, "leaf").parse().unwrap();
    assert_eq!(leaf_of_groups(text(said, "id"), &groups), leaf);
    let proof = said.get("proof").unwrap().as_object().unwrap();
    let proof = RecordProof {
        in_chunk: way(proof, "in_chunk"),
        chunk_rows: number(proof, "chunk_rows"),
        in_split: way(proof, "in_split"),
        chunks: number(proof, "chunks"),
    };
    let root: Digest = text(said, "root").parse().unwrap();
    assert!(proof.proves(leaf, root), "{out}");
    let other = leaf_of_groups("another", &groups);
    assert!(!proof.proves(other, root));
    let cite = format!("{}@{}", text(said, "dataset"), number(said, "version"));
    let shown = store.fine(&["show", &cite, "--json"]);
    assert!(shown.contains(&format!("\"root\":\"{root}\"")), "{shown}");
    assert!(shown.contains(text(said, "digest")));
}

#[test]
fn a_proof_leads_from_the_record_to_the_version() {
    let store = with_history();
    check_proof(&store, &["trips", "tc-001"]);
    check_proof(&store, &["trips", "tc-001@2"]);
    check_proof(&store, &["trips@1", "me@2"]);
    check_proof(&store, &["trips", "tc-001", "--as", "agent"]);
    let rows: String =
        (0..5000).map(|number| format!("{{\"id\":\"r{number}\",\"input\":\"q\",\"expected\":1}}\n")).collect();
    store.import("big", &rows, &[]);
    for id in ["r0", "r2500", "r4999"] {
        check_proof(&store, &["big", id, "--as", "agent"]);
    }
    // Nobody gets the plain digest of what they may not see.
    store.import("mixed", "{\"id\":\"a\",\"q\":\"1\"}", &["--visibility", "public"]);
    let denied = store.run(&["record", "mixed", "a", "--proof", "--as", "log"]);
    assert_eq!(denied.code, 5, "{}", denied.out);
    assert!(denied.err.contains("E120"));
}

#[test]
fn edits_make_versions() {
    let store = with_history();
    let out = store.fine(&["record", "edit", "trips", "tc-002", "--set", "tags=[\"a\"]", "--json"]);
    let said = json::read(&out).unwrap();
    let said = said.as_object().unwrap();
    assert_eq!((text(said, "dataset"), number(said, "version")), ("trips", 5));
    assert_eq!(said.get("created"), Some(&Value::Bool(true)));
    let again = store.fine(&["record", "edit", "trips", "tc-002", "--set", "tags=[\"a\"]"]);
    assert_eq!(again, format!("trips@5 {} (same content, no new version)\n", text(said, "digest")));
    assert!(store.fine(&["history", "trips"]).contains("in German"));
    // The version is the one that importing the changed file makes.
    let rows = store.fine(&["cat", "trips"]);
    store.import("trips", &rows, &[]);
    assert!(!store.fine(&["history", "trips"]).contains("\n6  "));

    let edit = ["record", "edit", "trips", "tc-002"];
    for (args, code, word) in [
        (&["--set", "id=9"][..], 2, "E103"),
        (&["--unset", "inptu"], 2, "did you mean `input`?"),
        (&["--set", "novalue"], 2, "E105"),
        (&["--set", "tags=1"], 3, "E015"),
        (&["--unset", "input"], 3, "E014"),
        (&["--set", "input="], 3, "E014"),
        (&["--set", "a\u{7}=1"], 2, "E033"),
        (&[], 2, "E105"),
        (&["--set", "a=1", "--split", "defalut"], 2, "did you mean `default`?"),
        (&["--set", "a=1", "--as", "agent"], 5, "E120"),
        (&["--set", "expected_output=B", "--as", "operator"], 5, "E120"),
        (&["--unset", "expected_outcomes", "--as", "operator"], 5, "E120"),
        (&["--unset", "expected_output", "--as", "operator"], 5, "E120"),
    ] {
        let ran = store.run(&[&edit, args].concat());
        assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(word), "{args:?}: {}", ran.err);
    }
    assert_eq!(store.run(&["record", "edit", "nothing", "x", "--set", "a=1"]).code, 2);
    assert_eq!(store.run(&["record", "rm", "trips", "nobody"]).code, 2);
    assert_eq!(store.run(&["record", "rm", "trips", "tc-001", "--as", "evaluator"]).code, 5);
    assert_eq!(store.fine(&["cat", "trips"]), rows);
}

#[test]
fn a_split_that_only_gets_another_label_can_still_be_read() {
    let store = store();
    store.write("sealed.yaml", "default: evaluator_only\nsplits: {default: evaluator_only}\n");
    store.write("wider.yaml", "splits: {default: internal}\n");
    store.import("keys", "{\"id\":\"k\",\"q\":\"w\"}", &["--policy", "sealed.yaml", "--profile", "plain"]);
    store.fine(&["import", "keys", "--policy", "wider.yaml", "--declassify", "ids are known"]);
    for cite in ["keys@1", "keys@2"] {
        assert_eq!(store.fine(&["cat", cite]), "{\"id\":\"k\",\"q\":\"w\"}\n");
        assert_eq!(store.fine(&["record", cite, "k"]), "{\"id\":\"k\",\"q\":\"w\"}\n");
    }
    check_history(&store, &["keys", "k"], &[(1, "[1,2]", true)]);
    assert_eq!(store.fine(&["record", "keys", "k", "--as", "operator"]), "{\"id\":\"k\"}\n");
}
