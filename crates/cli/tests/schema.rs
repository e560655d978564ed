//! `heldset schema` from outside.

use heldset_core::json;
use heldset_core::value::Value;

use crate::{Ran, Store, heldset, store};

const FIRST: &str = r#"{"schema_definition":{"fields":[
    {"name":"question","type":"string","description":"User prompt","required":true},
    {"name":"level","type":"enum","values":["easy","hard"]},
    {"name":"score","type":"number"}]},
    "change_type":"non_breaking","change_summary":"Initial schema definition"}"#;

const ROWS: &str = "{\"id\":\"a\",\"question\":\"x\",\"level\":\"easy\",\"score\":1}\n\
                    {\"id\":\"b\",\"question\":\"y\",\"score\":0.5}\n";

fn with_schema() -> Store {
    let store = store();
    store.import("trips", ROWS, &[]);
    store.file("first.json", FIRST).fine(&["schema", "register", "trips", "first.json"]);
    store
}

/// The member of an answer that a path names.
#[track_caller]
fn at(text: &str, path: &str) -> Value<'static> {
    let value = json::read(text).unwrap_or_else(|error| panic!("{error}: {text}")).into_owned();
    path.split('.').filter(|step| !step.is_empty()).fold(value, |value, step| match value {
        Value::Array(items) => items[step.parse::<usize>().unwrap()].clone(),
        Value::Object(object) => object.get(step).unwrap_or_else(|| panic!("no {path} in {text}")).clone(),
        other => panic!("{path}: {other:?}"),
    })
}

fn value(text: &str) -> Value<'static> {
    json::read(text).unwrap().into_owned()
}

/// A command that must be refused.
#[track_caller]
fn refused(store: &Store, args: &[&str], code: i32, name: &str, message: &str) {
    let ran: Ran = store.run(&[args, &["--json"]].concat());
    assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
    assert_eq!(at(&ran.out, "error.code"), Value::from(name), "{}", ran.out);
    let told = at(&ran.out, "error.message");
    assert!(told.as_str().unwrap().contains(message), "{args:?}: {told:?}");
}

