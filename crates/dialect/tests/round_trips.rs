//! Random records through every table writer and back.

use heldset_core::record::Record;
use heldset_dialect::Format;
use heldset_dialect::write::{Loss, Target, spooled};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

use crate::tables::{TYPED, write};

/// A small, repeatable number of cases.
fn config(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(4180),
        ..Config::default()
    }
}

/// A line of JSON for any value.
fn value() -> impl Strategy<Value = String> {
    let quoted = |text: String| {
        let mut out = Vec::new();
        heldset_core::canonical::write_text(&text, &mut out);
        String::from_utf8(out).unwrap()
    };
    let text = "[ab,;'\"\r\n\t =+@\u{0}\\[\\]{}é\u{feff}0-9-]{0,5}".prop_map(quoted);
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        (-9..9_i64).prop_map(|number| number.to_string()),
        (-1e3..1e3).prop_map(|number: f64| number.to_string()),
        Just("1e300".to_owned()),
    ];
    let word = prop_oneof![Just("null"), Just("true"), Just("false"), Just("[]"), Just("{}")].prop_map(str::to_owned);
    let leaf = prop_oneof![4 => text, 2 => number, 1 => word];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            inner.prop_map(|value| format!("{{\"k\":{value}}}")),
        ]
    })
}

/// Some records with fields of any kind, mostly alike.
fn any_records() -> impl Strategy<Value = Vec<Record<'static>>> {
    let names = ["input", "expected_output", "turns", "tags", "metadata", "x", "y z", "a.b", "=f", "é", ""];
    let name = proptest::sample::select(names.to_vec());
    let fields = proptest::collection::btree_map(name, value(), 0..5);
    proptest::collection::vec((fields, "[a=é\\[,-]{1,2}"), 1..8).prop_map(|rows| {
        let line = |(row, (fields, id)): (usize, (std::collections::BTreeMap<&str, String>, String))| {
            let fields: String = fields.iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect();
            spooled(&format!("{{\"id\":\"{id}{row}\"{fields}}}")).unwrap()
        };
        rows.into_iter().enumerate().map(line).collect()
    })
}

/// The records without the fields that losses name.
fn without(records: &[Record<'static>], losses: &[Loss]) -> Vec<Record<'static>> {
    let mut records = records.to_vec();
    for record in &mut records {
        for loss in losses {
            record.fields.remove(&loss.field);
        }
    }
    records
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn records_come_back_from_parquet(records in any_records()) {
        let wrote = write(Target::Parquet, TYPED, &records);
        prop_assert!(wrote.losses.is_empty());
        let reading = wrote.read(Some(Format::Records));
        prop_assert_eq!(reading.records, records, "{:?}", reading.faults);
    }

    #[test]
    fn records_come_back_from_csv_but_for_listed_losses(records in any_records()) {
        let wrote = write(Target::Csv, TYPED, &records);
        if wrote.losses.iter().any(|loss| loss.field.is_empty()) {
            let carried = without(&records, &wrote.losses);
            let wrote = write(Target::Csv, TYPED, &carried);
            prop_assert!(wrote.losses.is_empty());
            prop_assert_eq!(wrote.read(Some(Format::Records)).records, carried);
        } else {
            let reading = wrote.read(Some(Format::Records));
            prop_assert_eq!(without(&reading.records, &wrote.losses), without(&records, &wrote.losses));
        }
    }

    #[test]
    fn records_without_losses_come_back_from_letta_csv(records in any_records()) {
        let losses = write(Target::LettaCsv, TYPED, &records).losses;
        let is_whole = |record: &&Record<'_>| {
            losses.iter().all(|loss| loss.id != record.id.as_str()) && !record.fields.contains("")
        };
        let whole: Vec<_> = records.iter().filter(is_whole).cloned().collect();
        let wrote = write(Target::LettaCsv, TYPED, &whole);
        prop_assert!(wrote.losses.is_empty());
        prop_assert_eq!(wrote.read(None).records, whole);
    }
}
