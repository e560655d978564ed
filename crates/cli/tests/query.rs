//! `heldset query` and `heldset sql` from outside, over a real store.

use heldset_core::json;
use heldset_core::value::{Object, Value};

use crate::{Store, store};

const ROWS: &str = r#"{"id":"a","input":"one","expected_output":"A","category":"hotel","score":0.9,"tags":["x","y"],"created_at":"2025-01-03T00:00:00Z","note":null}
{"id":"b","input":"two","expected_output":"B","category":"hotel","score":0.2,"metadata":{"weights":{"c":1.5}},"created_at":"2025-01-01T00:00:00Z"}
{"id":"c","input":"three","expected_output":"C","category":"rail","score":1,"tags":["x"],"created_at":"2025-01-02T00:00:00Z"}
{"id":"10","input":"ten","expected_output":"D","category":"rail","score":9007199254740993,"created_at":"2025-01-02T01:00:00+01:00"}
"#;

fn with_rows() -> Store {
    let store = store();
    store.import("trips", ROWS, &[]);
    store
}

fn ask(store: &Store, args: &[&str]) -> Object<'static> {
    let out = store.fine(&[&["query", "--json"], args].concat());
    let Value::Object(object) = json::read(&out).unwrap().into_owned() else { panic!("{out}") };
    object
}

fn ids(answer: &Object<'_>) -> String {
    let rows = answer.get("rows").unwrap().as_array().unwrap();
    let id = |row: &Value<'_>| row.as_object().unwrap().get("id").unwrap().as_str().unwrap().to_owned();
    rows.iter().map(id).collect::<Vec<_>>().join(" ")
}

