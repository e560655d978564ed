//! Privacy filters: what they leave of a record, what they count, what is refused (E067).

use heldset_core::canonical;
use heldset_core::digest::CommitKey;
use heldset_core::json;
use heldset_core::privacy::{Filters, HashKeys};
use heldset_core::record::RecordId;
use heldset_core::value::{Object, Value};

fn keys() -> HashKeys {
    HashKeys::new(&CommitKey::new([7; 32]), [("shared", "a salt of many")])
}

fn apply(filters: &str, row: &str, keys: &HashKeys) -> (String, Vec<u64>) {
    let filters = Filters::from_value(&json::read(filters).unwrap()).unwrap();
    let Value::Object(mut fields) = json::read(row).unwrap().into_owned() else { panic!("not a mapping") };
    let id = RecordId::from_value(fields.remove("id").unwrap(), "id").unwrap();
    let mut changed = Vec::new();
    let (id, fields) = filters.apply(id, fields, keys, &mut changed).unwrap();
    let mut out = Object::new();
    out.set("id", Value::from(id.as_str().to_owned()));
    fields.into_iter().for_each(|(key, value)| out.set(key, value));
    (String::from_utf8(canonical::bytes(&Value::Object(out))).unwrap(), changed)
}

/// Filters, row, what stays, how many values each changed.
const TABLE: &[(&str, &str, &str, &[u64])] = &[
    (r#"[{"field":"a","action":"drop"}]"#, r#"{"id":"1","a":"x","b":"y"}"#, r#"{"b":"y","id":"1"}"#, &[1]),
    (r#"[{"field":"a","action":"drop"}]"#, r#"{"id":"1","b":"y"}"#, r#"{"b":"y","id":"1"}"#, &[0]),
    (
        r#"[{"field":"p[*].mail","action":"drop"}]"#,
        r#"{"id":"1","p":[{"mail":"x","n":1},{"mail":"y"}]}"#,
        r#"{"id":"1","p":[{"n":1},{}]}"#,
        &[2],
    ),
    (
        r#"[{"field":"a","action":"drop","pattern":"secret"}]"#,
        r#"{"id":"1","a":["a secret","fine"]}"#,
        r#"{"a":["fine"],"id":"1"}"#,
        &[1],
    ),
    (r#"[{"field":"a","action":"mask"}]"#, r#"{"id":"1","a":"héllo"}"#, r#"{"a":"*****","id":"1"}"#, &[1]),
    (
        r#"[{"field":"a","action":"mask","keep_last":4}]"#,
        r#"{"id":"1","a":"4111111111111111"}"#,
        r#"{"a":"************1111","id":"1"}"#,
        &[1],
    ),
    (r#"[{"field":"a","action":"mask","keep_last":4}]"#, r#"{"id":"1","a":"411"}"#, r#"{"a":"***","id":"1"}"#, &[1]),
    (r#"[{"field":"a","action":"mask","keep_last":2}]"#, r#"{"id":"1","a":12345}"#, r#"{"a":"***45","id":"1"}"#, &[1]),
    (
        r#"[{"field":"a","action":"mask"}]"#,
        r#"{"id":"1","a":{"b":"xy","c":[true,null]}}"#,
        r#"{"a":{"b":"**","c":["****",null]},"id":"1"}"#,
        &[2],
    ),
    (r#"[{"field":"a","action":"redact"}]"#, r#"{"id":"1","a":"x"}"#, r#"{"a":"[redacted]","id":"1"}"#, &[1]),
    (
        r#"[{"field":"a","action":"redact","pattern":"[0-9]+","replacement":"$0#"}]"#,
        r#"{"id":"1","a":"a1b22"}"#,
        r#"{"a":"a$0#b$0#","id":"1"}"#,
        &[1],
    ),
    (
        r#"[{"field":"*","action":"redact","pattern":"email"}]"#,
        r#"{"id":"x@y.org","a":"to ann.b+c@mail.example.co.uk, now","n":1}"#,
        r#"{"a":"to [redacted], now","id":"[redacted]","n":1}"#,
        &[2],
    ),
    (
        r#"[{"field":"a","action":"redact","pattern":["ip","ssn"]}]"#,
        r#"{"id":"1","a":"10.0.0.1 999.1.1.1 ::1 fe80::1 078-05-1120 000-12-1234 1.2.3"}"#,
        r#"{"a":"[redacted] 999.1.1.1 [redacted] [redacted] [redacted] 000-12-1234 1.2.3","id":"1"}"#,
        &[1],
    ),
    (
        r#"[{"field":"a","action":"redact","pattern":"credit_card"}]"#,
        r#"{"id":"1","a":"4111 1111 1111 1111 and 4111 1111 1111 1112"}"#,
        r#"{"a":"[redacted] and 4111 1111 1111 1112","id":"1"}"#,
        &[1],
    ),
    (
        r#"[{"field":"a","action":"redact","pattern":"credit_card"}]"#,
        r#"{"id":"1","a":4111111111111111}"#,
        r#"{"a":"[redacted]","id":"1"}"#,
        &[1],
    ),
    (
        r#"[{"field":"a","action":"redact","pattern":"phone"}]"#,
        r#"{"id":"1","a":"call +49 30 123456 or (030) 555-01-7788 on 2026-05-01 12:00, order 12345678"}"#,
        r#"{"a":"call [redacted] or [redacted] on 2026-05-01 12:00, order 12345678","id":"1"}"#,
        &[1],
    ),
    (
        r#"[{"field":"a","action":"redact","pattern":"api_key"}]"#,
        r#"{"id":"1","a":"use sk-abcdefghijklmnop1234 and password=hunter2hunter2 or ghp_0123456789abcdefghijklmn; task-1"}"#,
        r#"{"a":"use [redacted] and [redacted] or [redacted]; task-1","id":"1"}"#,
        &[1],
    ),
    (
        r#"[{"field":"a","action":"mask","pattern":"ssn","keep_last":4}]"#,
        r#"{"id":"1","a":"ssn 078-05-1120"}"#,
        r#"{"a":"ssn *******1120","id":"1"}"#,
        &[1],
    ),
    (
        r#"[{"field":"a","action":"drop"},{"field":"a","action":"mask"}]"#,
        r#"{"id":"1","a":"x"}"#,
        r#"{"id":"1"}"#,
        &[1, 0],
    ),
];

#[test]
fn what_filters_leave() {
    for (filters, row, expected, counts) in TABLE {
        let (left, changed) = apply(filters, row, &keys());
        assert_eq!((left.as_str(), changed.as_slice()), (*expected, *counts), "{filters} on {row}");
    }
}

#[test]
fn equal_values_have_equal_hashes_under_one_key_only() {
    let row = r#"{"id":"1","a":"ann@b.org","b":["ann@b.org",7],"c":"7"}"#;
    let filters = r#"[{"field":"a","action":"hash"},{"field":"b","action":"hash"},{"field":"c","action":"hash"}]"#;
    let (left, changed) = apply(filters, row, &keys());
    assert_eq!(changed, [1, 2, 1]);
    let value = json::read(&left).unwrap().into_owned();
    let fields = value.as_object().unwrap();
    let (a, b, c) = (fields.get("a").unwrap(), fields.get("b").unwrap().as_array().unwrap(), fields.get("c").unwrap());
    assert_eq!((a, c), (&b[0], &b[1]), "joinable, as a number or as text");
    assert_ne!(a, c);
    assert_eq!(a.as_str().unwrap().len(), 32);
    assert!(!left.contains("ann@"));
    let other = HashKeys::new(&CommitKey::new([8; 32]), []);
    assert_ne!(apply(filters, row, &other).0, left, "another dataset has other hashes");
    let salted = r#"[{"field":"a","action":"hash","salt":"shared"}]"#;
    let elsewhere = HashKeys::new(&CommitKey::new([8; 32]), [("shared", "a salt of many")]);
    assert_eq!(apply(salted, row, &keys()).0, apply(salted, row, &elsewhere).0, "a salt joins datasets");
}

#[test]
fn a_filter_that_matched_nothing_is_told() {
    let filters = Filters::from_value(
        &json::read(r#"[{"field":"mail","action":"hash"},{"field":"a","action":"drop"}]"#).unwrap(),
    )
    .unwrap();
    let told = filters.unmatched(3, &[0, 2]);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].message, "privacy filter `hash mail` matched nothing in any of 3 rows");
    assert!(filters.unmatched(0, &[0, 0]).is_empty());
    assert_eq!(filters.describe(), ["hash mail", "drop a"]);
}

#[test]
fn filters_that_cannot_work_are_refused() {
    for (filters, part) in [
        ("{}", "a list of filters"),
        ("[1]", "is a mapping such as"),
        (r#"[{"action":"drop"}]"#, "`privacy[0].field` is missing"),
        (r#"[{"field":"a"}]"#, "`privacy[0].action` is missing"),
        (r#"[{"field":"a","action":"msk"}]"#, "there is no action `msk`"),
        (r#"[{"field":"a","action":"mask","keep":4}]"#, "no key of a filter"),
        (r#"[{"field":"a","action":"mask","keep_last":-1}]"#, "a count of characters"),
        (r#"[{"field":"a","action":"drop","keep_last":1}]"#, "goes with `mask`, not with `drop`"),
        (r#"[{"field":"a","action":"mask","replacement":"x"}]"#, "goes with `redact`"),
        (r#"[{"field":"a","action":"redact","pattern":"(["}]"#, "is not a regular expression"),
        (r#"[{"field":"a","action":"redact","pattern":5}]"#, "is a pattern, not a number"),
        (r#"[{"field":"a..b","action":"drop"}]"#, "is not a path"),
        (r#"[{"field":"id","action":"drop"}]"#, "would drop the id"),
        (r#"[{"field":"*","action":"drop"}]"#, "would drop every field"),
    ] {
        let problems = Filters::from_value(&json::read(filters).unwrap()).unwrap_err();
        assert_eq!(problems[0].code.name(), "E067", "{filters}");
        assert!(problems[0].message.contains(part), "{filters}: {}", problems[0].message);
    }
}
