//! Reading schemas, writing them, and holding records to them.

use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::record::{Record, RecordId};
use heldset_core::schema::{Field, Registration, Schema, Type, change};
use heldset_core::value::Value;
use proptest::collection::btree_map;
use proptest::prelude::*;

use crate::generate::config;

fn read(text: &str) -> Result<Schema, Vec<Problem>> {
    Schema::read(&json::read(text).unwrap())
}

/// A schema, and its problems: path, message, help.
type Wrong = (&'static str, &'static [(&'static str, &'static str, &'static str)]);

const WRONG: &[Wrong] = &[
    ("[]", &[("", "a schema is a mapping with a list `fields`, or a JSON Schema", "write `")]),
    ("{}", &[("", "a schema is a mapping with a list `fields`, or a JSON Schema", "write `")]),
    (
        r#"{"columns":[]}"#,
        &[
            ("", "a schema is a mapping with a list `fields`, or a JSON Schema", "write `"),
            ("columns", "unknown key `columns`", "did you mean `fields`?"),
        ],
    ),
    (
        r#"{"fields":[{"name":"a","type":"strng"},{"name":"a"},{"nam":"b","type":"int"},7]}"#,
        &[
            ("fields[0].type", "unknown type `strng`", "did you mean `string`?"),
            ("fields[1]", "a field needs a `type`", "use one of"),
            ("fields[2].nam", "unknown key `nam`", "did you mean `name`?"),
            ("fields[2]", "a field needs a `name`", "add `name`"),
            ("fields[2].type", "unknown type `int`", "did you mean `integer`?"),
            ("fields[3]", "a field is a mapping, not a number", "write `"),
        ],
    ),
    (
        r#"{"fields":[{"name":"a","type":"string"},{"name":"a","type":"json"}]}"#,
        &[("fields[1].name", "`a` is declared twice", "keep one")],
    ),
    (r#"{"fields":[{"name":"a","type":"enum"}]}"#, &[("fields[0]", "an `enum` needs its `values`", "write `")]),
    (
        r#"{"fields":[{"name":"a","type":"enum","values":["x","x"]}]}"#,
        &[("fields[0].values", "the value `x` is listed twice", "write `")],
    ),
    (
        r#"{"fields":[{"name":"a","type":"string","values":["x"]}]}"#,
        &[("fields[0].values", "`values` belong to an `enum`, and this is `string`", "write `")],
    ),
    (
        r#"{"fields":[{"name":"a","type":["string","null"]}]}"#,
        &[("fields[0].type", "`type` is text, not a list", "use one of")],
    ),
    (
        r#"{"fields":[{"name":"","type":"string","required":"yes","requird":true}]}"#,
        &[
            ("fields[0].requird", "unknown key `requird`", "did you mean `required`?"),
            ("fields[0].name", "the field name `` is empty", "choose another name"),
            ("fields[0].required", "`required` is true or false, not text", "write `true`"),
        ],
    ),
    (
        r#"{"fields":[{"name":"a","type":"list<strin>"}]}"#,
        &[("fields[0].type", "unknown type `list<strin>`", "did you mean `string`?")],
    ),
    (r#"{"type":"array"}"#, &[("type", "records are mappings, and this schema is for another type", "write `")]),
    (
        r#"{"properties":{"a":{"type":"strng"},"b":7},"required":"a"}"#,
        &[
            ("required", "`required` is a list of names", "write `"),
            ("properties.a.type", "unknown type `strng`", "did you mean `string`?"),
            ("properties.b", "a property is a mapping, not a number", "write `"),
        ],
    ),
];

#[test]
fn every_problem_of_a_schema_is_told_with_its_path() {
    for (text, expected) in WRONG {
        let problems = read(text).expect_err(text);
        let told: Vec<_> = problems.iter().map(|one| (one.path.to_string(), one.message.clone())).collect();
        let wanted: Vec<_> =
            expected.iter().map(|(path, message, _)| (path.to_string(), message.to_string())).collect();
        assert_eq!(told, wanted, "{text}");
        for (problem, (_, _, help)) in problems.iter().zip(*expected) {
            assert!(problem.help.as_deref().unwrap().starts_with(help), "{text}: {:?}", problem.help);
        }
    }
}

#[test]
fn a_json_schema_has_fields() {
    for (part, expected) in [
        (r#"{"type":"string"}"#, "string"),
        (r#"{"type":"string","format":"date-time"}"#, "timestamp"),
        (r#"{"type":"string","format":"email"}"#, "string"),
        (r#"{"type":["integer","null"]}"#, "integer"),
        (r#"{"type":["integer","number"]}"#, "number"),
        (r#"{"type":["integer","string"]}"#, "json"),
        (r#"{"type":"boolean"}"#, "boolean"),
        (r#"{"type":"object","properties":{"b":{"type":"string"}}}"#, "json"),
        (r#"{"type":"array","items":{"type":"array","items":{"type":"number"}}}"#, "list<list<number>>"),
        (r#"{"type":"array"}"#, "list"),
        (r#"{"enum":["x","y",null]}"#, "enum<x,y>"),
        (r#"{"enum":[1,2]}"#, "json"),
        (r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, "integer"),
        (r#"{"anyOf":[{"type":"integer"},{"type":"string"}]}"#, "json"),
        (r##"{"$ref":"#/$defs/n"}"##, "number"),
        (r##"{"allOf":[{"$ref":"#/$defs/n"}],"description":"d"}"##, "number"),
        (r##"{"$ref":"#/$defs/loop"}"##, "list<json>"),
        ("true", "json"),
    ] {
        let defs = r##""$defs":{"n":{"type":"number"},"loop":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/loop"},{"type":"string"}]}}}"##;
        let schema = read(&format!(r#"{{"type":"object","properties":{{"a":{part}}},{defs}}}"#)).unwrap();
        assert_eq!(schema.field("a").unwrap().kind.to_string(), expected, "{part}");
    }
    let text = r#"{"properties":{"a":{}},"required":["a","b"],"additionalProperties":false}"#;
    let schema = read(text).unwrap();
    assert_eq!(schema.fields().iter().filter(|field| field.required).count(), 2);
    assert!(schema.is_closed());
    assert_eq!(schema.to_value(), json::read(text).unwrap());
}

#[test]
fn a_registration_may_say_what_it_is() {
    let read = |text: &str| Registration::read(&json::read(text).unwrap());
    let said = read(
        r#"{"schema_definition":{"fields":[{"name":"a","type":"string"}]},"change_type":"non_breaking","change_summary":"first"}"#,
    );
    let said = said.unwrap();
    assert_eq!((said.claim.unwrap().name(), said.summary.as_deref()), ("non_breaking", Some("first")));
    assert!(read(r#"{"fields":[]}"#).unwrap().claim.is_none());
    let problems =
        read(r#"{"schema_definition":{"fields":[{"name":"a","type":"x"}]},"change_type":"minor"}"#).unwrap_err();
    let paths: Vec<_> = problems.iter().map(|problem| problem.path.to_string()).collect();
    assert_eq!(paths, ["change_type", "schema_definition.fields[0].type"]);
}

/// A value of the field `a`, and what is wrong with it.
#[track_caller]
fn check(field: &str, value: Option<&str>, expected: &[(&str, &str)]) {
    let schema = read(&format!(r#"{{"fields":[{{"name":"a",{field}}}]}}"#)).unwrap();
    let row = value.map_or_else(|| "{}".to_owned(), |value| format!(r#"{{"a":{value}}}"#));
    let Value::Object(fields) = json::read(&row).unwrap().into_owned() else { panic!("{row}") };
    let mut problems = Vec::new();
    schema.check(&Record { id: RecordId::from_row(1), fields }, &mut problems);
    let told: Vec<_> = problems.iter().map(|one| (one.path.to_string(), one.message.clone())).collect();
    let wanted: Vec<_> = expected.iter().map(|(path, message)| (path.to_string(), message.to_string())).collect();
    assert_eq!(told, wanted, "{field} {row}");
}

#[test]
fn records_are_held_to_types() {
    let fine: &[(&str, &str)] = &[];
    for (kind, value, wrong) in [
        ("string", "\"x\"", None),
        ("string", "1", Some("`a` is declared as string, and this is a number")),
        ("integer", "1", None),
        ("integer", "1.0", None),
        ("integer", "1.5", Some("`a` is declared as integer, and this is a number with a fraction")),
        ("integer", "\"1\"", Some("`a` is declared as integer, and this is text")),
        ("number", "1.5", None),
        ("number", "true", Some("`a` is declared as number, and this is a boolean")),
        ("boolean", "false", None),
        ("boolean", "0", Some("`a` is declared as boolean, and this is a number")),
        ("timestamp", "\"2026-05-01T00:00:00Z\"", None),
        ("timestamp", "\"2026-05-01\"", Some("`a` is declared as timestamp, and this text is no instant of RFC 3339")),
        ("timestamp", "5", Some("`a` is declared as timestamp, and this is a number")),
        ("json", "{\"b\":[1]}", None),
        ("list", "[1,\"x\"]", None),
        ("list", "{}", Some("`a` is declared as list, and this is a mapping")),
        ("list<integer>", "[1,null]", None),
        ("enum<x,y>", "\"x\"", None),
        ("enum<x,y>", "\"z\"", Some("`a` is none of `x`, `y`")),
        ("enum<x,y>", "1", Some("`a` is declared as enum, and this is a number")),
    ] {
        let kind = format!(r#""type":"{kind}""#);
        check(&kind, Some(value), &wrong.iter().map(|wrong| ("a", *wrong)).collect::<Vec<_>>());
        check(&kind, None, fine);
        check(&kind, Some("null"), fine);
        let required = format!(r#"{kind},"required":true"#);
        check(&required, None, &[("a", "`a` is required, and the record does not have it")]);
        check(&required, Some("null"), &[("a", "`a` is required, and it is null")]);
    }
    check(
        r#""type":"list<list<integer>>""#,
        Some(r#"[[1],["x",2,true],3]"#),
        &[
            ("a[1][0]", "`a[1][0]` is declared as integer, and this is text"),
            ("a[1][2]", "`a[1][2]` is declared as integer, and this is a boolean"),
            ("a[2]", "`a[2]` is declared as list<integer>, and this is a number"),
        ],
    );
}

#[test]
fn other_fields_are_allowed_unless_the_schema_is_closed() {
    let mut record = Record { id: RecordId::from_row(1), fields: heldset_core::value::Object::new() };
    record.fields.set("scor", Value::from(1));
    for (text, expected) in [
        (r#"{"fields":[{"name":"score","type":"number"}]}"#, None),
        (r#"{"fields":[{"name":"score","type":"number"}],"closed":true}"#, Some("did you mean `score`?")),
        (r#"{"fields":[{"name":"id","type":"integer"},{"name":"scor","type":"json"}],"closed":true}"#, None),
        (r#"{"fields":[{"name":"id","type":"boolean"}]}"#, Some("correct the value, or register another schema")),
    ] {
        let mut problems = Vec::new();
        read(text).unwrap().check(&record, &mut problems);
        assert_eq!(problems.first().and_then(|problem| problem.help.as_deref()), expected, "{text}");
    }
}

#[test]
fn an_audience_is_shown_only_its_fields() {
    let text = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"secret":{"type":"string"}},
        "required":["a","secret"],"$defs":{"n":{"type":"number"},"secret":{}},"dependentRequired":{"a":["secret"]}}"##;
    let seen = read(text).unwrap().seen(&|field| field.name != "secret");
    let shown = format!("{:?}{:?}", seen.to_json_schema(), seen.to_fields());
    assert!(!shown.contains("secret"), "{shown}");
    let expected = r#"{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}"#;
    assert_eq!(seen.to_json_schema(), json::read(expected).unwrap());
}

fn kind() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::String),
        Just(Type::Integer),
        Just(Type::Number),
        Just(Type::Boolean),
        Just(Type::Timestamp),
        Just(Type::Json),
        Just(Type::List(None)),
        Just(Type::Enum(vec!["x".to_owned(), "y,z".to_owned()])),
    ];
    leaf.prop_recursive(2, 4, 1, |inner| inner.prop_map(|inner| Type::List(Some(Box::new(inner)))))
}

fn schema() -> impl Strategy<Value = Schema> {
    btree_map("[a-d]", (kind(), any::<bool>(), proptest::option::of("[a-z ]{1,5}")), 0..4).prop_map(|fields| {
        let field = |(name, (kind, required, description)): (String, (Type, bool, Option<String>))| {
            let mut field = Field::new(name, kind, required);
            field.description = description;
            field
        };
        Schema::of(fields.into_iter().map(field).collect())
    })
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn what_is_written_reads_the_same(schema in schema()) {
        prop_assert_eq!(&Schema::read(&schema.to_value()).unwrap(), &schema);
        let read = Schema::read(&schema.to_json_schema()).unwrap();
        let found = change(&schema, &read);
        prop_assert!(found.is_same(), "{:?}", found);
        prop_assert!(change(&read, &schema).is_same());
        prop_assert!(change(&schema, &schema).is_same());
    }
}
