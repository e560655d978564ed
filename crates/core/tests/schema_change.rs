//! What changes from one schema to the next, as a table.

use heldset_core::json;
use heldset_core::schema::{ChangeKind, Schema, change};

/// `a: integer!` becomes a field; `!` is required.
fn fields(text: &str) -> Schema {
    let field = |part: &str| {
        let (name, kind) = part.split_once(':').unwrap();
        let (kind, required) = kind.trim().strip_suffix('!').map_or((kind.trim(), false), |kind| (kind, true));
        format!(r#"{{"name":"{}","type":"{kind}","required":{required}}}"#, name.trim())
    };
    let parts = text.split(';').filter(|part| !part.trim().is_empty()).map(field).collect::<Vec<_>>();
    read(&format!(r#"{{"fields":[{}]}}"#, parts.join(",")))
}

fn read(text: &str) -> Schema {
    Schema::read(&json::read(text).unwrap()).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

#[track_caller]
fn check(old: &Schema, new: &Schema, expected: &[(&str, &str, bool)], case: &str) {
    let found = change(old, new);
    let told: Vec<_> = found.fields.iter().map(|one| (one.field.as_str(), one.what, one.breaking)).collect();
    assert_eq!(told, expected, "{case}");
    let breaking = expected.iter().any(|(_, _, breaking)| *breaking);
    assert_eq!(found.kind == ChangeKind::Breaking, breaking, "{case}");
    assert!(change(old, old).is_same() && change(new, new).is_same(), "{case}");
}

/// Old, new, what is told.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str, bool)]);

const FIELDS: &[Case] = &[
    ("a: string", "a: string", &[]),
    ("a: string; b: integer", "b: integer; a: string", &[]),
    ("a: string; b: integer", "a: string", &[("b", "removed", true)]),
    ("a: string", "b: string", &[("a", "removed", true), ("b", "added", false)]),
    ("a: string", "a: string; b: integer", &[("b", "added", false)]),
    ("a: string", "a: string; b: integer!", &[("b", "added", true)]),
    ("a: string", "a: string!", &[("a", "required", true)]),
    ("a: string!", "a: string", &[("a", "optional", false)]),
    ("a: string", "a: integer", &[("a", "type", true)]),
    ("a: integer", "a: number", &[("a", "type", true)]),
    ("a: number", "a: integer", &[("a", "type", true)]),
    ("a: string", "a: timestamp", &[("a", "type", true)]),
    ("a: timestamp", "a: string", &[("a", "type", true)]),
    ("a: boolean", "a: json", &[("a", "type", true)]),
    ("a: json", "a: list", &[("a", "type", true)]),
    ("a: list", "a: list<json>", &[]),
    ("a: list<integer>", "a: list<string>", &[("a", "type", true)]),
    ("a: list", "a: list<string>", &[("a", "type", true)]),
    ("a: list<list<integer>>", "a: list<list<number>>", &[("a", "type", true)]),
    ("a: enum<x,y>", "a: enum<y,x>", &[]),
    ("a: enum<x,y>", "a: enum<x,y,z>", &[("a", "values_added", false)]),
    ("a: enum<x,y>", "a: enum<x>", &[("a", "values_removed", true)]),
    ("a: enum<x,y>", "a: enum<x,z>", &[("a", "values_removed", true), ("a", "values_added", false)]),
    ("a: enum<x,y>", "a: string", &[("a", "type", true)]),
    ("a: string", "a: enum<x,y>", &[("a", "type", true)]),
    ("a: list<enum<x>>", "a: list<enum<x,y>>", &[("a", "values_added", false)]),
    ("a: list<enum<x,y>>", "a: list<enum<x>>", &[("a", "values_removed", true)]),
    (
        "a: string!; b: integer",
        "a: integer; c: json!",
        &[("a", "type", true), ("a", "optional", false), ("b", "removed", true), ("c", "added", true)],
    ),
    ("", "a: string", &[("a", "added", false)]),
    ("a: string", "", &[("a", "removed", true)]),
];

/// The same of whole schemas.
const WHOLE: &[Case] = &[
    (r#"{"fields":[]}"#, r#"{"fields":[],"closed":true}"#, &[("", "closed", true)]),
    (r#"{"fields":[],"additionalProperties":false}"#, r#"{"fields":[]}"#, &[("", "opened", false)]),
    (
        r#"{"fields":[{"name":"a","type":"string"}]}"#,
        r#"{"fields":[{"name":"a","type":"string","description":"x","visibility":"internal"}]}"#,
        &[("a", "description", false), ("a", "visibility", false)],
    ),
    (
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"title":"t","properties":{"a":{"type":"string","description":"d","examples":["x"]}}}"#,
        &[("a", "description", false)],
    ),
    (
        r#"{"properties":{"a":{"type":["string","null"]}}}"#,
        r#"{"properties":{"a":{"type":"string"}}}"#,
        &[("a", "null_refused", true)],
    ),
    (
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}"#,
        &[("a", "null_allowed", false)],
    ),
    (
        r#"{"properties":{"a":{"type":"string","minLength":2}}}"#,
        r#"{"properties":{"a":{"type":"string","minLength":3}}}"#,
        &[("a", "constraints", true)],
    ),
    (
        r#"{"properties":{"a":{"type":"integer","maximum":2}}}"#,
        r#"{"properties":{"a":{"type":"integer","maximum":3}}}"#,
        &[("a", "constraints", false)],
    ),
    (
        r#"{"properties":{"a":{"type":"string","pattern":"x"}}}"#,
        r#"{"properties":{"a":{"type":"string"}}}"#,
        &[("a", "constraints", false)],
    ),
    (
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"properties":{"a":{"type":"string","pattern":"x"}}}"#,
        &[("a", "constraints", true)],
    ),
    (
        r#"{"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}"#,
        r#"{"properties":{"a":{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}}}}}"#,
        &[("a.c", "added", false)],
    ),
    (
        r#"{"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}"#,
        r#"{"properties":{"a":{"type":"object","properties":{"b":{"type":"integer"}}}}}"#,
        &[("a.b", "type", true)],
    ),
    (
        r##"{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"string"}}}"##,
        r#"{"properties":{"a":{"type":"string"}}}"#,
        &[],
    ),
    (
        r##"{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"string"}}}"##,
        r##"{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}"##,
        &[("a", "type", true)],
    ),
    (
        r#"{"fields":[{"name":"a","type":"timestamp","required":true}]}"#,
        r#"{"properties":{"a":{"type":"string","format":"date-time"}},"required":["a"]}"#,
        &[],
    ),
    (
        r#"{"properties":{"a":{"type":"array","items":{"type":"string"}}}}"#,
        r#"{"properties":{"a":{"type":"array","items":{"type":"string","maxLength":5}}}}"#,
        &[("a", "constraints", true)],
    ),
];

#[test]
fn changes_are_computed() {
    for (old, new, expected) in FIELDS {
        check(&fields(old), &fields(new), expected, &format!("{old} → {new}"));
    }
    for (old, new, expected) in WHOLE {
        check(&read(old), &read(new), expected, &format!("{old} → {new}"));
    }
}

#[test]
fn a_field_that_may_have_been_renamed_is_named() {
    let found = change(&fields("a: string"), &fields("b: string"));
    assert_eq!(found.fields[0].detail, "`string` is gone; was it renamed to `b`?");
    assert_eq!(change(&fields("a: string"), &fields("b: integer")).fields[0].detail, "`string` is gone");
}
