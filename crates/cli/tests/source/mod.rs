//! `connector`, `credential` and `source`, with files and with a service on this machine.

mod pages;

use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use heldset_core::json;
use heldset_core::value::{Object, Value};

use crate::{Ran, Store, store};
use pages::Pages;

/// A secret that must be nowhere.
const SECRET: &str = "canary-secret-0815";

const OPEN: &str = r#"{"key":"T-1","fields":{"summary":"login fails","reporter":{"mail":"ann@example.org"}}}
{"key":"T-2","fields":{"summary":"mail bo@example.org back","reporter":{"mail":"bo@example.org"}}}
"#;

const DECLARED: &str = "connector_instance_id: exports
display_name: Open tickets
id_from: key
field_mappings: {fields.summary: title, fields.reporter.mail: reporter}
privacy: [{field: reporter, action: hash}, {field: title, action: redact, pattern: email}]
";

/// A store with a dataset, a connector to a file, and a source.
fn tickets() -> Store {
    let store = store();
    store.import("tickets", "{\"id\":\"old\",\"title\":\"imported\"}\n", &[]);
    store.write("open.jsonl", OPEN);
    store.write("source.yaml", DECLARED);
    store.fine(&["connector", "add", "exports", "--kind", "file", "--config", "{\"path\": \"open.jsonl\"}"]);
    store.fine(&["source", "add", "tickets", "source.yaml"]);
    store
}

fn object(text: &str) -> Object<'static> {
    let value = json::read(text.trim()).unwrap_or_else(|error| panic!("{error}: {text}")).into_owned();
    value.as_object().unwrap_or_else(|| panic!("{text}")).clone()
}

fn refused(store: &Store, args: &[&str], code: i32, part: &str) {
    let ran = store.run(args);
    assert!(ran.code == code && ran.err.contains(part), "{args:?}: {} {}{}", ran.code, ran.out, ran.err);
}

