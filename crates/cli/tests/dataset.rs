//! `heldset dataset`: fields, lifecycle, certification, and what a status keeps from being used.

use heldset_core::json;
use heldset_core::value::Value;

use crate::{Ran, Store, store};

/// The value at the end of these keys.
fn at(text: &str, keys: &[&str]) -> Value<'static> {
    let mut value = json::read(text.trim()).unwrap_or_else(|_| panic!("{text}")).into_owned();
    for key in keys {
        value = value.as_object().and_then(|object| object.get(key)).cloned().unwrap_or(Value::Null);
    }
    value
}

fn text_at(text: &str, key: &str) -> String {
    at(text, &[key]).as_str().unwrap_or_default().to_owned()
}

/// A store with records that could be published.
fn ready() -> Store {
    let kept = store();
    kept.import(
        "trips",
        "{\"id\":\"1\",\"city\":\"Graz\"}\n",
        &["--license", "MIT", "--provenance", "imported_from=a list"],
    );
    kept
}

fn refused(kept: &Store, args: &[&str], code: &str, exit: i32) -> Ran {
    let ran = kept.run(args);
    assert!(ran.code == exit && ran.err.contains(code), "{args:?}: {} {}{}", ran.code, ran.out, ran.err);
    ran
}

#[test]
fn a_dataset_is_created_shown_and_listed_without_a_version() {
    let kept = store();
    kept.file(
        "d.yaml",
        "name: Support tickets\nslug: support-tickets\ntags: [evaluation]\ncategories: [agent-testing]\n",
    );
    let made = kept.fine(&["dataset", "create", "d.yaml", "--team", "support", "--json"]);
    assert_eq!(text_at(&made, "status"), "draft");
    assert_eq!(text_at(&made, "id").len(), 36);
    assert_eq!(text_at(&made, "owner_id").len(), 36);
    assert_eq!(text_at(&made, "etag").len(), 32);
    assert_eq!(at(&made, &["version"]), Value::Null);
    assert_eq!(text_at(&kept.fine(&["dataset", "show", &text_at(&made, "id"), "--json"]), "slug"), "support-tickets");
    assert!(kept.fine(&["show", "support-tickets"]).contains("status              draft"));
    assert_eq!(text_at(&kept.fine(&["show", "support-tickets", "--json"]), "dataset"), "support-tickets");
    for (filter, lines) in [
        (&["--status", "draft"][..], 1),
        (&["--status", "active"], 0),
        (&["--tag", "evaluation", "--category", "agent-testing", "--team", "support", "--text", "TICKETS"], 1),
        (&["--tag", "other"], 0),
    ] {
        assert_eq!(kept.fine(&[&["dataset", "ls"], filter].concat()).lines().count(), lines, "{filter:?}");
        assert_eq!(kept.fine(&[&["ls"], filter].concat()).lines().count(), lines, "{filter:?}");
    }
    let taken = refused(&kept, &["dataset", "create", "d.yaml"], "E116", 2);
    assert!(taken.err.contains("there is a dataset `support-tickets` already"));
    // The first import makes it active, with what was said of it before.
    kept.import("support-tickets", "{\"id\":\"1\"}\n", &[]);
    let shown = kept.fine(&["show", "support-tickets", "--json"]);
    assert_eq!(text_at(&shown, "status"), "active");
    assert_eq!(text_at(&shown, "team"), "support");
    assert_eq!(text_at(&shown, "name"), "Support tickets");
}

#[test]
fn the_first_version_of_what_was_described_brings_its_profile() {
    let kept = store();
    kept.fine(&["dataset", "create", "--name", "Some set", "--slug", "some-set"]);
    let row = |id: &str| format!("{{\"id\":\"{id}\",\"input\":\"q\",\"expected_output\":\"sealed\"}}\n");
    kept.import("some-set", &row("1"), &[]);
    assert_eq!(text_at(&kept.fine(&["show", "some-set", "--json"]), "profile"), "case");
    kept.import("some-set", &row("2"), &["--upsert"]);
    assert!(!kept.fine(&["cat", "some-set", "--as", "agent"]).contains("sealed"));
    let ran = kept.run(&["dataset", "show", "some-set@1"]);
    assert!(ran.code == 2 && ran.err.contains("E105") && ran.err.contains("write `some-set`"), "{}", ran.err);
}

