//! The schema that rows show, as a table and as a property.

use heldset_core::infer::Inference;
use heldset_core::json;
use heldset_core::record::{Record, RecordId};
use heldset_core::schema::Schema;
use heldset_core::value::{Object, Value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::generate::{config, value};

fn row(text: &str) -> Object<'static> {
    match json::read(text).unwrap().into_owned() {
        Value::Object(object) => object,
        other => panic!("{other:?}"),
    }
}

/// The values of one field, one for each row (`-` is absent), and its type; `!` is required.
const TYPES: &[(&[&str], &str)] = &[
    (&["\"x\"", "\"\""], "string!"),
    (&["\"x\"", "null"], "string"),
    (&["\"x\"", "-"], "string"),
    (&["null", "null"], "json"),
    (&["1", "2"], "integer!"),
    (&["1", "2.0"], "integer!"),
    (&["1", "2.5"], "number!"),
    (&["0.5", "null", "3"], "number"),
    (&["18446744073709551615", "-1"], "integer!"),
    (&["true", "false"], "boolean!"),
    (&["true", "1"], "json!"),
    (&["\"1\"", "1"], "json!"),
    (&["\"2026-01-01T00:00:00Z\"", "\"2026-01-01T00:00:00.5+02:00\""], "timestamp!"),
    (&["\"2026-01-01T00:00:00Z\"", "null"], "timestamp"),
    (&["\"2026-01-01T00:00:00Z\"", "\"soon\""], "string!"),
    (&["\"soon\"", "\"2026-01-01T00:00:00Z\""], "string!"),
    (&["\"2026-01-01T00:00:00Z\"", "\"\""], "string!"),
    (&["\"2026-01-01\""], "string!"),
    (&["{\"b\":1}", "{}"], "json!"),
    (&["{\"b\":1}", "[1]"], "json!"),
    (&["[1]", "[2,3]"], "list<integer>!"),
    (&["[1]", "[2.5]"], "list<number>!"),
    (&["[]", "[\"x\"]"], "list<string>!"),
    (&["[]", "[]"], "list<json>!"),
    (&["[1]", "[\"x\"]"], "list<json>!"),
    (&["[1,null]"], "list<integer>!"),
    (&["[[1],[]]"], "list<list<integer>>!"),
    (&["[\"2026-01-01T00:00:00Z\"]"], "list<timestamp>!"),
    (&["[{\"b\":1}]"], "list<json>!"),
    (&["\"a\"", "\"b\"", "\"a\""], "string!"),
];

fn rows_of(values: &[&str]) -> Vec<Object<'static>> {
    values.iter().map(|value| if *value == "-" { Object::new() } else { row(&format!(r#"{{"a":{value}}}"#)) }).collect()
}

#[test]
fn types_are_inferred_over_all_rows() {
    for (values, expected) in TYPES {
        for backwards in [false, true] {
            let mut rows = rows_of(values);
            if backwards {
                rows.reverse();
            }
            let mut inference = Inference::default();
            rows.iter().for_each(|row| inference.source("s").row(row));
            let found = inference.finish();
            let field = &found.fields[0];
            let told = format!("{}{}", field.kind, if field.required { "!" } else { "" });
            assert_eq!((told.as_str(), found.conflicts.len()), (*expected, 0), "{values:?}");
        }
    }
}

/// Values in two sources, the type, and the types of the sources if they disagree.
type Together = (&'static str, &'static str, &'static str, Option<(&'static str, &'static str)>);

const SOURCES: &[Together] = &[
    ("1", "2", "integer", None),
    ("1", "2.5", "number", None),
    ("1", "null", "integer", None),
    ("[]", "[1]", "list<integer>", None),
    ("[1]", "[2.5]", "list<number>", None),
    ("1", "\"x\"", "json", Some(("integer", "string"))),
    ("\"2026-01-01T00:00:00Z\"", "\"x\"", "string", Some(("timestamp", "string"))),
    ("[1]", "[\"x\"]", "list<json>", Some(("list<integer>", "list<string>"))),
    ("{}", "\"x\"", "json", Some(("json", "string"))),
    ("true", "[true]", "json", Some(("boolean", "list<boolean>"))),
];

#[test]
fn sources_that_disagree_are_told() {
    for (a, b, expected, conflict) in SOURCES {
        let mut inference = Inference::default();
        inference.source("a.jsonl").row(&row(r#"{"a":null}"#));
        inference.source("a.jsonl").row(&row(&format!(r#"{{"a":{a}}}"#)));
        inference.source("b.jsonl").row(&row(&format!(r#"{{"a":{b}}}"#)));
        let found = inference.finish();
        assert_eq!(
            (found.fields[0].kind.to_string().as_str(), found.fields[0].required),
            (*expected, false),
            "{a} {b}"
        );
        let told = found.conflicts.first().map(|conflict| {
            let kinds: Vec<_> = conflict
                .sources
                .iter()
                .map(|(name, kind, example)| (name.as_str(), kind.to_string(), example.row))
                .collect();
            assert_eq!(conflict.field, "a");
            kinds
        });
        let wanted = conflict.map(|(a, b)| vec![("a.jsonl", a.to_owned(), 2), ("b.jsonl", b.to_owned(), 1)]);
        assert_eq!(told, wanted, "{a} {b}");
    }
}

#[test]
fn long_examples_are_left_out() {
    let mut inference = Inference::default();
    inference.source("a").row(&row(&format!(r#"{{"a":"{}"}}"#, "x".repeat(300))));
    inference.source("b").row(&row(r#"{"a":1}"#));
    let found = inference.finish();
    let values: Vec<_> = found.conflicts[0].sources.iter().map(|(_, _, example)| example.value.clone()).collect();
    assert_eq!(values, [None, Some(Value::from(1))]);
}

fn rows() -> impl Strategy<Value = Vec<Object<'static>>> {
    let row = btree_map("[a-c]", value(), 0..4)
        .prop_map(|entries| entries.into_iter().map(|(name, value)| (name.into(), value)).collect());
    vec(row, 0..6)
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn what_is_inferred_admits_every_row(rows in rows(), cut in 0_usize..6) {
        let mut inference = Inference::default();
        for (index, row) in rows.iter().enumerate() {
            inference.source(if index < cut { "a" } else { "b" }).row(row);
        }
        let schema = Schema::of(inference.finish().fields);
        for fields in &rows {
            let mut problems = Vec::new();
            schema.check(&Record { id: RecordId::from_row(0), fields: fields.clone() }, &mut problems);
            prop_assert!(problems.is_empty(), "{:?}", problems);
        }
    }
}
