//! Canonical bytes and the strict reader, against random values.

use std::cmp::Ordering;

use heldset_core::number::Number;
use heldset_core::value::Value;
use heldset_core::{canonical, json};
use proptest::prelude::*;

use crate::generate::{config, double, reversed, value};

fn text_of(value: &Value<'_>) -> String {
    String::from_utf8(canonical::bytes(value)).unwrap()
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn canonical_bytes_read_back_to_the_same_value_and_bytes(value in value()) {
        let text = text_of(&value);
        let again = json::read(&text).unwrap();
        prop_assert_eq!(&again, &value);
        prop_assert_eq!(text_of(&again), text);
    }

    #[test]
    fn the_order_of_keys_does_not_change_canonical_bytes(value in value()) {
        prop_assert_eq!(text_of(&reversed(&value)), text_of(&value));
    }

    #[test]
    fn equal_values_are_those_with_equal_bytes(a in value(), b in value()) {
        prop_assert_eq!(a == b, canonical::bytes(&a) == canonical::bytes(&b));
    }

    #[test]
    fn keys_are_in_the_order_of_their_utf16_units(a in any::<String>(), b in any::<String>()) {
        let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        prop_assert_eq!(canonical::key_order(&a, &b), units(&a).cmp(&units(&b)));
    }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn the_text_of_a_double_reads_back_to_it(double in double()) {
        let number = Number::from_f64(double).unwrap();
        prop_assert_eq!(number.as_f64(), double);
        let text = number.to_string();
        prop_assert_eq!(Number::from_literal(&text), Ok(number));
        prop_assert_eq!(json::read(&text), Ok(Value::Number(number)));
    }

    #[test]
    fn a_whole_double_is_the_integer_of_its_text(whole in -1e22_f64..1e22, places in 0_i32..22) {
        let double = (whole / 10_f64.powi(places)).trunc();
        let number = Number::from_f64(double).unwrap();
        prop_assert_eq!(number.as_f64(), double);
        prop_assert_eq!(Number::from_literal(&number.to_string()), Ok(number));
        prop_assert_eq!(number.is_integer(), number.to_string().parse::<i128>().is_ok_and(in_64_bits));
    }

    #[test]
    fn an_integer_is_exact_or_refused(digits in "-?[1-9][0-9]{0,24}") {
        let exact: i128 = digits.parse().unwrap();
        match Number::from_literal(&digits) {
            Ok(number) => prop_assert_eq!(number.to_string(), digits),
            Err(_) => prop_assert!(!in_64_bits(exact)),
        }
    }
}

fn in_64_bits(number: i128) -> bool {
    i64::try_from(number).is_ok() || u64::try_from(number).is_ok()
}

#[test]
fn keys_beyond_the_basic_plane_come_before_those_that_follow_the_surrogates() {
    assert_eq!(canonical::key_order("\u{1f600}", "\u{fb33}"), Ordering::Less);
    assert_eq!(canonical::key_order("\u{fb33}", "\u{1f600}"), Ordering::Greater);
    assert_eq!(canonical::key_order("z", "\u{1f600}"), Ordering::Less);
}