#[test]
fn validate_tells_every_error_and_writes_nothing() {
    let kept = store();
    kept.import("trips", "{\"id\":\"1\"}\n", &[]);
    let fields =
        r#"{"name":"ab","slug":"trips","tags":"x","owner":"me","status":"published","certification_level":"gold"}"#;
    let ran = kept.file("d.json", fields).run(&["dataset", "validate", "d.json", "--json"]);
    assert_eq!(ran.code, 3);
    assert_eq!(at(&ran.out, &["valid"]), Value::Bool(false));
    let errors = at(&ran.out, &["errors"]);
    let fields: Vec<_> = errors
        .as_array()
        .unwrap()
        .iter()
        .map(|error| at(&String::from_utf8(heldset_core::canonical::bytes(error)).unwrap(), &["field"]))
        .collect();
    for field in ["name", "slug", "tags", "owner", "status", "certification_level"] {
        assert!(fields.contains(&Value::from(field)), "{field}: {}", ran.out);
    }
    assert!(ran.out.contains("did you mean `owner_id`?"), "{}", ran.out);
    let words = kept.run(&["dataset", "validate", "d.json"]);
    assert!(
        words.code == 3 && words.out == "not valid: 6 errors\n" && words.err.contains("error[E046]"),
        "{}",
        words.err
    );
    let fine = kept.fine(&["dataset", "validate", "--name", "Support tickets", "--slug", "support-tickets", "--json"]);
    assert_eq!(fine, "{\"valid\":true,\"errors\":[]}\n");
    assert_eq!(kept.fine(&["ls"]).lines().count(), 1);
    refused(&kept, &["dataset", "create", "d.json"], "E046", 3);
    assert!(kept.run(&["dataset", "create", "d.json", "--json"]).out.contains("\"errors\":[{\"code\":\"E046\""));
    refused(
        &kept,
        &["dataset", "create", "--name", "New set", "--slug", "new-set", "--set", "status=active"],
        "E048",
        3,
    );
    refused(
        &kept,
        &["dataset", "create", "--name", "New set", "--slug", "new-set", "--set", "status=archived"],
        "E047",
        2,
    );
    assert_eq!(kept.fine(&["dataset", "validate", "--update", "--set", "quality_score=0.9"]), "valid\n");
}

#[test]
fn an_update_changes_what_is_named_and_never_what_somebody_else_changed() {
    let kept = ready();
    let before = text_at(&kept.fine(&["dataset", "show", "trips", "--json"]), "etag");
    let set =
        ["dataset", "update", "trips", "--set", "team=maps", "--tag", "a", "--retention", "until=2030-01-01", "--json"];
    let after = kept.fine(&[&set[..], &["--if-match", &before]].concat());
    assert_eq!(text_at(&after, "team"), "maps");
    assert_eq!(at(&after, &["retention", "until"]), Value::from("2030-01-01"));
    assert_ne!(text_at(&after, "etag"), before);
    let stale = refused(&kept, &["dataset", "update", "trips", "--set", "team=x", "--if-match", &before], "E078", 2);
    assert!(stale.err.contains(&text_at(&after, "etag")));
    let cleared = kept.fine(&["dataset", "update", "trips", "--set", "team=null", "--json"]);
    assert_eq!(at(&cleared, &["team"]), Value::Null);
    refused(&kept, &["dataset", "update", "trips", "--set", "slug=journeys"], "E046", 3);
    refused(&kept, &["dataset", "update", "trips", "--set", "name=null"], "E046", 3);
    refused(&kept, &["dataset", "update", "trips"], "E105", 2);
    let unknown = refused(&kept, &["dataset", "update", "trip", "--set", "team=x"], "E102", 2);
    assert!(unknown.err.contains("did you mean `trips`?"));
    refused(&kept, &["dataset", "update", "trips", "--set", "team=x", "--as", "evaluator"], "E120", 5);
}

#[test]
fn what_is_declared_stands_beside_what_is_computed() {
    let kept = ready();
    let ran = kept.run(&["dataset", "update", "trips", "--set", "record_count=5", "--set", "quality_score=0.75"]);
    assert!(
        ran.code == 0 && ran.err.contains("H007") && ran.err.contains("declared as 5, and 1 is computed"),
        "{}",
        ran.err
    );
    let shown = kept.fine(&["dataset", "show", "trips", "--json"]);
    assert_eq!(at(&shown, &["record_count"]), Value::from(5));
    assert_eq!(at(&shown, &["computed", "record_count"]), Value::from(1));
    assert_eq!(at(&shown, &["declared", "quality_score"]), at("0.75", &[]));
    assert!(shown.contains("\"warnings\""));
    let right = kept.run(&["dataset", "update", "trips", "--set", "record_count=1"]);
    assert!(right.code == 0 && !right.err.contains("H007"), "{}", right.err);
}