fn with_env(store: &Store, args: &[&str], (name, value): (&str, &str)) -> Ran {
    let mut command = Command::new(cargo_bin!("heldset"));
    command.current_dir(store.path()).env_remove("HELDSET_STORE").env("HELDSET_KEYS", store.path().join("keys"));
    let output = command.args(args).env(name, value).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn a_folder_of_exports_becomes_a_dataset() {
    let store = tickets();
    let preview = object(&store.fine(&["source", "preview", "tickets", "--json", "--limit", "1"]));
    let source = preview.get("sources").unwrap().as_array().unwrap()[0].as_object().unwrap().clone();
    assert_eq!(source.get("source_name"), Some(&Value::from("Open tickets")));
    let first = |name: &str| source.get(name).unwrap().as_array().unwrap()[0].clone();
    assert_eq!(first("source_data").as_object().unwrap().get("key"), Some(&Value::from("T-1")));
    assert_eq!(first("transformed_data").as_object().unwrap().get("title"), Some(&Value::from("login fails")));
    assert_eq!(first("transformations_applied"), Value::from("key → id"));
    let tested = object(&store.fine(&["source", "test", "tickets", "Open tickets", "--json"]));
    assert_eq!((tested.get("success"), tested.get("record_count")), (Some(&Value::Bool(true)), Some(&Value::from(2))));
    assert!(tested.contains("execution_time_ms") && tested.get("error") == Some(&Value::Null));
    let synced = object(&store.fine(&["source", "sync", "tickets", "--json"]));
    assert_eq!((synced.get("version"), synced.get("created")), (Some(&Value::from(2)), Some(&Value::Bool(true))));
    let rows = store.fine(&["cat", "tickets"]);
    assert_eq!(rows.lines().count(), 3, "{rows}");
    assert!(rows.contains("\"mail [redacted] back\"") && !rows.contains("@example"), "{rows}");
    let again = object(&store.fine(&["source", "sync", "tickets", "--json"]));
    assert_eq!((again.get("version"), again.get("created")), (Some(&Value::from(2)), Some(&Value::Bool(false))));
    let listed = store.fine(&["source", "ls", "tickets"]);
    assert!(listed.contains("into version 2"), "{listed}");
    for (_, bytes) in store.files(".heldset") {
        assert!(!bytes.windows(8).any(|window| window == b"@example"), "an address is at rest");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let store = tickets();
    refused(&store, &["connector", "add", "exports", "--kind", "file"], 2, "E116");
    refused(&store, &["connector", "add", "x", "--kind", "fil"], 2, "did you mean `file`?");
    refused(&store, &["connector", "add", "x", "--kind", "http", "--config", "{\"api_key\": \"k\"}"], 2, "E057");
    refused(&store, &["connector", "add", "x", "--kind", "http", "--config", "[1]"], 2, "a mapping, not a list");
    refused(&store, &["connector", "add", "x", "--kind", "http", "--config", "@nowhere"], 2, "E101");
    refused(&store, &["connector", "rm", "exports"], 2, "used by source `Open tickets` of `tickets`");
    refused(&store, &["connector", "rm", "export"], 2, "did you mean `exports`?");
    refused(&store, &["source", "add", "nowhere", "source.yaml"], 2, "there is no dataset `nowhere`");
    refused(&store, &["source", "add", "tickets", "source.yaml"], 2, "E116");
    store.write("two.yaml", "connector_instance_id: exports\nfield_mappings: {a: x, b: x}\n");
    refused(&store, &["source", "add", "tickets", "two.yaml"], 2, "`a` and `b` are both mapped to `x`");
    store.write("typo.yaml", "connector: exports\n");
    refused(&store, &["source", "add", "tickets", "typo.yaml"], 2, "E067");
    refused(&store, &["source", "test", "tickets", "Open ticket"], 2, "did you mean `Open tickets`?");
    refused(&store, &["source", "sync", "tickets", "--replay"], 2, "E076");
    refused(&store, &["source", "preview", "tickets", "--as", "operator"], 5, "E120");
    refused(&store, &["source", "ls", "tickets", "--as", "agent"], 5, "E120");
    let typo =
        "display_name: typo\nconnector_instance_id: exports\nid_from: key\nfield_mappings: {fields.sumary: title}\n";
    store.write("typo.yaml", typo);
    store.fine(&["source", "add", "tickets", "typo.yaml"]);
    let ran = store.run(&["source", "test", "tickets", "typo"]);
    assert!(
        ran.code == 0 && ran.err.contains("H006") && ran.err.contains("did you mean `fields.summary`?"),
        "{}",
        ran.err
    );
    store.fine(&["source", "rm", "tickets", "typo"]);
    std::fs::remove_file(store.path().join("open.jsonl")).unwrap();
    let ran = store.run(&["source", "test", "tickets", "--json"]);
    assert_eq!((ran.code, object(&ran.out).get("success")), (4, Some(&Value::Bool(false))), "{}", ran.out);
    let before = store.fine(&["cat", "tickets"]);
    assert_ne!(store.run(&["source", "sync", "tickets"]).code, 0);
    assert_eq!(store.fine(&["cat", "tickets"]), before);
}

#[test]
fn a_secret_is_in_no_answer_and_nowhere_at_rest() {
    let pages = Pages::serve(vec![vec![r#"{"id":"1","title":"a"}"#.to_owned()]]);
    let store = service(&pages);
    let set = ["credential", "set", "api", "--scope", "user", "--from-env", "token=TICKETS"];
    refused(&store, &set, 2, "the environment has no `TICKETS`");
    let mut answers = vec![with_env(&store, &set, ("TICKETS", SECRET))];
    assert_eq!(answers[0].code, 0, "{}", answers[0].err);
    for args in [
        &["source", "sync", "tickets"][..],
        &["source", "test", "tickets", "--json"],
        &["connector", "ls", "--json"],
        &["source", "ls", "tickets", "--json"],
        &["audit"],
        &["show", "tickets", "--json"],
    ] {
        answers.push(store.run(args));
    }
    assert_eq!(answers[1].code, 0, "{}", answers[1].err);
    assert!(pages.heard(&format!("Bearer {SECRET}")), "the service was asked with the secret");
    for ran in &answers {
        assert!(!ran.out.contains(SECRET) && !ran.err.contains(SECRET), "{}{}", ran.out, ran.err);
    }
    for part in [".heldset", "keys"] {
        for (path, bytes) in store.files(part) {
            let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    let ran = crate::heldset_with(store.path(), &["credential", "set", "api", "--scope", "user"], SECRET.into());
    assert!(ran.code == 2 && !ran.err.contains(SECRET), "{}", ran.err);
    let declared = "connector_instance_id: api\ndisplay_name: team\ncredential_scope_type: team\ncredential_scope_id: red\noperation_config: {path: /items}\n";
    store.write("team.yaml", declared);
    store.fine(&["source", "add", "tickets", "team.yaml"]);
    refused(&store, &["source", "sync", "tickets", "team"], 5, "error[E074]");
    store.fine(&["source", "rm", "tickets", "team"]);
}

/// A store with a dataset that is filled from a service.
fn service(pages: &Pages) -> Store {
    let store = store();
    store.import("tickets", "{\"id\":\"old\",\"title\":\"imported\"}\n", &[]);
    let config = format!("{{\"url\": \"{}\", \"allow\": [\"127.0.0.1\"]}}", pages.url());
    store.fine(&["connector", "add", "api", "--kind", "http", "--config", &config]);
    let declared = "connector_instance_id: api\ndisplay_name: Tickets\noperation_config:\n  path: /items\n  pagination: {kind: page}\n";
    store.write("source.yaml", declared);
    store.fine(&["source", "add", "tickets", "source.yaml"]);
    store
}

#[test]
fn a_sync_that_was_killed_goes_on_and_loses_and_doubles_nothing() {
    let row = |id: usize| format!("{{\"id\":\"r{id:03}\",\"title\":\"row {id}\"}}");
    let pages = Pages::serve((0..6).map(|page| (page * 10..page * 10 + 10).map(row).collect()).collect());
    let store = service(&pages);
    for held_at in [2, 4] {
        pages.hold_at(held_at);
        let mut command = Command::new(cargo_bin!("heldset"));
        command.current_dir(store.path()).env_remove("HELDSET_STORE").env("HELDSET_KEYS", store.path().join("keys"));
        let mut child =
            command.args(["source", "sync", "tickets"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        pages.wait_until_held();
        // Pages before are fetched; those that are in the journal by now are kept.
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(store.fine(&["cat", "tickets"]).lines().count(), 1, "nothing was registered");
    }
    pages.let_go();
    let synced = object(&store.fine(&["source", "sync", "tickets", "--json"]));
    let source = synced.get("sources").unwrap().as_array().unwrap()[0].as_object().unwrap().clone();
    assert_eq!(source.get("rows"), Some(&Value::from(60)));
    let rows = store.fine(&["cat", "tickets"]);
    let ids: std::collections::BTreeSet<&str> = rows.lines().filter_map(|line| line.split('"').nth(3)).collect();
    assert_eq!((rows.lines().count(), ids.len()), (61, 61), "{rows}");
    assert_eq!(store.files(".heldset/runs").len(), 0, "the journal is gone");
}

#[test]
fn a_stream_is_replayed_when_the_service_is_gone() {
    let pages = Pages::serve(vec![vec![r#"{"id":"1"}"#.to_owned()], vec![r#"{"id":"2"}"#.to_owned()]]);
    let store = service(&pages);
    let streamed = object(&store.fine(&["source", "sync", "tickets", "--stream", "--cache-pages", "--json"]));
    assert_eq!(streamed.get("replay"), Some(&Value::from("exact")));
    assert_eq!(streamed.get("mode"), Some(&Value::from("remote_streamed")));
    let shown = store.fine(&["show", "tickets"]);
    assert!(shown.contains("replay        exact"), "{shown}");
    assert!(store.fine(&["show", "tickets", "--json"]).contains("\"snapshot_time\""));
    drop(pages);
    let replayed = object(&store.fine(&["source", "sync", "tickets", "--replay", "--json"]));
    assert_eq!((replayed.get("created"), replayed.get("digest")), (Some(&Value::Bool(false)), streamed.get("digest")));
    assert_ne!(store.run(&["source", "sync", "tickets"]).code, 0);
}

#[test]
fn a_full_disk_keeps_what_was_there_and_the_sync_goes_on_when_there_is_room() {
    let store = Store { folder: tempfile::tempdir().unwrap() };
    let Some(_disk) = crate::full_disk::Disk::mount(&store.path().join("disk"), "8m") else { return };
    let run = |args: &[&str]| store.run(&[&["--store", "disk/store", "-q"], args].concat());
    let fine = |args: &[&str]| {
        let ran = run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.out, ran.err);
        ran.out
    };
    fine(&["init", "disk/store"]);
    store.write("rows.jsonl", "{\"id\":\"old\",\"text\":\"imported\"}\n");
    fine(&["import", "tickets", "rows.jsonl"]);
    let row = |id: usize| format!("{{\"id\":\"r{id}\",\"text\":\"{}\"}}\n", "word ".repeat(50));
    store.write("big.jsonl", &(0..9000).map(row).collect::<String>());
    fine(&["connector", "add", "big", "--kind", "file", "--config", "{\"path\": \"big.jsonl\"}"]);
    store.write("source.yaml", "connector_instance_id: big\n");
    fine(&["source", "add", "tickets", "source.yaml"]);
    let before = fine(&["cat", "tickets"]);
    store.write("disk/ballast", &"x".repeat(6 << 20));
    let ran = run(&["source", "sync", "tickets"]);
    assert!(ran.code == 2 && ran.err.contains("E104"), "{}{}", ran.out, ran.err);
    std::fs::remove_file(store.path().join("disk/ballast")).unwrap();
    assert_eq!(fine(&["cat", "tickets"]), before);
    fine(&["source", "sync", "tickets"]);
    assert_eq!(fine(&["cat", "tickets"]).lines().count(), 9001);
}