#[test]
fn columns_of_cases_get_the_registered_types() {
    let store = store();
    store.file("table.csv", "id,input,score,tags\na,x,0.25,[]\n").fine(&["import", "cases", "table.csv", "-q"]);
    store.file("s.json", r#"{"fields":[{"name":"score","type":"number"},{"name":"input","type":"string"}]}"#);
    store.fine(&["schema", "register", "cases", "s.json"]);
    store.fine(&["import", "cases", "table.csv", "-q"]);
    let row = store.fine(&["cat", "cases"]);
    assert_eq!(value(&row), value(r#"{"id":"a","input":"x","score":0.25,"tags":[]}"#));
}

#[test]
fn a_schema_is_registered_with_its_computed_change() {
    let store = with_schema();
    store.file("next.yaml", "fields:\n- {name: question, type: string}\n- {name: score, type: integer}\n");
    refused(
        &store,
        &["schema", "register", "trips", "next.yaml", "--claim", "non_breaking"],
        2,
        "E061",
        "it breaks `level` (removed: `enum<easy,hard>` is gone); `score` (type: `number` becomes `integer`)",
    );
    let out = store.fine(&["schema", "register", "trips", "next.yaml", "--summary", "whole points", "--json"]);
    for (path, expected) in [
        ("dataset", r#""trips""#),
        ("schema_version", "2"),
        ("change_type", r#""breaking""#),
        ("change_summary", r#""whole points""#),
        ("changes.0.field", r#""question""#),
        ("changes.0.change", r#""optional""#),
        ("changes.0.breaking", "false"),
        ("changes.2.field", r#""level""#),
        ("changes.2.breaking", "true"),
    ] {
        assert_eq!(at(&out, path), value(expected), "{path}: {out}");
    }
    let out = store.fine(&["schema", "register", "trips", "next.yaml", "--claim", "breaking", "--json"]);
    assert_eq!((at(&out, "change_type"), at(&out, "changes")), (Value::from("breaking"), value("[]")));
    let out = store.fine(&["schema", "history", "trips", "--json"]);
    for (path, expected) in [
        ("0.schema_version", "1"),
        ("0.change_type", r#""non_breaking""#),
        ("0.change_summary", r#""Initial schema definition""#),
        ("1.change_type", r#""breaking""#),
        ("2.change_type", r#""breaking""#),
        ("1.schema_definition.fields.1.type", r#""integer""#),
    ] {
        assert_eq!(at(&out, path), value(expected), "{path}: {out}");
    }
    assert_eq!(store.fine(&["schema", "history", "trips"]).lines().count(), 3);
}

#[test]
fn schemas_are_compared_and_shown() {
    let store = with_schema();
    let one = store.run(&["schema", "diff", "trips"]);
    assert!(one.code == 2 && one.err.contains("has one schema"), "{}", one.err);
    store.file("next.json", FIRST.replace("\"hard\"", "\"hard\",\"brutal\""));
    store.fine(&["schema", "register", "trips", "next.json"]);
    for args in [&["trips"][..], &["trips@1"], &["trips@1", "trips@2"], &["trips", "1", "2"], &["trips@1", "2"]] {
        let ran = store.run(&[&["schema", "diff", "--json"], args].concat());
        assert_eq!((ran.code, at(&ran.out, "schema")), (1, Value::from("non_breaking")), "{args:?}: {}", ran.out);
        assert_eq!(at(&ran.out, "changes.0.change"), Value::from("values_added"));
    }
    assert_eq!(store.run(&["schema", "diff", "trips@2", "trips@2"]).code, 0);
    let shown = store.fine(&["schema", "show", "trips"]);
    assert!(shown.contains("level     enum<easy,hard,brutal>\n"), "{shown}");
    assert!(shown.contains("question  string, required  User prompt\n"), "{shown}");
    let as_json = store.fine(&["schema", "show", "trips@1", "--as-json-schema"]);
    assert_eq!(at(&as_json, "properties.level.enum"), value(r#"["easy","hard",null]"#));
    assert_eq!(at(&as_json, "required"), value(r#"["question"]"#));
    store.file("again.json", &as_json).fine(&["schema", "register", "trips", "again.json"]);
    let ran = store.run(&["schema", "diff", "trips@1", "trips@3"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "trips@1 → trips@3: same\n"), "{}", ran.err);
}

#[test]
fn records_are_held_to_the_schema() {
    let store = with_schema();
    let rows = "{\"id\":\"a\",\"question\":\"x\",\"level\":\"medium\"}\n{\"id\":\"b\",\"score\":\"high\"}\n\
                {\"id\":\"c\",\"question\":\"z\",\"more\":1}\n";
    store.file("bad.jsonl", rows);
    let ran = store.run(&["import", "trips", "bad.jsonl"]);
    assert_eq!(ran.code, 3);
    for told in [
        "bad.jsonl:1:34",
        "`level` is none of `easy`, `hard`",
        "bad.jsonl:2:",
        "`question` is required",
        "`score` is declared as number, and this is text",
    ] {
        assert!(ran.err.contains(told), "{told}: {}", ran.err);
    }
    assert!(ran.err.contains("E035"), "{}", ran.err);
    let out = store.fine(&["import", "trips", "bad.jsonl", "--keep-valid", "--json"]);
    assert_eq!((at(&out, "report.kept"), at(&out, "report.refused")), (Value::from(1), Value::from(2)));
    store.file("one.jsonl", "{\"id\":\"c\",\"question\":7}\n");
    assert_eq!(store.run(&["import", "trips", "one.jsonl", "--upsert"]).code, 3);
    refused(
        &store,
        &["record", "edit", "trips", "c", "--set", "score=many"],
        3,
        "E035",
        "record `c`: `score` is declared as number",
    );
    refused(&store, &["record", "edit", "trips", "c", "--unset", "question"], 3, "E035", "`question` is required");
    store.fine(&["record", "edit", "trips", "c", "--set", "score=2"]);
}

#[test]
fn a_file_that_was_fit_is_read_again_under_a_new_schema() {
    let store = store();
    let rows: String =
        (0..9000).map(|row| format!("{{\"id\":\"r{row}\",\"n\":{row},\"pad\":\"{}\"}}\n", "x".repeat(60))).collect();
    store.import("long", &rows, &[]);
    store.import("long", &rows, &[]);
    store.file("schema.json", r#"{"fields":[{"name":"n","type":"string"}]}"#);
    store.fine(&["schema", "register", "long", "schema.json"]);
    assert_eq!(store.run(&["import", "long", "rows.jsonl", "-q"]).code, 3);
}

#[test]
fn columns_get_the_registered_types() {
    let store = with_schema();
    store.file("table.csv", "id,question,level,score,note\na,1,easy,0.25,7\nb,2,,,\n").fine(&[
        "import",
        "trips",
        "table.csv",
        "-q",
    ]);
    let rows = store.fine(&["cat", "trips"]);
    let first = rows.lines().next().unwrap();
    assert_eq!(value(first), value(r#"{"id":"a","question":"1","level":"easy","score":0.25,"note":"7"}"#));
    store.file("table.csv", "id,question,score\na,1,many\n");
    assert_eq!(store.run(&["import", "trips", "table.csv", "-q"]).code, 3);
}

#[test]
fn a_json_schema_judges_as_it_was_given() {
    let store = store();
    store.import("trips", ROWS, &[]);
    let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["question"],
        "properties":{"question":{"type":"string","minLength":2},"score":{"type":"number","maximum":1}},
        "additionalProperties":false}"#;
    store.file("schema.json", schema).fine(&["schema", "register", "trips", "schema.json"]);
    assert_eq!(value(&store.fine(&["schema", "show", "trips", "--as-json-schema"])), value(schema));
    let ran = store.run(&["import", "trips", "rows.jsonl"]);
    assert_eq!(ran.code, 3);
    for told in
        ["`question` does not fit the schema: the value is shorter than 2 characters", "`level` is not in the schema"]
    {
        assert!(ran.err.contains(told), "{told}: {}", ran.err);
    }
    store.file("fit.jsonl", "{\"id\":\"a\",\"question\":\"xy\",\"score\":1}\n").fine(&[
        "import",
        "trips",
        "fit.jsonl",
        "-q",
    ]);
    store.file("schema.json", schema.replace("\"maximum\":1", "\"maximum\":2"));
    store.fine(&["schema", "register", "trips", "schema.json", "--claim", "non_breaking"]);
    store.file("schema.json", schema.replace("\"minLength\":2", "\"minLength\":4"));
    refused(
        &store,
        &["schema", "register", "trips", "schema.json", "--claim", "non_breaking"],
        2,
        "E061",
        "`question` (constraints",
    );
}

#[test]
fn a_schema_is_inferred_from_a_version_and_from_files() {
    let store = with_schema();
    let out = store.fine(&["schema", "infer", "trips", "--json"]);
    let expected = r#"[{"name":"id","type":"string","required":true},{"name":"question","type":"string","required":true},
        {"name":"level","type":"string","required":false},{"name":"score","type":"number","required":true}]"#;
    assert_eq!((at(&out, "fields"), at(&out, "merge_conflicts")), (value(expected), value("[]")));
    store.file("a.jsonl", "{\"id\":\"1\",\"n\":1,\"t\":\"2026-01-01T00:00:00Z\"}\n{\"id\":\"2\",\"n\":null}\n");
    store.file("b.jsonl", "{\"id\":\"3\",\"n\":\"one\",\"tags\":[\"x\"]}\n");
    let out = heldset(store.path(), &["schema", "infer", "a.jsonl", "b.jsonl", "--json"]).out;
    let expected = r#"[{"field":"n","types":{"a.jsonl":"integer","b.jsonl":"string"},
        "examples":{"a.jsonl":{"row":1,"value":1},"b.jsonl":{"row":1,"value":"one"}}}]"#;
    assert_eq!(at(&out, "merge_conflicts"), value(expected));
    assert_eq!(at(&out, "fields.1"), value(r#"{"name":"n","type":"json","required":false}"#));
    assert_eq!(at(&out, "fields.2"), value(r#"{"name":"t","type":"timestamp","required":false}"#));
    assert_eq!(at(&out, "fields.3"), value(r#"{"name":"tags","type":"list<string>","required":false}"#));
    let text = heldset(store.path(), &["schema", "infer", "a.jsonl", "b.jsonl"]).out;
    assert!(text.ends_with("! n: integer in a.jsonl (row 1), string in b.jsonl (row 1)\n"), "{text}");
    store.file("fields.json", &out).run(&["schema", "register", "trips", "fields.json"]);
}

#[test]
fn versions_without_a_schema_differ_by_what_they_show() {
    let store = store();
    for (slug, before, after, expected) in [
        ("same", r#"{"id":"a","n":1}"#, r#"{"id":"a","n":2}"#, "same"),
        ("wider", r#"{"id":"a","n":1}"#, "{\"id\":\"a\",\"n\":1,\"m\":2}\n{\"id\":\"b\",\"n\":1}", "non_breaking"),
        ("gone", r#"{"id":"a","n":1,"m":2}"#, r#"{"id":"a","n":1}"#, "breaking"),
        ("other", r#"{"id":"a","n":1}"#, r#"{"id":"a","n":"1"}"#, "breaking"),
    ] {
        store.import(slug, before, &[]);
        store.import(slug, after, &[]);
        let (a, b) = (format!("{slug}@1"), format!("{slug}@2"));
        let out = store.run(&["diff", &a, &b, "--json"]).out;
        assert_eq!(at(&out, "schema"), Value::from(expected), "{slug}: {out}");
        let out = store.run(&["schema", "diff", "--versions", &a, &b, "--json"]).out;
        assert_eq!(at(&out, "schema"), Value::from(expected), "{slug}: {out}");
    }
    let store = with_schema();
    store.import("trips", ROWS, &[]);
    store.file("next.json", r#"{"fields":[{"name":"question","type":"string"}]}"#);
    store.fine(&["schema", "register", "trips", "next.json"]);
    store.import("trips", ROWS, &[]);
    for (a, b, expected) in
        [("trips@1", "trips@2", "non_breaking"), ("trips@2", "trips@3", "breaking"), ("trips@2", "trips@2", "same")]
    {
        assert_eq!(at(&store.run(&["diff", a, b, "--json"]).out, "schema"), Value::from(expected), "{a} {b}");
    }
}

#[test]
fn a_sealed_field_is_in_no_schema_of_an_agent() {
    let store = Store::with_questions();
    store.file(
        "schema.json",
        r#"{"fields":[{"name":"input","type":"string"},{"name":"expected_output","type":"string","required":true}]}"#,
    );
    store.fine(&["schema", "register", "questions", "schema.json", "--summary", "with expected_output"]);
    store.file("schema.json", r#"{"fields":[{"name":"input","type":"string"}]}"#);
    store.fine(&["schema", "register", "questions", "schema.json", "--summary", "no expected_output"]);
    for verb in [
        &["history", "questions"][..],
        &["diff", "questions"],
        &["show", "questions@1"],
        &["show", "questions@1", "--as-json-schema"],
        &["infer", "questions"],
    ] {
        for form in [&["--json"][..], &[]] {
            let owner = store.run(&[&["schema"], verb, form].concat());
            let agent = store.run(&[&["schema"], verb, form, &["--as", "agent"]].concat());
            assert!(
                !agent.out.contains("expected_output") && !agent.err.contains("expected"),
                "{verb:?}: {}",
                agent.out
            );
            if form == ["--json"] {
                assert!(owner.out.contains("expected_output"), "{verb:?}: {}", owner.out);
            }
        }
    }
    let agent = store.run(&["schema", "diff", "questions", "--as", "agent", "--json"]);
    assert_eq!((agent.code, at(&agent.out, "schema")), (0, Value::from("same")));
    refused(
        &store,
        &["schema", "register", "questions", "schema.json", "--as", "agent"],
        5,
        "E120",
        "may not use `schema register`",
    );
    refused(
        &store,
        &["schema", "register", "questions", "schema.json", "--as", "operator"],
        5,
        "E120",
        "labels it does not see",
    );
}

#[test]
fn the_labels_of_a_schema_come_with_the_next_import() {
    let store = with_schema();
    store.file("labels.json", r#"{"fields":[{"name":"score","type":"number","visibility":"evaluator_only"}]}"#);
    store.fine(&["schema", "register", "trips", "labels.json"]);
    assert!(store.fine(&["cat", "trips", "--as", "agent"]).contains("score"));
    assert!(!store.fine(&["schema", "show", "trips", "--as", "agent"]).contains("score"));
    refused(
        &store,
        &["record", "edit", "trips", "a", "--set", "score=3"],
        2,
        "E103",
        "labels `score` as `evaluator_only`",
    );
    store.fine(&["import", "trips", "rows.jsonl", "-q"]);
    assert!(!store.fine(&["cat", "trips", "--as", "agent"]).contains("score"));
    store.file("labels.json", r#"{"fields":[{"name":"score","type":"number","visibility":"agent_visible"}]}"#);
    store.fine(&["schema", "register", "trips", "labels.json"]);
    refused(&store, &["import", "trips", "rows.jsonl"], 5, "E122", "score");
    store.fine(&["import", "trips", "rows.jsonl", "-q", "--declassify", "the scores are out"]);
    assert!(store.fine(&["cat", "trips", "--as", "agent"]).contains("score"));
    store.fine(&["import", "trips", "rows.jsonl", "-q", "--label", "score=internal"]);
    store.fine(&["import", "trips", "rows.jsonl", "-q"]);
    assert!(!store.fine(&["cat", "trips", "--as", "agent"]).contains("score"));
}

#[test]
fn what_is_wrong_is_told() {
    let store = with_schema();
    store.file("bad.json", r#"{"fields":[{"name":"a","type":"strng"},{"name":"a","typ":"string"}]}"#);
    let ran = store.run(&["schema", "register", "trips", "bad.json"]);
    assert_eq!(ran.code, 3);
    for told in [
        "fields[0].type: unknown type `strng`",
        "did you mean `string`?",
        "fields[1].typ: unknown key `typ`",
        "fields[1]: a field needs a `type`",
    ] {
        assert!(ran.err.contains(told), "{told}: {}", ran.err);
    }
    refused(&store, &["schema", "register", "trips", "bad.json"], 3, "E037", "the schema has 3 problems");
    store.file("label.json", r#"{"fields":[{"name":"a","type":"string","visibility":"evaluator"}]}"#);
    refused(&store, &["schema", "register", "trips", "label.json"], 3, "E037", "unknown label `evaluator`");
    store.file("broken.json", "{\"fields\": [");
    assert_eq!(store.run(&["schema", "register", "trips", "broken.json"]).code, 3);
    refused(&store, &["schema", "register", "tripz", "first.json"], 2, "E102", "there is no dataset `tripz`");
    refused(&store, &["schema", "register", "trips@1", "first.json"], 2, "E105", "names a version");
    refused(&store, &["schema", "register", "trips", "nowhere.json"], 2, "E101", "cannot be opened");
    refused(&store, &["schema", "register", "trips", "first.json", "--claim", "minor"], 2, "E105", "invalid value");
    refused(&store, &["schema", "show", "trips@7"], 2, "E102", "has no schema 7");
    refused(&store, &["schema", "show", "trips@x"], 2, "E105", "is not the number of a schema");
    refused(&store, &["schema", "diff", "trips@1", "trips@5"], 2, "E102", "has no schema 5");
    refused(&store, &["schema", "infer", "nowhere"], 2, "E102", "there is no dataset `nowhere`");
    refused(&store, &["schema", "infer", "nowhere.jsonl"], 2, "E101", "cannot be opened");
    store.file("half.jsonl", "{\"id\":\"a\"}\n{\"id\":\n");
    refused(&store, &["schema", "infer", "half.jsonl"], 3, "E002", "");
    store.import("plain", "{\"id\":\"a\"}\n", &[]);
    refused(&store, &["schema", "show", "plain"], 2, "E102", "has no schema yet");
    assert_eq!(store.fine(&["schema", "history", "plain", "--json"]), "[]\n");
}