#[test]
fn a_dataset_is_certified_used_and_retired() {
    let kept = store();
    kept.import("trips", "{\"id\":\"1\",\"city\":\"Graz\"}\n", &[]);
    let lacking = refused(&kept, &["dataset", "status", "trips", "published"], "E048", 3);
    assert!(lacking.err.contains("it lacks a license, provenance"), "{}", lacking.err);
    let wrong = refused(&kept, &["dataset", "status", "trips", "deprecated"], "E047", 2);
    assert!(wrong.err.contains("from `active` it can become `published` or `archived`"), "{}", wrong.err);
    let typo = refused(&kept, &["dataset", "status", "trips", "publshed"], "E102", 2);
    assert!(typo.err.contains("did you mean `published`?"));
    kept.fine(&["dataset", "update", "trips", "--set", "license=MIT"]);
    kept.fine(&["import", "trips", "--provenance", "imported_from=a list", "-q"]);
    let published = kept.fine(&["dataset", "status", "trips", "published", "--json"]);
    assert_eq!(
        (text_at(&published, "status"), text_at(&published, "certification_level")),
        ("published".into(), "bronze".into())
    );
    assert_eq!(
        kept.fine(&["dataset", "status", "trips"]),
        "trips is published, certified bronze (can become active or deprecated)\n"
    );
    // A new version is another thing than the one that was certified.
    kept.import("trips", "{\"id\":\"2\",\"city\":\"Linz\"}\n", &[]);
    assert_eq!(kept.fine(&["dataset", "status", "trips"]), "trips is active (can become published or archived)\n");
    kept.fine(&["dataset", "status", "trips", "published", "--certification", "silver"]);
    kept.fine(&["dataset", "status", "trips", "deprecated"]);
    kept.fine(&["cat", "trips"]);
    kept.file("plan.yaml", "apiVersion: heldset/v1\nkind: Experiment\nname: one\ndataset: {ref: trips}\ntarget: {kind: echo}\nscenarios: [{id: base}]\ngraders: {p: {kind: tool, function: ascii_printable_only}}\n");
    let ran = kept.run(&["run", "plan.yaml", "--dry-run"]);
    assert!((ran.out + &ran.err).contains("dataset `trips` is deprecated"));
    kept.fine(&["dataset", "status", "trips", "archived"]);
    for args in [
        &["cat", "trips"][..],
        &["run", "plan.yaml"],
        &["export", "trips", "--to", "jsonl"],
        &["mount", "trips", "out"],
        &["record", "trips", "2"],
    ] {
        let ran = refused(&kept, args, "E075", 2);
        assert!(ran.err.contains("dataset `trips` is archived"), "{args:?}: {}", ran.err);
    }
    kept.file("rows.jsonl", "{\"id\":\"3\"}\n");
    refused(&kept, &["import", "trips", "rows.jsonl"], "E075", 2);
    assert!(
        kept.fine(&["show", "trips"]).contains("archived") && kept.fine(&["history", "trips"]).lines().count() == 3
    );
    assert!(refused(&kept, &["dataset", "status", "trips", "active"], "E047", 2).err.contains("nothing follows it"));
}

#[test]
fn a_draft_is_not_run() {
    let kept = store();
    kept.fine(&["dataset", "create", "--name", "Some set", "--slug", "some-set"]);
    kept.file("plan.yaml", "apiVersion: heldset/v1\nkind: Experiment\nname: one\ndataset: {ref: some-set}\ntarget: {kind: echo}\nscenarios: [{id: base}]\ngraders: {p: {kind: tool, function: ascii_printable_only}}\n");
    let ran = refused(&kept, &["run", "plan.yaml"], "E075", 2);
    assert!(ran.err.contains("it has no version yet"), "{}", ran.err);
    let lacking = refused(&kept, &["dataset", "status", "some-set", "active"], "E048", 3);
    assert!(lacking.err.contains("it lacks a schema, a source or a version"), "{}", lacking.err);
}

