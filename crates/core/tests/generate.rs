//! Random values and records for the property tests, from a fixed seed.
//!
//! *Invariant:* nothing is written to disk, and every run tries the same cases.

use heldset_core::number::Number;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{Policy, PolicyDraft};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

/// A small, repeatable number of cases.
pub(crate) fn config(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(6962),
        ..Config::default()
    }
}

/// Every double that is finite.
pub(crate) fn double() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |number| number.is_finite())
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from_i64),
        any::<u64>().prop_map(Number::from_u64),
        (-100_i64..100).prop_map(Number::from_i64),
        double().prop_map(|number| Number::from_f64(number).unwrap()),
    ]
}

/// Text with escapes, control characters, and characters on both sides of the surrogates.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,3}", "[\u{0}-\u{2f}\"\\\\é\u{301}\u{2028}\u{20ac}\u{e000}\u{fb33}\u{1f600}]{0,6}"]
}

/// Any value, a few levels deep.
pub(crate) fn value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::Array),
            btree_map(text(), inner, 0..5).prop_map(|entries| {
                Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
            }),
        ]
    })
}

/// Fields whose names fall under every label of [`policy`].
pub(crate) fn fields() -> impl Strategy<Value = Object<'static>> {
    let name = prop_oneof!["input|turns|tags|rubric|expected_[a-c]|Expected[A-C]|note_[a-c]|é|\u{fb33}|\u{1f600}"];
    btree_map(name, value(), 1..8)
        .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// A policy with open and sealed labels and a family.
pub(crate) fn policy() -> Policy {
    let draft = PolicyDraft::default().split("test", "agent_visible").field("expected*", "evaluator_only");
    draft.field("input", "agent_visible").field("turns", "public").default_label("internal").resolve().unwrap()
}

/// A record.
pub(crate) fn record<'a>(id: &'a str, fields: Object<'a>) -> Record<'a> {
    Record { id: RecordId::from_text(id, "id").unwrap(), fields }
}

/// The same value with the keys of every mapping turned around.
pub(crate) fn reversed<'a>(value: &Value<'a>) -> Value<'a> {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
        Value::Object(object) => Value::Object(reversed_object(object)),
        other => other.clone(),
    }
}

/// The same mapping with its keys turned around, at every level.
pub(crate) fn reversed_object<'a>(object: &Object<'a>) -> Object<'a> {
    let mut entries: Vec<_> = object.clone().into_iter().collect();
    entries.reverse();
    entries.into_iter().map(|(key, value)| (key, reversed(&value))).collect()
}
