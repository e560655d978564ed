//! Preparations: how they are read, what they do to values, and into which splits records go.

use heldset_core::json;
use heldset_core::prepare::{
    Cleaner, Compared, Counts, Preparation, Replace, SplitPlan, Unit, assign, find_leaks, key_of, letters, read,
    torn_groups,
};
use heldset_core::value::{Object, Value};
use proptest::prelude::*;

fn value(text: &str) -> Value<'static> {
    json::read(text).unwrap().into_owned()
}

fn preparation(text: &str) -> Preparation {
    read(&value(text)).unwrap()
}

#[test]
fn everything_wrong_with_a_request_is_told_at_once() {
    for (request, expected) in [
        ("[]", &["a preparation is a mapping with"][..]),
        (r#"{"targt_format":"csv"}"#, &["there is no `targt_format` here"]),
        (
            r#"{"target_format":"cvs","cleaning_config":{"remove_null":true,"trim_whitespace":"yes"}}"#,
            &[
                "there is no format `cvs`",
                "there is no `remove_null` here",
                "`cleaning_config.trim_whitespace` is `true` or `false`, not text",
            ],
        ),
        (r#"{"split":{"train":0.8,"test":0.3}}"#, &["the shares sum to 1.1, not to 1"]),
        (r#"{"split":{"train":0.8,"test":"rest","more":"rest"}}"#, &["two splits take the `rest`"]),
        (r#"{"split":{"train":1.0,"test":"rest"}}"#, &["the shares sum to 1 and leave no rest"]),
        (r#"{"split":{"train":0,"test":1}}"#, &["a share is more than 0 and at most 1, or `rest`, and this is 0"]),
        (r#"{"split":{"a/b":1.0}}"#, &["the split name `a/b` has a `/` in it"]),
        (r#"{"split":{"stratify":"category","train":1.0}}"#, &["`stratify` has no share"]),
        (r#"{"split":{"seed":3}}"#, &["no split has a share"]),
        (r#"{"split":{"seed":1.5,"train":1}}"#, &["`split.seed` is an integer or text, not a number"]),
        (r#"{"lookup":{"dataset":"x"}}"#, &["`on` is missing", "`fields` is missing"]),
        (r#"{"lookup":{"dataset":"x","on":["a"],"fields":"b"}}"#, &["`lookup.on` is a field, or one pair"]),
        (r#"{"cleaning_config":{"rename":{"a":"b","c":"b"}}}"#, &["`a` and `c` would both be named `b`"]),
        (
            r#"{"cleaning_config":{"rename":{"id":"b","c":"id"}}}"#,
            &["`id` cannot be renamed", "`id` cannot be another field"],
        ),
        (r#"{"cleaning_config":{"rename":{"a":"b"},"drop_fields":"a"}}"#, &["`a` is both dropped and renamed"]),
        (r#"{"cleaning_config":{"drop_fields":"id"}}"#, &["`id` cannot be left out"]),
        (r#"{"cleaning_config":{"redact":[{"replacement":"x"}]}}"#, &["a redaction names a field, a pattern, or both"]),
        (r#"{"leaks":{"similarity":2}}"#, &["`leaks.similarity` is a number above 0 and at most 1"]),
        (r#"{"filters":[{"field":"a","operator":"is","value":1}]}"#, &["is"]),
    ] {
        let problems = read(&value(request)).expect_err(request);
        assert_eq!(problems.len(), expected.len(), "{request}: {problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.message.contains(expected), "{request}: {}", problem.message);
            assert_eq!(problem.code.name(), "E069", "{request}");
        }
    }
}

#[test]
fn what_is_written_of_a_preparation_reads_back_to_the_same() {
    for request in [
        "{}",
        r#"{"target_format":"parquet","cleaning_config":{"remove_nulls":true,"trim_whitespace":true,"deduplicate_by":"a",
           "drop_fields":["b"],"rename":{"c":"d"},"redact":["e",{"pattern":"x+","replacement":""}]},
           "lookup":{"dataset":"other@2","on":{"a":"id"},"fields":{"x":"y"}},"filters":[{"field":"a","operator":"gt","value":3}],
           "split":{"train":0.8,"test":"rest","seed":7,"stratify_by":"s","group_by":"g"},"from_split":"default",
           "leaks":{"fields":["a"],"similarity":0.9,"group_by":"g"}}"#,
    ] {
        let first = preparation(request);
        assert_eq!(read(&first.to_value()).unwrap(), first, "{request}");
    }
}

struct Digits;

impl Replace for Digits {
    fn replace(&self, text: &str, replacement: &str) -> Option<String> {
        let found = text.contains(|character: char| character.is_ascii_digit());
        found.then(|| text.replace(|character: char| character.is_ascii_digit(), replacement))
    }
}

fn cleaned(request: &str, record: &str) -> (String, Counts) {
    let preparation = preparation(request);
    let cleaner = Cleaner::new(&preparation.cleaning, |_| Ok::<Box<dyn Replace>, ()>(Box::new(Digits))).unwrap();
    let Value::Object(mut fields) = value(record) else { panic!("{record}") };
    let mut counts = Counts::default();
    cleaner.trim(&mut fields, &mut counts);
    cleaner.tidy(&mut fields, &mut counts);
    let shaped = match cleaner.shape(fields, &mut counts) {
        Ok(shaped) => heldset_core::canonical::bytes(&Value::Object(shaped)),
        Err(name) => format!("two {name}").into_bytes(),
    };
    (String::from_utf8(shaped).unwrap(), counts)
}

#[test]
fn each_rule_of_cleaning_does_what_it_says() {
    for (request, record, expected) in [
        (r#"{"remove_nulls":true}"#, r#"{"a":null,"b":{"c":null,"d":[null,{"e":null}]}}"#, r#"{"b":{"d":[null,{}]}}"#),
        (
            r#"{"trim_whitespace":true}"#,
            r#"{"a":" x\n","b":["\u00a0y "],"c":{" k ":" z "}}"#,
            r#"{"a":"x","b":["y"],"c":{" k ":"z"}}"#,
        ),
        (r#"{"drop_fields":["a","z"]}"#, r#"{"a":1,"b":2}"#, r#"{"b":2}"#),
        (r#"{"rename":{"a":"b","b":"a"}}"#, r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#),
        (r#"{"rename":{"a":"b"}}"#, r#"{"a":1,"b":2}"#, "two b"),
        (r#"{"rename":{"a":"b"},"drop_fields":"b"}"#, r#"{"a":1,"b":2}"#, r#"{"b":1}"#),
        (r#"{"redact":["a"]}"#, r#"{"a":{"x":1},"b":"7"}"#, r#"{"a":"[REDACTED]","b":"7"}"#),
        (r#"{"redact":["a"]}"#, r#"{"a":null}"#, r#"{"a":null}"#),
        (
            r#"{"redact":{"pattern":"d","replacement":"x"}}"#,
            r#"{"a":"no 12","b":["3"],"c":4}"#,
            r#"{"a":"no xx","b":["x"],"c":4}"#,
        ),
        (
            r#"{"redact":{"field":"a.b","pattern":"d","replacement":"x"}}"#,
            r#"{"a":{"b":"1","c":"2"}}"#,
            r#"{"a":{"b":"x","c":"2"}}"#,
        ),
    ] {
        assert_eq!(cleaned(&format!("{{\"cleaning_config\":{request}}}"), record).0, expected, "{request} {record}");
    }
}

#[test]
fn what_was_done_is_counted() {
    let request = r#"{"cleaning_config":{"remove_nulls":true,"trim_whitespace":true,"drop_fields":"d","rename":{"a":"x"},"redact":["s"]}}"#;
    let (_, counts) = cleaned(request, r#"{"a":" 1","b":null,"c":{"e":null,"f":"g "},"d":1,"s":"secret"}"#);
    let expected =
        Counts { nulls_removed: 2, values_trimmed: 2, values_redacted: 1, fields_dropped: 1, fields_renamed: 1 };
    assert_eq!(counts, expected);
}

#[test]
fn records_without_any_of_the_fields_have_no_key() {
    let Value::Object(fields) = value(r#"{"a":1,"b":null,"c":{"d":2}}"#) else { panic!() };
    let key = |names: &[&str]| key_of("x", &fields, names).map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(key(&["a", "b"]).as_deref(), Some("[1,null]"));
    assert_eq!(key(&["c.d", "id"]).as_deref(), Some("[2,\"x\"]"));
    assert_eq!(key(&["b", "z"]), None);
}

fn plan(shares: &[(&str, f64)], seed: &str) -> SplitPlan {
    let shares = shares.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
    SplitPlan { shares, seed: seed.to_owned(), stratify_by: None, group_by: None }
}

#[test]
fn shares_that_are_whole_numbers_of_records_are_exact() {
    for (count, shares, expected) in [
        (10, &[("train", 0.8), ("test", 0.2)][..], &[8, 2][..]),
        (100, &[("a", 0.29), ("b", 0.71)], &[29, 71]),
        (30, &[("a", 0.1), ("b", 0.9)], &[3, 27]),
        (7, &[("a", 0.5), ("b", 0.5)], &[4, 3]),
        (3, &[("a", 0.8), ("b", 0.1), ("c", 0.1)], &[3, 0, 0]),
        (1, &[("a", 1.0)], &[1]),
        (0, &[("a", 0.5), ("b", 0.5)], &[0, 0]),
    ] {
        let ids: Vec<String> = (0..count).map(|number| format!("r{number}")).collect();
        let units: Vec<Unit<'_>> = ids.iter().map(|id| Unit { id, stratum: None, group: None }).collect();
        let assigned = assign(&plan(shares, "7"), &units).unwrap();
        let counts: Vec<usize> =
            (0..shares.len()).map(|split| assigned.iter().filter(|at| **at == split).count()).collect();
        assert_eq!(counts, expected, "{count} by {shares:?}");
    }
}

#[test]
fn another_seed_is_another_choice_and_the_same_seed_the_same() {
    let ids: Vec<String> = (0..40).map(|number| format!("r{number}")).collect();
    let units: Vec<Unit<'_>> = ids.iter().map(|id| Unit { id, stratum: None, group: None }).collect();
    let by = |seed: &str| assign(&plan(&[("a", 0.5), ("b", 0.5)], seed), &units).unwrap();
    assert_eq!(by("1"), by("1"));
    assert_ne!(by("1"), by("2"));
}

#[test]
fn a_group_of_several_strata_is_refused() {
    let units = [("1", "x", "g"), ("2", "y", "g")];
    let units: Vec<Unit<'_>> = units
        .iter()
        .map(|(id, stratum, group)| Unit { id, stratum: Some(stratum.as_bytes()), group: Some(group.as_bytes()) })
        .collect();
    let refused = assign(&plan(&[("a", 0.5), ("b", 0.5)], "1"), &units).unwrap_err();
    assert!(refused.to_string().contains("the group of record `1`"), "{refused}");
}

#[test]
fn near_duplicates_are_found_across_splits_and_only_there() {
    let long = "please book a table for two at the italian place near the old station";
    let texts = [
        ("a", 0, "What is the capital of France?".to_owned()),
        ("b", 1, "what is the capital of france".to_owned()),
        ("c", 0, long.to_owned()),
        ("d", 1, long.replace("two", "three")),
        ("e", 0, format!("{long} tonight")),
        ("f", 1, "something else entirely is written here".to_owned()),
        ("g", 1, String::new()),
        ("h", 0, String::new()),
        ("i", 1, "what is the capital of spain".to_owned()),
    ];
    let records: Vec<Compared<'_>> =
        texts.iter().map(|(id, split, text)| Compared { id, split: *split, text: text.clone() }).collect();
    let found = find_leaks(&records, 0.7);
    let pairs: Vec<(&str, &str)> =
        found.pairs.iter().map(|pair| (records[pair.first].id, records[pair.second].id)).collect();
    assert_eq!(pairs, [("a", "b"), ("c", "d"), ("d", "e")], "{found:?}");
    assert_eq!(found.count, 3);
    assert!(!found.partial && (found.pairs[0].similarity - 1.0).abs() < 1e-12);
}

#[test]
fn the_same_letters_are_the_same_text() {
    assert_eq!(letters(["What is 2+2?"]), letters(["what is 2 + 2"]));
    assert_eq!(letters(["ab", "c"]), letters(["a", "bc"]));
    assert_ne!(letters(["abc"]), letters(["abd"]));
}

#[test]
fn groups_in_two_splits_are_told_with_a_record_of_each() {
    let groups: [(usize, &[u8], &str); 4] = [(0, b"x", "2"), (0, b"x", "1"), (1, b"x", "3"), (1, b"y", "4")];
    let torn = torn_groups(groups);
    assert_eq!(torn.len(), 1);
    assert_eq!(torn[0].records, [(0, "1"), (1, "3")]);
}

fn records() -> impl Strategy<Value = Vec<(u16, u8, u8)>> {
    proptest::collection::btree_map(any::<u16>(), (0u8..4, 0u8..12), 0..120)
        .prop_map(|records| records.into_iter().map(|(id, (stratum, group))| (id, stratum, group)).collect())
}

fn shares() -> impl Strategy<Value = Vec<(String, f64)>> {
    proptest::collection::vec(1u32..20, 1..4).prop_map(|weights| {
        let sum: u32 = weights.iter().sum();
        weights.iter().enumerate().map(|(at, weight)| (format!("s{at}"), f64::from(*weight) / f64::from(sum))).collect()
    })
}

proptest! {
    #[test]
    fn every_stratum_and_all_of_it_are_within_one_of_their_shares(records in records(), shares in shares(), seed in "[a-z]{0,3}") {
        let plan = SplitPlan { shares, seed, stratify_by: Some("s".into()), group_by: None };
        let held: Vec<(String, [u8; 1])> = records.iter().map(|(id, stratum, _)| (id.to_string(), [*stratum])).collect();
        let units: Vec<Unit<'_>> = held.iter().map(|(id, stratum)| Unit { id, stratum: Some(stratum), group: None }).collect();
        let assigned = assign(&plan, &units).unwrap();
        for stratum in [None, Some(0), Some(1), Some(2), Some(3)] {
            let meant = |at: &usize| stratum.is_none_or(|stratum| held[*at].1 == [stratum]);
            let total = (0..units.len()).filter(meant).count() as f64;
            for (split, (_, share)) in plan.shares.iter().enumerate() {
                let count = (0..units.len()).filter(meant).filter(|at| assigned[*at] == split).count() as f64;
                let room = if stratum.is_none() { 1.0 + plan.shares.len() as f64 / 2.0 } else { 1.0 };
                prop_assert!((count - share * total).abs() <= room + 1e-6, "{stratum:?} {split}: {count} of {}", share * total);
            }
        }
    }

    #[test]
    fn groups_stay_whole_and_the_order_does_not_matter(records in records(), shares in shares(), turn in 0usize..50) {
        let plan = SplitPlan { shares, seed: "1".into(), stratify_by: None, group_by: Some("g".into()) };
        let held: Vec<(String, [u8; 1])> = records.iter().map(|(id, _, group)| (id.to_string(), [*group])).collect();
        let unit = |(id, group): &(String, [u8; 1])| (id.clone(), *group);
        let split_of = |held: &[(String, [u8; 1])]| {
            let units: Vec<Unit<'_>> = held.iter().map(|(id, group)| Unit { id, stratum: None, group: Some(group) }).collect();
            let assigned = assign(&plan, &units).unwrap();
            held.iter().map(unit).zip(assigned).collect::<std::collections::BTreeMap<_, _>>()
        };
        let first = split_of(&held);
        let mut turned = held.clone();
        let middle = turn % turned.len().max(1);
        turned.rotate_left(middle);
        prop_assert_eq!(&first, &split_of(&turned));
        for ((_, group), split) in &first {
            for ((_, other), at) in &first {
                prop_assert!(group != other || split == at);
            }
        }
    }

    #[test]
    fn cleaning_what_is_clean_changes_nothing(texts in proptest::collection::vec("[ a\t]{0,4}", 0..5)) {
        let request = preparation(r#"{"cleaning_config":{"remove_nulls":true,"trim_whitespace":true}}"#);
        let cleaner = Cleaner::new(&request.cleaning, |_| Err::<Box<dyn Replace>, ()>(())).unwrap();
        let mut fields = Object::new();
        for (at, text) in texts.iter().enumerate() {
            let value = if text.is_empty() { Value::Null } else { Value::from(text.clone()) };
            fields.set(format!("f{at}"), Value::Array(vec![value.clone()]));
            fields.set(format!("g{at}"), value);
        }
        let mut counts = Counts::default();
        cleaner.trim(&mut fields, &mut counts);
        cleaner.tidy(&mut fields, &mut counts);
        let once = fields.clone();
        let mut again = Counts::default();
        cleaner.trim(&mut fields, &mut again);
        cleaner.tidy(&mut fields, &mut again);
        prop_assert_eq!(once, fields);
        prop_assert_eq!(again, Counts::default());
    }
}
