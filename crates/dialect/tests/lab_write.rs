//! Writing lab manifests, and reading them back.

use heldset_core::number::Number;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::{Object, Value};
use heldset_dialect::write::{Target, WriteOptions, Writer, writer};
use heldset_dialect::{DatasetInfo, IdRule, ReadOptions};
use heldset_testkit::{MemoryFiles, Reading, read_bytes, read_with};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

/// A whole file of records, and what it does not carry.
pub(crate) fn written(records: &[Record<'_>], info: &DatasetInfo) -> (String, Vec<String>) {
    let Writer::Rows(writer) = writer(Target::Lab, WriteOptions { typed: false, for_spreadsheet: false }) else {
        panic!("lab is written row by row")
    };
    let mut bytes = writer.head(info);
    let mut losses = Vec::new();
    for (index, record) in records.iter().enumerate() {
        if index > 0 {
            bytes.extend_from_slice(writer.between().as_bytes());
        }
        let row = writer.row(record);
        bytes.extend_from_slice(&row.bytes);
        losses.extend(row.losses.iter().map(ToString::to_string));
    }
    bytes.extend_from_slice(writer.tail().as_bytes());
    (String::from_utf8(bytes).unwrap(), losses)
}

/// Writes what was read and reads that: the same records, the same words about the dataset.
pub(crate) fn check_round_trip(reading: &Reading) {
    let (text, losses) = written(&reading.records, &reading.report.dataset);
    assert_eq!(losses, [""; 0]);
    let again = read_bytes("again.yaml", text.as_bytes());
    assert_eq!(again.faults, [], "{text}");
    assert_eq!(again.lines(), reading.lines());
    assert_eq!(again.report.dataset, reading.report.dataset);
}

fn record(fields: Object<'static>) -> Record<'static> {
    Record { id: RecordId::from_text("007", "id").unwrap(), fields }
}

#[test]
fn the_complete_example_comes_back() {
    let text = include_str!("../../../examples/trip-planner/trip_queries.yaml");
    let bob = include_str!("../../../examples/trip-planner/seeds/user_bob.yaml");
    let options = ReadOptions { format: None, id: IdRule::Auto, schema: None, threads: 1 };
    let files = MemoryFiles::of(&[("seeds/user_bob.yaml", bob)]);
    check_round_trip(&read_with("trip_queries.yaml", text.as_bytes(), &options, &files));
}

#[test]
fn a_manifest_is_plain_to_read() {
    let jsonl = r#"{"id":"007","input":"Say \"no\": now","expected_output":{"a":[1,[true,null],{}]},"turns":[{"role":"user","content":"no"}],"metadata":{"level":0.5,"<<":"- x"},"tags":[]}"#;
    let records = read_bytes("r.jsonl", jsonl.as_bytes()).records;
    let info = DatasetInfo { name: Some("trip".into()), version: Some("1.0".into()), ..DatasetInfo::default() };
    let (text, losses) = written(&records, &info);
    assert_eq!(losses, [""; 0]);
    insta::assert_snapshot!(text, @r#"
    apiVersion: lab/v1
    kind: Dataset
    metadata:
      name: trip
      version: "1.0"
    spec:
      items:
        - id: "007"
          prompt: "Say \"no\": now"
          turns:
            - role: user
              content: "no"
          expected_answer:
            a:
              - 1
              - - true
                - null
              - {}
          tags: []
          metadata:
            level: 0.5
            "<<": "- x"
    "#);
}

#[test]
fn what_a_manifest_cannot_carry_is_listed() {
    for (fields, losses) in [
        (
            r#"{"id":"a","input":"p","score":1}"#,
            &["record `a`: `score` would be lost", "record `a`: `metadata` would be added"][..],
        ),
        (
            r#"{"id":"a","input":"p","prompt":"q"}"#,
            &["record `a`: `prompt` would be refused: `prompt` gives a second value for `input`"],
        ),
        (
            r#"{"id":"a","title":"no case"}"#,
            &[
                "record `a`: `input` would be refused: there is no `prompt`",
                "record `a`: `title` would be lost",
                "record `a`: `metadata` would be added",
            ],
        ),
    ] {
        let options =
            ReadOptions { format: Some(heldset_dialect::Format::Records), id: IdRule::Auto, schema: None, threads: 1 };
        let records = read_with("r.jsonl", fields.as_bytes(), &options, &MemoryFiles::default()).records;
        assert_eq!(written(&records, &DatasetInfo::default()).1, losses);
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-cA-C0-9 ._/-]{0,6}",
        "[\u{0}-\u{7f}\u{80}-\u{a0}é\u{301}\u{2028}\u{2029}\u{feff}\u{fffd}\u{fffe}\u{ffff}\u{1f600}]{0,6}",
        prop::sample::select(vec![
            "yes", "null", "~", "<<", "1e3", "0x1", "007", "- a", "a: b", "a #b", "...", "---", "? a", "!!str a", "&a",
            "*a", "%a", "a:", "|", "\"", "'", "\r\n", "\u{85}", " a", "a "
        ])
        .prop_map(str::to_owned),
        "[a-z ]{190,210}",
    ]
}

fn value() -> impl Strategy<Value = Value<'static>> {
    let double =
        any::<u64>().prop_map(f64::from_bits).prop_filter_map("finite", |number| Number::from_f64(number).ok());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(|number| Value::Number(Number::from_u64(number))),
        double.prop_map(Value::Number),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::Array),
            btree_map(text(), inner, 0..5).prop_map(|entries| Value::Object(
                entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
            )),
        ]
    })
}

fn config() -> Config {
    Config {
        cases: 300,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(31),
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_value_comes_back(answer in value(), inner in btree_map(text(), value(), 0..4), input in text(), name in text()) {
        prop_assume!(!input.is_empty());
        let mut fields = Object::new();
        fields.set("input", Value::from(input));
        fields.set("expected_output", answer);
        fields.set("metadata", Value::Object(inner.iter().map(|(key, value)| (key.clone().into(), value.clone())).collect()));
        let mut info = DatasetInfo { name: Some(name.clone()), description: Some(name), ..DatasetInfo::default() };
        info.more.set("extra", Value::Array(inner.into_values().collect()));
        let record = record(fields);
        let (text, losses) = written(std::slice::from_ref(&record), &info);
        prop_assert_eq!(losses, Vec::<String>::new());
        let again = read_bytes("again.yaml", text.as_bytes());
        prop_assert!(again.faults.is_empty(), "{:?} in {}", again.faults, text);
        prop_assert_eq!(&again.records, &[record]);
        prop_assert_eq!(again.report.dataset, info);
    }
}
