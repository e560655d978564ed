//! YAML: what scalars stand for, what is refused, and where.

use std::time::Instant;

use heldset_testkit::read_bytes;

fn check(text: &str, lines: &[&str], faults: &[&str]) {
    let reading = read_bytes("r.yaml", text.as_bytes());
    assert_eq!(reading.lines(), lines, "records of {text:?}: {:?}", reading.faults);
    assert_eq!(reading.places(), faults, "faults of {text:?}: {:?}", reading.faults);
}

/// The value of one scalar, as canonical JSON.
fn check_scalar(source: &str, json: &str) {
    check(&format!("- id: a\n  x: {source}\n"), &[&format!(r#"{{"id":"a","x":{json}}}"#)], &[]);
}

#[test]
fn scalars_follow_the_core_schema() {
    for (source, json) in [
        ("true", "true"),
        ("True", "true"),
        ("FALSE", "false"),
        ("null", "null"),
        ("NULL", "null"),
        ("~", "null"),
        ("", "null"),
        ("12", "12"),
        ("-12", "-12"),
        ("+1", "1"),
        ("0", "0"),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("1.", "1"),
        (".5", "0.5"),
        ("-.5e1", "-5"),
        ("1.50", "1.5"),
        ("1e3", "1000"),
        ("9007199254740993", "9007199254740993"),
        ("18446744073709551615", "18446744073709551615"),
    ] {
        check_scalar(source, json);
    }
}

#[test]
fn what_only_looks_like_something_else_is_text() {
    for text in [
        "yes",
        "no",
        "on",
        "off",
        "y",
        "tRUE",
        "nULL",
        "007",
        "-007",
        "00",
        "007.5",
        "1_000",
        "12:30",
        "2024-01-05",
        "0b11",
        "0X1F",
        "0o8",
        "1e",
        "e1",
        ".",
        "-",
        "1.2.3",
        "+",
        "inf",
        "nan",
        "=",
        "<<",
    ] {
        if text != "-" {
            check_scalar(text, &format!("{text:?}"));
        }
        check_scalar(&format!("'{text}'"), &format!("{text:?}"));
    }
    for quoted in ["'12'", "\"12\"", "!!str 12", "|-\n    12", ">-\n    12"] {
        check_scalar(quoted, "\"12\"");
    }
}

#[test]
fn core_tags_are_honoured_and_others_refused() {
    for (source, json) in [
        ("!!int \"12\"", "12"),
        ("!!int 007", "7"),
        ("!!float 1", "1"),
        ("!!bool 'true'", "true"),
        ("!!null ''", "null"),
        ("!!str", "\"\""),
        ("!!seq [1]", "[1]"),
        ("!!map {a: 1}", "{\"a\":1}"),
        ("!<tag:yaml.org,2002:str> 1", "\"1\""),
    ] {
        check_scalar(source, json);
    }
    for (source, fault) in [
        ("!thing 1", "E027 2:13 [0].x"),
        ("!!binary aGk=", "E027 2:15 [0].x"),
        ("!!int 1.5", "E025 2:12 [0].x"),
        ("!!bool yes", "E025 2:13 [0].x"),
        ("!!map [1]", "E025 2:12 [0].x"),
    ] {
        check(&format!("- id: a\n  x: {source}\n"), &[], &[fault]);
    }
}

#[test]
fn numbers_that_cannot_be_kept_are_refused_at_their_place() {
    for (source, code) in [
        ("123456789012345678901", "E004"),
        ("0x1ffffffffffffffff", "E004"),
        (".inf", "E005"),
        ("-.INF", "E005"),
        (".NaN", "E005"),
        ("1e400", "E005"),
        ("1e-400", "E005"),
    ] {
        check(&format!("- id: é\n  x: {source}\n"), &[], &[&format!("{code} 2:6 [0].x")]);
    }
}

#[test]
fn keys_are_unique_texts() {
    check("- {id: a, 1: x, true: y, ~: z}\n", &[r#"{"1":"x","id":"a","true":"y","~":"z"}"#], &[]);
    check("- id: a\n  x: 1\n  \"x\": 2\n", &[], &["E003 3:3 [0]"]);
    check("- id: a\n  x: {b: [{c: 1, c: 2}]}\n", &[], &["E003 2:18 [0].x.b[0]"]);
    check("- id: a\n  ? [1]\n  : 2\n", &[], &["E025 2:5 [0]"]);
    check("- id: a\n  [1]: 2\n", &[], &["E025 2:3 [0]"]);
    check("- id: a\n  : 2\n", &[], &["E025 2:3 [0]"]);
    let keys: String = (0..40).map(|key| format!("  k{key}: 1\n")).collect();
    check(&format!("- id: a\n{keys}  k7: 2\n"), &[], &["E003 42:3 [0]"]);
}

#[test]
fn aliases_share_and_merge_keys_add() {
    check(
        "- &one {id: a, x: &x [1, 2], y: 1}\n- {<<: *one, id: b, y: *x}\n- {id: c, <<: [{p: 1}, {p: 2, q: 3}]}\n",
        &[r#"{"id":"a","x":[1,2],"y":1}"#, r#"{"id":"b","x":[1,2],"y":[1,2]}"#, r#"{"id":"c","p":1,"q":3}"#],
        &[],
    );
    check("- {id: a, \"<<\": 1}\n", &[r#"{"<<":1,"id":"a"}"#], &[]);
    check("- {id: a, &k x: 1, y: {*k : 2}}\n", &[r#"{"id":"a","x":1,"y":{"x":2}}"#], &[]);
    check("- {id: a, <<: 5}\n", &[], &["E025 1:15 [0]"]);
    check("- {id: a, x: *gone}\n", &[], &["E025 1:14 [0].x"]);
    check("- {id: a, x: &x {y: *x}}\n", &[], &["E026 1:21 [0].x.y"]);
}

#[test]
fn a_fault_of_an_aliased_part_shows_the_anchored_text() {
    check("- &id {id: [1]}\n", &[], &["E013 1:12 id"]);
    check("- {id: ok, x: &bad 1.5}\n- {id: *bad}\n", &[r#"{"id":"ok","x":1.5}"#], &["E013 1:20 id"]);
}

#[test]
fn an_alias_bomb_is_refused_at_once() {
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..40 {
        let below = format!("*a{}, ", level - 1).repeat(9);
        laughs.push_str(&format!("a{level}: &a{level} [{}]\n", below.trim_end_matches(", ")));
    }
    let small: String = format!("- &a {{id: a, x: [{}]}}\n", "1, ".repeat(1000)) + &"- *a\n".repeat(9000);
    let text = format!("- &a {}\n- [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(20_000));
    let keys: String = (0..1000).map(|key| format!("k{key}: 1, ")).collect();
    let merged = format!("- &m {{{keys}}}\n") + &"- {<<: *m}\n".repeat(20_000);
    for bomb in [laughs, small, text, merged] {
        let start = Instant::now();
        let reading = read_bytes("r.yaml", bomb.as_bytes());
        assert_eq!(reading.faults.iter().map(|fault| fault.code.name()).collect::<Vec<_>>(), ["E026"]);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}

#[test]
fn depth_is_bounded_also_through_aliases() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    check(&format!("- {{id: a, x: {}}}\n", nested(62)), &[&format!(r#"{{"id":"a","x":{}}}"#, nested(62))], &[]);
    check(&format!("- {{id: a, x: {}}}\n", nested(63)), &[], &[&format!("E007 1:76 [0].x{}", "[0]".repeat(62))]);
    check(&format!("- {{id: a, x: &x {}, y: [*x]}}\n", nested(62)), &[], &["E007 1:147 [0].y[0]"]);
    assert_eq!(read_bytes("r.yaml", "[".repeat(100_000).as_bytes()).faults[0].code.name(), "E007");
    assert_eq!(read_bytes("r.yaml", "- ".repeat(100_000).as_bytes()).faults[0].code.name(), "E007");
}

#[test]
fn what_is_not_yaml_is_refused_where_it_shows() {
    for (text, fault) in [
        ("- id: a\n---\n- id: b\n", "E025 2:1 -"),
        ("- id: a\n  x: 'open\n", "E025 3:1 [0].x"),
        ("- id: a\n  x: b: c\n", "E025 2:7 [0]"),
        ("- id: a\n\tx: 1\n", "E025 1:7 [0].id"),
        ("- {id: a, x: [1, 2}\n", "E025 1:14 [0]"),
        ("- id: a\n  x: \"\\ud800\"\n", "E006 2:6 [0].x"),
        ("- id: a\n  x: \"\\q\"\n", "E025 2:6 [0].x"),
    ] {
        check(text, &[], &[fault]);
    }
}

#[test]
fn one_document_may_have_its_marks() {
    for text in ["---\n- id: a\n...\n", "%YAML 1.2\n---\n- id: a\n", "# note\n- id: a # more\n", "\u{feff}- id: a\r\n"]
    {
        check(text, &[r#"{"id":"a"}"#], &[]);
    }
}

#[test]
fn texts_come_out_as_they_are_meant() {
    for (source, json) in [
        ("|\n    a\n     b\n\n    c\n", r#""a\n b\n\nc\n""#),
        (">\n    a\n    b\n\n    c\n", r#""a b\nc\n""#),
        ("a\n    b", r#""a b""#),
        ("'it''s'", r#""it's""#),
        (r#""\ud834\udd1e \x41 \t""#, "\"\u{1d11e} A \\t\""),
        ("a # not this", r#""a""#),
        ("a#this", r#""a#this""#),
    ] {
        check_scalar(source, json);
    }
}

#[test]
fn faults_show_their_line_with_the_value_marked() {
    let reading = read_bytes("r.yaml", "- id: a\n- x: ü\n  id: [1, 2] # no\n".as_bytes());
    let excerpt = reading.faults[0].excerpt.clone().unwrap();
    assert_eq!(excerpt.text, "  id: [1, 2] # no");
    assert_eq!(&excerpt.text[excerpt.start..excerpt.end], "[1, 2]");
}

#[test]
fn a_large_document_takes_time_in_proportion() {
    let rows: String = (0..8_000).map(|row| format!("- {{id: r{row}, x: [1, 'two', \"three\"], y: [1}}\n")).collect();
    let good = rows.replace("y: [1}", "y: 1}");
    let start = Instant::now();
    assert_eq!(read_bytes("r.yaml", good.as_bytes()).report.kept, 8_000);
    let one_line = format!("[{}]", good.replace("- ", "").replace('\n', ","));
    assert_eq!(read_bytes("r.yaml", one_line.as_bytes()).report.kept, 8_000);
    let bad = one_line.replace("{id: r", "{id: 1.5, z: r");
    assert_eq!(read_bytes("r.yaml", bad.as_bytes()).report.refused, 8_000);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}
