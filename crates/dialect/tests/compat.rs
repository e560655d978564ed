//! The released Letta loader, reproduced: 65 observed files, what we make of them ourselves, and many small cases.

use std::path::PathBuf;

use base64::Engine as _;
use heldset_core::code::Code;
use heldset_dialect::{CompatReading, NoFiles, PyDict, PyValue, read_compat};
use heldset_testkit::{MemoryFiles, read_bytes};

use crate::compat_cases::{ANSWERS, CSV, IDS, JSONL, NATIVE};

#[test]
fn the_65_observed_files_end_as_they_were_seen_to_end() {
    let Some(cases) = observed() else { return };
    assert_eq!(cases.len(), 65);
    let bad: Vec<String> =
        cases.iter().filter_map(|case| case.misfit(&read_compat(&case.name, &case.bytes, &NoFiles))).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn the_65_observed_files_are_read_natively_as_the_formats_say() {
    let Some(cases) = observed() else { return };
    let mut bad = Vec::new();
    for case in &cases {
        let mut expected = NATIVE.split([';', '\n']).map(str::trim);
        let expected = expected.find(|row| row.split(' ').next() == case.name.split('_').next()).unwrap();
        let reading = read_bytes(&case.name, &case.bytes);
        let met: Vec<&str> = reading.faults.iter().map(|fault| fault.code.name()).collect();
        let name = case.name.split('_').next().unwrap();
        let got = format!("{name} {} {} {}", reading.report.kept, reading.report.refused, met.join(" "));
        if got.trim() != expected {
            bad.push(format!("{got}, not {expected}: {:?}", reading.faults));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn a_native_value_is_what_was_typed() {
    let check =
        |name: &str, text: &str, expected: &str| assert_eq!(read_bytes(name, text.as_bytes()).lines(), [expected]);
    check("a.jsonl", "{\"id\":3.0,\"input\":\"a\"}\n", r#"{"id":"3","input":"a"}"#);
    check("a.csv", "input, ground_truth\na, b\n", r#"{" ground_truth":" b","id":"0","input":"a"}"#);
    check("a.csv", "prompt,ground_truth\na,b\n", r#"{"expected_output":"b","id":"0","input":"a"}"#);
    check("a.jsonl", "{\"input\":\"a\",\"ground_truth\":[\"x\"]}", r#"{"expected_output":["x"],"id":"0","input":"a"}"#);
}

#[test]
fn answers_and_ids_are_what_pandas_takes_the_column_for() {
    for (name, field, rows) in [("ground_truth", "expected_output", ANSWERS), ("id", "id", IDS)] {
        for (cells, expected) in rows {
            let rows: String = cells.iter().map(|cell| format!("a,{cell}\n")).collect();
            let reading = read_compat("t.csv", format!("input,{name}\n{rows}").as_bytes(), &NoFiles);
            let found = lines(&reading).into_iter().map(|line| match PyValue::read(&line) {
                Some(PyValue::Dict(sample)) => sample.get(field).map_or("null".to_owned(), PyValue::to_json),
                _ => "?".to_owned(),
            });
            assert_eq!(format!("[{}]", found.collect::<Vec<_>>().join(",")), *expected, "{name} {cells:?}");
        }
    }
}

#[test]
fn crafted_files_end_as_they_were_seen_to_end() {
    for (name, files) in [("t.csv", CSV), ("t.jsonl", JSONL)] {
        for (text, samples, class) in files {
            let reading = read_compat(name, text.as_bytes(), &NoFiles);
            assert_eq!(format!("[{}]", lines(&reading).join(",")), *samples, "{text:?} {:?}", reading.error);
            assert_eq!(class_of(&reading), *class, "{text:?}");
        }
    }
}

#[test]
fn only_the_name_tells_the_format() {
    for (name, class) in [("a.JSONL", "JSONDecodeError"), ("a.CSV", ""), ("a.b.csv", "")] {
        assert_eq!(class_of(&read_compat(name, b"input\na\n", &NoFiles)), class, "{name}");
    }
    for name in ["a.json", "a", ".jsonl", "x/.csv", "a.csv."] {
        assert_eq!(class_of(&read_compat(name, b"input\na\n", &NoFiles)), "ValueError", "{name}");
    }
}

#[test]
fn the_depth_and_the_digits_of_python_are_the_limit() {
    let line = |inner: &str| format!("{{\"input\":\"a\",\"extra_vars\":{{\"x\":{inner}}}}}");
    let check = |inner: String, class: &str| {
        assert_eq!(class_of(&read_compat("t.jsonl", line(&inner).as_bytes(), &NoFiles)), class);
    };
    check("[".repeat(991) + &"]".repeat(991), "");
    check("[".repeat(992) + &"]".repeat(992), "RecursionError");
    check("9".repeat(4300), "");
    check("9".repeat(4301), "ValueError");
    let cell = format!("input\n{}{}\n", "[".repeat(993), "]".repeat(993));
    assert_eq!(class_of(&read_compat("t.csv", cell.as_bytes(), &NoFiles)), "RecursionError");
}

#[test]
fn a_broken_byte_ends_the_file_at_the_chunk_python_decodes() {
    let check = |bytes: Vec<u8>, samples: usize| {
        let reading = read_compat("t.jsonl", &bytes, &NoFiles);
        assert_eq!((reading.samples.len(), class_of(&reading).as_str()), (samples, "UnicodeDecodeError"));
    };
    let good = |end: &str| format!("{{\"input\":\"a\"}}{end}").repeat(600).into_bytes();
    check(b"{\"input\":\"a\"}\n{\"input\":\"\xe9\"}\n".to_vec(), 0);
    check([good("\n"), b"{\"input\":\"\xe9\"}\n".to_vec()].concat(), 585);
    check([good("\n"), b"{\"input\":\"\xe9".to_vec()].concat(), 600);
    check([good("\r"), b"\xe9".to_vec()].concat(), 599);
}

#[test]
fn a_rubric_is_read_beside_the_file() {
    let files = MemoryFiles::of(&[("d/r.txt", "\u{feff}a\r\nb\rc\n")]);
    let expected = r#"[{"id":"0","input":"a","rubric":"#.to_owned() + "\"\u{feff}a\\nb\\nc\\n\"}]";
    let jsonl = read_compat("d/t.jsonl", br#"{"input":"a","rubric_path":"r.txt"}"#, &files);
    let csv = read_compat("d/t.csv", b"input,rubric_path\na, r.txt \n", &files);
    assert_eq!(
        [format!("[{}]", lines(&jsonl).join(",")), format!("[{}]", lines(&csv).join(","))],
        [expected.clone(), expected]
    );
    let outside = read_compat("d/t.jsonl", br#"{"input":"a","rubric_path":"../x"}"#, &files);
    assert_eq!(outside.error.map(|fault| fault.code), Some(Code::E020));
}

#[test]
fn a_refusal_has_a_place_the_loader_does_not_know() {
    let check = |name: &str, text: &str, line: u64, column: u64, field: Option<&str>| {
        let fault = read_compat(name, text.as_bytes(), &NoFiles).error.unwrap();
        let place = fault.place.unwrap();
        assert_eq!((fault.code, place.line, place.column), (Code::E039, line, column), "{text:?}");
        assert_eq!(fault.field.as_deref(), field, "{text:?}");
    };
    check("t.jsonl", "{\"input\":\"a\"}\n {\"input\":\"b\",}\n", 2, 15, None);
    check("t.jsonl", "{\"input\":\"a\",\"ground_truth\":4}\n", 1, 29, Some("ground_truth"));
    check("t.jsonl", "{\"input\":\"a\"}\n\n", 2, 1, None);
    check("t.csv", "\u{feff}input,agent_args\n\"a\nb\",{}\nb,{k:1}\n", 4, 3, Some("agent_args"));
    check("t.csv", "input,id\na,b\nc,d,e\n", 3, 5, None);
    check("t.csv", "input,id\na,\"b\nc,d\n", 2, 3, None);
}

#[test]
fn a_file_beyond_64_mib_is_not_read() {
    let reading = read_compat("t.jsonl", &vec![b' '; (64 << 20) + 1], &NoFiles);
    assert_eq!(reading.error.map(|fault| fault.code), Some(Code::E008));
}

fn lines(reading: &CompatReading) -> Vec<String> {
    reading.samples.iter().map(|sample| String::from_utf8(sample.to_json_line()).unwrap()).collect()
}

/// The exception that a refusal names; empty without one.
fn class_of(reading: &CompatReading) -> String {
    let Some(fault) = &reading.error else { return String::new() };
    assert_eq!(fault.code, Code::E039, "{fault:?}");
    let (_, class) = fault.message.rsplit_once('(').unwrap();
    class.trim_end_matches(')').to_owned()
}

struct Observed {
    name: String,
    bytes: Vec<u8>,
    outcome: PyDict,
}

impl Observed {
    /// How a reading differs from what was seen.
    fn misfit(&self, reading: &CompatReading) -> Option<String> {
        let expected = match self.outcome.get("ok") {
            Some(PyValue::List(samples)) => {
                (samples.len().to_string(), samples.iter().map(canonical).collect(), String::new())
            }
            _ => (number(&self.outcome, "yielded"), lines(reading), text(&self.outcome, "err")),
        };
        let got = (reading.samples.len().to_string(), lines(reading), class_of(reading));
        (got != expected).then(|| format!("{}: {got:?}, not {expected:?}", self.name))
    }
}

/// A sample as it was seen, in canonical names.
fn canonical(sample: &PyValue) -> String {
    let PyValue::Dict(sample) = sample else { return "?".to_owned() };
    let json = |name: &str| sample.get(name).map(PyValue::to_json);
    let mut out = format!("{{\"id\":\"{}\"", json("id").unwrap().trim_matches('"'));
    match sample.get("input") {
        Some(PyValue::List(turns)) if !turns.is_empty() => {
            out += &format!(",\"input\":{}", turns[0].to_json());
            let rest: Vec<String> =
                turns[1..].iter().map(|turn| format!("{{\"role\":\"user\",\"content\":{}}}", turn.to_json())).collect();
            if !rest.is_empty() {
                out += &format!(",\"turns\":[{}]", rest.join(","));
            }
        }
        input => out += &format!(",\"input\":{}", input.unwrap().to_json()),
    }
    let answer = if matches!(sample.get("ground_truth"), Some(PyValue::List(_))) { "turns" } else { "output" };
    let answer = format!("expected_{answer}");
    for (name, to) in [
        ("agent_args", "agent_args"),
        ("extra_vars", "extra_vars"),
        ("ground_truth", answer.as_str()),
        ("rubric", "rubric"),
        ("rubric_vars", "rubric_vars"),
    ] {
        out += &json(name).map_or(String::new(), |value| format!(",\"{to}\":{value}"));
    }
    out + "}"
}

fn text(dict: &PyDict, name: &str) -> String {
    match dict.get(name) {
        Some(PyValue::Str(text)) => text.as_str().unwrap().to_owned(),
        other => panic!("{name} is {other:?}"),
    }
}

fn number(dict: &PyDict, name: &str) -> String {
    dict.get(name).unwrap().to_json()
}

/// The observed files, from the folder that `HELDSET_COMPAT_DIR` names or the one beside the workspace.
#[allow(clippy::print_stdout, reason = "says why a test does nothing")]
fn observed() -> Option<Vec<Observed>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("HELDSET_COMPAT_DIR").map_or(beside, PathBuf::from);
    let Ok(all) = std::fs::read_to_string(folder.join("letta/loader-observed.json")) else {
        println!("skipped: there is no letta/loader-observed.json in {}", folder.display());
        return None;
    };
    let Some(PyValue::Dict(all)) = PyValue::read(&all) else { panic!("loader-observed.json is not JSON") };
    let Some(PyValue::Dict(cases)) = all.get("cases") else { panic!("loader-observed.json has no cases") };
    let cases = cases.iter().map(|(name, case)| {
        let PyValue::Dict(case) = case else { panic!("a case is a mapping") };
        let bytes = base64::engine::general_purpose::STANDARD.decode(text(case, "bytes_b64")).unwrap();
        let seen = case.get("0.26.0").unwrap().to_json();
        let Some(PyValue::Dict(outcome)) = PyValue::read(&seen) else { panic!("what was seen is a mapping") };
        Observed { name: name.as_str().unwrap().to_owned(), bytes, outcome }
    });
    Some(cases.collect())
}
