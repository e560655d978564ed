//! Skimming and reading agree on what is strict JSON.

use heldset_core::json;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

fn check(text: &str) {
    let read = json::read(text).map(|_| ());
    assert_eq!(json::skim(text).map(|_| ()), read, "{text}");
    assert_eq!(json::read_shallow(text, &|name| name == "a").map(|_| ()), read, "{text}");
}

#[test]
fn what_is_passed_over_is_refused_by_the_same_rules() {
    let deep = |depth: usize| format!("{{\"b\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let many: String = (0..40).map(|key| format!("\"k{key}\":{key},")).collect();
    for text in [
        r#"{"b":{"x":1,"x":2}}"#,
        r#"{"b":{"x":1,"\u0078":2}}"#,
        r#"{"b":[{"x":[1e400]}]}"#,
        r#"{"b":[12345678901234567890123]}"#,
        r#"{"b":["\ud800"]}"#,
        r#"{"b":[1,]}"#,
        r#"{"b":{"x" 1}}"#,
        r#"{"b":{}} x"#,
        r#"{"b":{},"b":{}}"#,
        r#"[{"b":1}"#,
        &deep(63),
        &deep(64),
        &format!("{{\"b\":{{{many}\"k7\":0}}}}"),
        &format!("{{\"b\":{{{many}\"k77\":0}}}}"),
    ] {
        check(text);
    }
}

#[test]
fn fields_that_are_wanted_are_whole_and_the_others_keep_their_kind() {
    let value =
        json::read_shallow(r#"{"a":[{"x":1}],"b":[{"x":1}],"c":{"y":{}},"d":"t"}"#, &|name| name == "a").unwrap();
    assert_eq!(value, json::read(r#"{"a":[{"x":1}],"b":[],"c":{},"d":"t"}"#).unwrap());
}

proptest! {
    #![proptest_config(Config {
        cases: 2000,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(7),
        ..Config::default()
    })]

    #[test]
    fn random_texts_end_alike(text in "[\\[\\]{}\"ab:,1e.\\\\u0 -]{0,24}") {
        check(&text);
    }
}
