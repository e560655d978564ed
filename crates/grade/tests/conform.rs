//! Records that are held to a JSON Schema.

use heldset_core::json;
use heldset_core::record::{Record, RecordId};
use heldset_core::schema::Schema;
use heldset_core::value::Value;
use heldset_grade::Conform;

#[track_caller]
fn check(schema: &str, row: &str, expected: &[(&str, &str)]) {
    let schema = Schema::read(&json::read(schema).unwrap()).unwrap();
    let conform = Conform::to(&schema).unwrap().unwrap();
    let Value::Object(fields) = json::read(row).unwrap().into_owned() else { panic!("{row}") };
    let mut problems = Vec::new();
    conform.check(&Record { id: RecordId::from_row(7), fields }, &mut problems);
    let told: Vec<_> = problems.iter().map(|one| (one.path.to_string(), one.message.clone())).collect();
    let wanted: Vec<_> = expected.iter().map(|(path, message)| (path.to_string(), message.to_string())).collect();
    assert_eq!(told, wanted, "{row}");
}

#[test]
fn a_record_is_judged_by_the_schema_as_it_was_given() {
    let schema = r#"{"type":"object","required":["a"],"additionalProperties":false,"properties":{
        "a":{"type":"integer","minimum":0},"b":{"type":"string","format":"date-time"},
        "c":{"type":"array","items":{"type":"object","required":["d"]}}}}"#;
    check(schema, r#"{"a":1}"#, &[]);
    check(schema, r#"{"a":18446744073709551615,"b":"2026-05-01 00:00:00Z","c":[{"d":null}]}"#, &[]);
    check(schema, "{}", &[("a", "`a` is required, and the record does not have it")]);
    check(schema, r#"{"a":-1}"#, &[("a", "`a` does not fit the schema: the value is less than the minimum of 0")]);
    check(schema, r#"{"a":"x"}"#, &[("a", "`a` does not fit the schema: the value is not of type `integer`")]);
    check(schema, r#"{"a":1,"b":"soon"}"#, &[("b", "`b` does not fit the schema: the value is not a `date-time`")]);
    check(
        schema,
        r#"{"a":1,"c":[{"d":1},{}],"e":2}"#,
        &[
            ("c[1].d", "`c[1].d` is required, and the record does not have it"),
            ("e", "`e` is not in the schema, and the schema is closed"),
        ],
    );
}

#[test]
fn the_id_counts_where_the_schema_names_it() {
    check(r#"{"type":"object","additionalProperties":false}"#, "{}", &[]);
    check(r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#, "{}", &[]);
    let pattern = r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^q"}}}"#;
    check(pattern, "{}", &[("id", "`id` does not fit the schema: the value does not match `^q`")]);
}

#[test]
fn a_schema_that_cannot_be_compiled_is_refused() {
    for (text, path) in [
        (r#"{"type":"object","properties":{"a":{"type":"string","minLength":"x"}}}"#, "properties.a.minLength"),
        (r#"{"type":"object","properties":{"a":{"$ref":"https://example.org/x.json"}}}"#, ""),
        (r#"{"type":"object","properties":{"a":{"pattern":"("}}}"#, "properties.a.pattern"),
    ] {
        let schema = Schema::read(&json::read(text).unwrap()).unwrap();
        let problem = Conform::to(&schema).unwrap_err();
        assert_eq!((problem.code.name(), problem.path.to_string().as_str()), ("E037", path), "{problem:?}");
    }
    assert!(Conform::to(&Schema::default()).unwrap().is_none());
}
