//! How two values compare: numbers exactly, timestamps as instants, text by code point.
//!
//! *Invariant:* values of different types have no order and are never the same.

use std::cmp::Ordering;

use super::instant;
use crate::number::Number;
use crate::value::Value;

/// The order of two numbers or two texts; `None` for everything else.
pub fn order(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Some(numbers(*left, *right)),
        (Value::String(left), Value::String(right)) => match (instant::read(left), instant::read(right)) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            // The order of UTF-8 bytes is that of code points.
            _ => Some(left.as_bytes().cmp(right.as_bytes())),
        },
        _ => None,
    }
}

/// Whether two values are the same: two timestamps when they are the same instant.
pub(super) fn same(left: &Value<'_>, right: &Value<'_>) -> bool {
    left == right || order(left, right) == Some(Ordering::Equal)
}

/// Exact, also between integers that no double holds and doubles.
fn numbers(left: Number, right: Number) -> Ordering {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => with_double(left, right.as_f64()),
        (None, Some(right)) => with_double(right, left.as_f64()).reverse(),
        (None, None) => left.as_f64().total_cmp(&right.as_f64()),
    }
}

fn integer(number: Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// The cast saturates far beyond 64 bits, so its side of the integer is right.
fn with_double(left: i128, right: f64) -> Ordering {
    let whole = right.floor();
    // Between two integers the lower one decides: an integer equal to it is still smaller.
    left.cmp(&(whole as i128)).then(if right > whole { Ordering::Less } else { Ordering::Equal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn numbers_compare_exactly() {
        for (left, right, expected) in [
            ("1", "1.0", Ordering::Equal),
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("9223372036854775807", "9223372036854775808", Ordering::Less),
            ("18446744073709551615", "18446744073709551616.0", Ordering::Less),
            ("18446744073709551615", "1e300", Ordering::Less),
            ("-9223372036854775808", "-1e300", Ordering::Greater),
            ("2", "1.5", Ordering::Greater),
            ("1", "1.5", Ordering::Less),
            ("-1", "-1.5", Ordering::Greater),
            ("-2", "-1.5", Ordering::Less),
            ("0.1", "0.2", Ordering::Less),
            ("0.5", "0", Ordering::Greater),
        ] {
            let values = json::read(left).ok().zip(json::read(right).ok());
            let found = values.and_then(|(left, right)| order(&left, &right));
            assert_eq!(found, Some(expected), "{left} {right}");
        }
    }
}
