//! What a policy shows more than another one, against looking at every field of every split.

use std::collections::BTreeMap;

use heldset_core::json;
use heldset_core::visibility::{Audience, Audiences, Label, Policy, PolicyDraft};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::generate::config;

const KEYS: &[&str] = &["a", "ab", "b", "a*", "ab*"];
/// One name of each class that the keys can make.
const NAMES: &[&str] = &["a", "ab", "b", "ac", "abc", "c"];
const LABELS: &[&str] = &["public", "agent_visible", "internal", "evaluator_only", "p", "q"];
const TERMS: &[&str] =
    &["{}", r#"{"places":["control_plane"]}"#, r#"{"derived":"labels"}"#, r#"{"places":["local_disk"]}"#];

fn audiences() -> impl Strategy<Value = Audiences> + Clone {
    let some = [Audience::Agent, Audience::Evaluator, Audience::Grader, Audience::Log].to_vec();
    subsequence(some, 1..=4).prop_map(|some| some.into_iter().collect())
}

fn labelled(keys: &'static [&'static str]) -> impl Strategy<Value = BTreeMap<String, String>> + Clone {
    prop::collection::btree_map(select(keys).prop_map(str::to_owned), select(LABELS).prop_map(str::to_owned), 0..4)
}

fn policy(same: bool) -> impl Strategy<Value = (Option<Policy>, Option<Policy>)> {
    let labels = (audiences(), audiences());
    let movement = prop::collection::btree_map(select(LABELS), select(TERMS), 0..3);
    let one = (labelled(&["s", "t"]), labelled(KEYS), select(LABELS));
    let terms = (labels, movement);
    (terms.clone(), terms, one.clone(), one).prop_map(move |(before_terms, terms, before, now)| {
        let draft = |((p, q), movement): (_, BTreeMap<&str, &str>), (splits, fields, default): (_, _, &str)| {
            let terms = |text: &str| json::read(text).unwrap().as_object().unwrap().clone().into_owned();
            let movement = movement.into_iter().map(|(label, text)| (label.to_owned(), terms(text)));
            let labels = [("p".to_owned(), p), ("q".to_owned(), q)].into();
            let default = Some(default.to_owned());
            let answers_for = BTreeMap::new();
            PolicyDraft { labels, splits, fields, default, movement: movement.collect(), answers_for }.resolve().ok()
        };
        let before_terms = if same { terms.clone() } else { before_terms };
        (draft(before_terms, before), draft(terms, now))
    })
}

/// Whether any name, or the id, has more in a split that both have.
fn gained(now: &Policy, before: &Policy) -> bool {
    let more = |new: &Label, old: &Label| {
        let (there, then) = (now.movement(new), before.movement(old));
        !new.audiences().is_subset(old.audiences())
            || !there.places.is_subset(&then.places)
            || !then.derived.allows(there.derived)
    };
    now.splits().any(|(split, _)| match (now.in_split(split), before.in_split(split)) {
        (Ok(new), Ok(old)) => more(new.own(), old.own()) || NAMES.iter().any(|name| more(new.of(name), old.of(name))),
        _ => false,
    })
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn whatever_gains_is_told((before, now) in policy(false)) {
        if let (Some(before), Some(now)) = (before, now) {
            prop_assert!(!gained(&now, &before) || !now.wider_than(&before).is_empty());
            prop_assert_eq!(now.wider_than(&now), Vec::<String>::new());
        }
    }

    #[test]
    fn with_the_same_labels_nothing_is_told_unless_something_gains((before, now) in policy(true)) {
        if let (Some(before), Some(now)) = (before, now) {
            prop_assert_eq!(gained(&now, &before), !now.wider_than(&before).is_empty());
        }
    }
}