#[test]
fn gold_needs_two_reviews_and_no_open_findings() {
    let kept = store();
    let answer = "the nile is six thousand six hundred and fifty kilometres long";
    kept.import(
        "questions",
        &format!("{{\"id\":\"q1\",\"input\":\"how long\",\"expected_output\":\"{answer}\"}}\n"),
        &[],
    );
    kept.fine(&["dataset", "update", "questions", "--set", "license=MIT"]);
    kept.fine(&["import", "questions", "--provenance", "imported_from=a quiz", "-q"]);
    kept.file("leaked.txt", format!("they say that {answer}"));
    assert_eq!(kept.run(&["scan", "leaked.txt"]).code, 1);
    let gold = ["dataset", "status", "questions", "published", "--certification", "gold"];
    let lacking = refused(&kept, &gold, "E048", 3);
    assert!(lacking.err.contains("a review by two principals, a clean scan"), "{}", lacking.err);
    for user in ["ada", "bob"] {
        let reviewed = kept.run_as(user, &["dataset", "review", "questions", "-m", "looks right"]);
        assert_eq!(reviewed.code, 0, "{}", reviewed.err);
    }
    assert!(kept.fine(&["dataset", "review", "questions", "--json"]).matches("\"principal\"").count() >= 3);
    assert!(refused(&kept, &gold, "E048", 3).err.contains("it lacks a clean scan"));
    kept.file("other.txt", "nothing here").fine(&["scan", "other.txt"]);
    refused(&kept, &gold, "E048", 3);
    kept.file("leaked.txt", "nothing any more").fine(&["scan", "leaked.txt"]);
    assert!(kept.fine(&gold).contains("certified gold"));
}

#[test]
fn data_lies_in_its_region() {
    let kept = Store { folder: tempfile::tempdir().unwrap() };
    kept.fine(&["init", "--quiet", "--region", "eu-west-1"]);
    let create = |slug: &'static str, residency: &'static str| {
        kept.run(&["dataset", "create", "--name", "Some set", "--slug", slug, "--set", residency])
    };
    assert_eq!(create("some-set", "data_residency=eu").code, 0);
    let ran = create("other-set", "data_residency=us");
    assert!(
        ran.code == 5 && ran.err.contains("E049") && ran.err.contains("this store lies in `eu-west-1`"),
        "{}",
        ran.err
    );
    refused(&kept, &["dataset", "update", "some-set", "--set", "data_residency=us"], "E049", 5);
    refused(&kept, &["init", "--change", "--region", "us"], "E049", 5);
    kept.file("rows.jsonl", "{\"id\":\"1\"}\n").file("dataset.yaml", "apiVersion: heldset/v1\nkind: Dataset\nmetadata: {name: Far away, slug: far-away, data_residency: us}\nspec: {source: rows.jsonl}\n");
    refused(&kept, &["register", "dataset.yaml"], "E049", 5);
    kept.import("some-set", "{\"id\":\"1\"}\n", &[]);
}

#[test]
fn policy_tags_go_along_and_keep_others_from_exporting() {
    let kept = store();
    kept.import("people", "{\"id\":\"1\",\"city\":\"Graz\"}\n", &[]);
    kept.fine(&["dataset", "update", "people", "--policy-tag", "pii"]);
    kept.import(
        "made",
        "{\"id\":\"1\",\"city\":\"Graz\"}\n",
        &["--mode", "generated", "--parent", "people", "--run", "r", "--code", "c"],
    );
    for slug in ["people", "made"] {
        let ran = refused(&kept, &["export", slug, "--to", "jsonl", "--as", "trainer"], "E120", 5);
        assert!(ran.err.contains("`pii`"), "{}", ran.err);
        kept.fine(&["export", slug, "--to", "jsonl"]);
        kept.fine(&["export", slug, "--to", "jsonl", "--as", "operator"]);
    }
}

#[test]
fn deletion_is_said_as_far_as_it_is_true() {
    let kept = ready();
    let say = |state: &'static str| ["dataset", "update", "trips", "--set", state];
    refused(&kept, &say("deletion_status=erased"), "E047", 2);
    kept.fine(&say("deletion_status=requested"));
    assert!(refused(&kept, &say("deletion_status=erased"), "E048", 3).err.contains("heldset gc"));
    kept.fine(&["verify"]);
    kept.fine(&say("deletion_status=none"));
    kept.fine(&["dataset", "update", "trips", "--retention", "until=2020-01-01"]);
    kept.fine(&["gc"]);
    assert!(kept.fine(&["ls", "--json"]).contains("\"mode\":\"erased\""));
    assert_eq!(text_at(&kept.fine(&["dataset", "show", "trips", "--json"]), "deletion_status"), "erased");
}
