//! The engine and the slow, obvious evaluator give the same rows in the same order.

use std::sync::Arc;

use heldset_core::filter::{Filter, Names, Operator, Test, find};
use heldset_core::json;
use heldset_core::query::{Sort, sort_key};
use heldset_core::value::{Object, Value};
use heldset_query::{Cache, Few, Part, Rows, page};
use proptest::prelude::*;

pub(crate) type Record = (String, Object<'static>);

/// The ids that a filter means, in the order of a sort, by the meaning alone.
pub(crate) fn by_meaning(records: &[Record], filter: &Filter, sort: &[Sort]) -> Vec<String> {
    let mut found: Vec<&Record> =
        records.iter().filter(|(id, fields)| filter.matches(id, fields, Names::Exact)).collect();
    let value = |(id, fields): &Record, field: &str| match field {
        "id" => Value::from(id.clone()),
        _ => find(fields, field, Names::Exact).cloned().unwrap_or(Value::Null),
    };
    found.sort_by(|left, right| {
        let by = |sort: &Sort| {
            let keys = (sort_key(&value(left, &sort.field)), sort_key(&value(right, &sort.field)));
            match keys {
                (None, None) => std::cmp::Ordering::Equal,
                (None, _) => std::cmp::Ordering::Greater,
                (_, None) => std::cmp::Ordering::Less,
                (left, right) if sort.descending => right.cmp(&left),
                (left, right) => left.cmp(&right),
            }
        };
        let order = sort.iter().map(by).find(|order| order.is_ne());
        order.unwrap_or_else(|| left.0.as_bytes().cmp(right.0.as_bytes()))
    });
    found.into_iter().map(|(id, _)| id.clone()).collect()
}

/// The same by the engine, with the rows in several parts, page by page.
pub(crate) fn by_engine(records: &[Record], filter: &Filter, sort: &[Sort], size: u64) -> Vec<String> {
    let mut parts: Vec<Arc<dyn Part>> = Vec::new();
    for (number, chunk) in records.chunks(7).enumerate() {
        parts.push(Arc::new(Rows::new(&format!("part {number}"), chunk)));
    }
    let cache = Arc::new(Cache::new(1 << 20));
    let mut ids = Vec::new();
    loop {
        let found = page(&parts, &cache, filter, sort, (ids.len() as u64, size)).unwrap();
        for (part, row) in &found.rows {
            let row = [*row];
            let id = Few::new(&*parts[*part], &cache, &row).field("id").unwrap().remove(0);
            let whole = Few::new(&*parts[*part], &cache, &row).records().unwrap().remove(0);
            let id = id.as_str().unwrap().to_owned();
            let known = &records.iter().find(|(known, _)| *known == id).unwrap().1;
            assert!(same(&whole, known), "{whole:?} {known:?}");
            ids.push(id);
        }
        if found.rows.is_empty() {
            assert_eq!(found.total, ids.len() as u64);
            return ids;
        }
    }
}

fn same(left: &Object<'_>, right: &Object<'_>) -> bool {
    left.len() == right.len() && left.iter().all(|(name, value)| right.get(name) == Some(value))
}

const FIELDS: &[&str] = &["a", "b", "c", "a.x", "c.x.y", "c.0", "id", "none"];

fn scalar() -> impl Strategy<Value = Value<'static>> {
    let texts = [
        "",
        "a",
        "ab",
        "b",
        "é",
        "😀",
        "10",
        "2024-01-01T00:00:00Z",
        "2024-01-01T01:00:00+01:00",
        "2024-06-01T00:00:00.5Z",
        "2016-12-31T23:59:60Z",
        "2017-01-01T00:00:00Z",
        "2024-01-01 00:00:00Z",
        "x\ny",
        "\"",
    ];
    let numbers = [
        "0",
        "1",
        "-1",
        "2.5",
        "-0.5",
        "9007199254740993",
        "9007199254740992",
        "18446744073709551615",
        "-9223372036854775808",
        "1e300",
        "0.1",
        "10",
    ];
    let number = |text: &str| json::read(text).unwrap().into_owned();
    prop_oneof![
        2 => Just(Value::Null),
        6 => prop::sample::select(texts.to_vec()).prop_map(|text| Value::from(text.to_owned())),
        6 => prop::sample::select(numbers.to_vec()).prop_map(number),
        2 => any::<bool>().prop_map(Value::Bool),
    ]
}

fn value() -> impl Strategy<Value = Value<'static>> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((prop::sample::select(vec!["x", "y", "z"]), inner), 0..3).prop_map(|members| {
                let mut object = Object::new();
                members.into_iter().for_each(|(name, value)| object.set(name, value));
                Value::Object(object)
            }),
        ]
    })
}

/// Columns of one kind, and columns of many.
fn record() -> impl Strategy<Value = Object<'static>> {
    let one_kind = prop_oneof![Just(None), (0..5i64).prop_map(|number| Some(Value::from(number))),];
    let members = (
        one_kind,
        prop::option::of(value()),
        prop::option::of(value()),
        prop::option::weighted(0.1, value()),
        prop::option::weighted(0.1, value()),
    );
    members.prop_map(|(a, b, c, dotted, none)| {
        let mut object = Object::new();
        let named = [("a", a), ("b", b), ("c", c), ("a.x", dotted), ("id2", none)];
        named.into_iter().for_each(|(name, value)| {
            if let Some(value) = value {
                object.set(name, value);
            }
        });
        object
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    let test = (
        prop::sample::select(FIELDS.to_vec()),
        prop::sample::select(Operator::ALL.to_vec()),
        value(),
        prop::collection::vec(scalar(), 0..3),
    )
        .prop_map(|(field, operator, value, list)| {
            let value = match operator {
                Operator::In | Operator::Nin => Value::Array(list),
                _ => value,
            };
            Filter::Test(Test { field: field.to_owned(), operator, value })
        });
    test.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::Or),
            inner.prop_map(|inner| Filter::Not(Box::new(inner))),
        ]
    })
}

fn sort() -> impl Strategy<Value = Vec<Sort>> {
    let one = (prop::sample::select(FIELDS.to_vec()), any::<bool>())
        .prop_map(|(field, descending)| Sort { field: field.to_owned(), descending });
    prop::collection::vec(one, 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_answers_as_the_meaning_says(
        rows in prop::collection::vec(record(), 0..30), filter in filter(), sort in sort(), size in 1..40u64,
    ) {
        let records: Vec<Record> = rows.into_iter().enumerate().map(|(at, row)| (format!("r{}", at * 7 % 31), row)).collect();
        prop_assert_eq!(by_engine(&records, &filter, &sort, size), by_meaning(&records, &filter, &sort));
    }
}