#[test]
fn filters_sorts_and_pages_are_answered_with_the_version() {
    let store = with_rows();
    for (args, expected) in [
        (&["trips"][..], "10 a b c"),
        (&["trips", "--where", "category = \"hotel\" and score > 0.8"], "a"),
        (&["trips", "--where", "score >= 9007199254740993"], "10"),
        (&["trips", "--where", "tags contains \"x\" or metadata.weights.c = 1.5"], "a b c"),
        (
            &["trips", "--filter", r#"{"field":"category","operator":"eq","value":"rail"}"#, "--sort", "-created_at"],
            "10 c",
        ),
        (&["trips", "--sort", "-score", "--limit", "2"], "10 c"),
        (&["trips", "--sort", "created_at", "--offset", "1"], "10 c a"),
        (&["trips", "--where", "id = 10"], "10"),
        (&["trips", "--where", "note is null and id in (\"a\", \"b\")"], "a b"),
    ] {
        assert_eq!(ids(&ask(&store, args)), expected, "{args:?}");
    }
    let answer =
        ask(&store, &["trips", "--where", "category = \"rail\"", "--limit", "1", "--fields", "id,metadata.weights"]);
    let shown = store.fine(&["show", "trips", "--json"]);
    let digest = json::read(&shown).unwrap().as_object().unwrap().get("digest").unwrap().clone().into_owned();
    assert_eq!(answer.get("digest"), Some(&digest));
    for (name, expected) in
        [("total", "2"), ("returned", "1"), ("version", "1"), ("rows", r#"[{"id":"10","metadata.weights":null}]"#)]
    {
        assert_eq!(answer.get(name), Some(&json::read(expected).unwrap()), "{name}");
    }
}

/// Records come out whole: nulls that are written, integers that no double holds.
#[test]
fn rows_are_the_records_themselves() {
    let store = with_rows();
    let rows: Vec<Value<'static>> =
        store.fine(&["query", "trips"]).lines().map(|line| json::read(line).unwrap().into_owned()).collect();
    let mut kept: Vec<Value<'static>> =
        store.fine(&["cat", "trips"]).lines().map(|line| json::read(line).unwrap().into_owned()).collect();
    kept.sort_by_key(|row| row.as_object().unwrap().get("id").unwrap().as_str().unwrap().to_owned());
    let canonical = |rows: &[Value<'static>]| rows.iter().map(heldset_core::canonical::bytes).collect::<Vec<_>>();
    assert_eq!(canonical(&rows), canonical(&kept));
}

#[test]
fn pages_follow_each_other_by_cursor() {
    let store = with_rows();
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut args = vec!["trips", "--sort", "-created_at", "--limit", "1"];
        if let Some(cursor) = &cursor {
            args.extend(["--cursor", cursor]);
        }
        let answer = ask(&store, &args);
        seen.push(ids(&answer));
        match answer.get("next_cursor").unwrap().as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, ["a", "10", "c", "b"]);
    let first = ask(&store, &["trips", "--limit", "1"]);
    let cursor = first.get("next_cursor").unwrap().as_str().unwrap();
    let forged = format!("{}2{}", &cursor[..15], &cursor[16..]);
    for args in [
        &["query", "trips", "--cursor", &forged][..],
        &["query", "trips", "--cursor", cursor, "--sort", "score"],
        &["query", "trips", "--cursor", cursor, "--as", "agent"],
        &["query", "trips", "--cursor", "made up"],
    ] {
        let refused = store.run(args);
        assert_eq!(refused.code, 2, "{args:?}");
        assert!(refused.err.contains("error[E065]"), "{args:?}");
    }
}

/// What cannot be seen is unknown, in the same words as what does not exist.
#[test]
fn an_invisible_field_is_unknown() {
    let store = with_rows();
    for option in [&["--where", "FIELD is not null"][..], &["--sort", "FIELD"], &["--fields", "FIELD"]] {
        let told = |field: &str| {
            let args: Vec<String> = option.iter().map(|part| part.replace("FIELD", field)).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let refused = store.run(&[&["query", "trips", "--as", "agent"], &args[..]].concat());
            assert_eq!(refused.code, 2, "{args:?}");
            assert!(refused.out.is_empty());
            refused.err.replace(field, "FIELD")
        };
        let told = (told("expected_output"), told("unexpected_output"));
        assert_eq!(told.0, told.1);
        assert!(told.0.contains("error[E062]"), "{}", told.0);
    }
    let seen = store.fine(&["query", "trips", "--as", "agent", "--where", "input contains \"t\""]);
    assert_eq!(
        seen,
        "{\"id\":\"10\",\"input\":\"ten\"}\n{\"id\":\"b\",\"input\":\"two\"}\n{\"id\":\"c\",\"input\":\"three\"}\n"
    );
    let refused = store.run(&["sql", "select expected_output from trips", "--as", "agent"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("has no field `expected_output`"));
}

#[test]
fn what_makes_no_sense_is_told() {
    let store = with_rows();
    for (args, code, words) in [
        (&["query", "trips", "--where", "catgory = \"x\""][..], "E062", "did you mean `category`?"),
        (&["query", "trips", "--where", "score > \"high\""], "E063", "`score` is of type number"),
        (&["query", "trips", "--where", "category > 3"], "E063", "`category` is of type string"),
        (&["query", "trips", "--where", "score contains \"1\""], "E063", "`contains` is for text"),
        (&["query", "trips", "--where", "category = hotel"], "E064", "put text in quotes"),
        (&["query", "trips", "--filter", "{"], "E052", "not JSON"),
        (&["query", "trips", "--limit", "10001"], "E064", "at most 10000"),
        (&["query", "nowhere"], "E102", "there is no dataset `nowhere`"),
        (&["query", "trips", "--split", "tset"], "E102", "has no split `tset`"),
        (&["sql", "drop table trips"], "E066", "something else than read"),
        (&["sql", "select 1; select 2"], "E066", "2 statements"),
        (&["sql", "selec 1"], "E064", "selec"),
        (&["sql", "select * from nowhere"], "E102", "there is no dataset `nowhere`"),
    ] {
        let refused = store.run(args);
        let said = refused.err;
        assert_eq!(refused.code, 2, "{args:?}: {said}");
        assert!(said.contains(code) && said.contains(words), "{args:?}: {said}");
    }
}

#[test]
fn statements_join_versions_and_the_log() {
    let store = with_rows();
    store.fine(&["record", "edit", "trips", "a", "--set", "category=boat"]);
    let joined = "select n.id, o.category as before, n.category from trips n join \"trips@1\" o on n.id = o.id where n.category <> o.category";
    let out = store.fine(&["sql", joined, "--json"]);
    let answer = json::read(&out).unwrap();
    assert_eq!(
        answer.as_object().unwrap().get("rows"),
        Some(&json::read(r#"[["a","hotel","boat"]]"#).unwrap()),
        "{out}"
    );
    let log = ask(&store, &["access-log", "--where", "purpose = \"query\" and allowed = true", "--fields", "dataset"]);
    assert_eq!(log.get("rows").unwrap().as_array().unwrap().len(), 2, "{log:?}");
}
