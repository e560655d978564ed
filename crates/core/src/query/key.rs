//! The order of values of any type, as bytes that compare alike.
//!
//! *Invariant:* two values of one type compare as the operators compare them; between types the order is fixed:
//! numbers, instants, other texts, booleans, lists, mappings. What is null has no key and comes last.

use crate::canonical;
use crate::filter::instant;
use crate::number::Number;
use crate::value::Value;

/// The bytes that a value is sorted by; none for null.
pub fn sort_key(value: &Value<'_>) -> Option<Vec<u8>> {
    let mut key = Vec::with_capacity(24);
    match value {
        Value::Null => return None,
        Value::Number(number) => {
            key.push(1);
            write_number(*number, &mut key);
        }
        Value::String(text) => match instant::read(text) {
            Some(instant) => {
                key.push(2);
                key.extend_from_slice(&(instant.seconds as u64 ^ 1 << 63).to_be_bytes());
                key.extend_from_slice(instant.fraction.as_bytes());
            }
            None => {
                key.push(3);
                key.extend_from_slice(text.as_bytes());
            }
        },
        Value::Bool(flag) => key.extend([4, u8::from(*flag)]),
        Value::Array(_) => {
            key.push(5);
            canonical::write(value, &mut key);
        }
        Value::Object(_) => {
            key.push(6);
            canonical::write(value, &mut key);
        }
    }
    Some(key)
}

/// The double at or below the number, in an order that bytes have, and how far the number is above it.
fn write_number(number: Number, key: &mut Vec<u8>) {
    let (double, above) = match (number.as_i64().map(i128::from), number.as_u64().map(i128::from)) {
        (Some(integer), _) | (_, Some(integer)) => below(integer),
        _ => (number.as_f64(), 0),
    };
    let bits = double.to_bits();
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    key.extend_from_slice(&ordered.to_be_bytes());
    key.extend_from_slice(&above.to_be_bytes());
}

#[allow(clippy::cast_precision_loss, reason = "what is lost is what comes back as the second part")]
fn below(integer: i128) -> (f64, u16) {
    let nearest = integer as f64;
    let double = if nearest as i128 > integer { nearest.next_down() } else { nearest };
    (double, u16::try_from(integer - double as i128).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn keys_sort_as_values_do() {
        let ascending = [
            "-1e300",
            "-9223372036854775808",
            "-9223372036854775807",
            "-1.5",
            "-1",
            "0",
            "0.1",
            "1",
            "1.5",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9223372036854775807",
            "18446744073709551614",
            "18446744073709551615",
            "1e300",
            "\"2023-12-31T23:30:00Z\"",
            "\"2024-01-01T00:00:00+00:15\"",
            "\"2024-01-01T00:00:00Z\"",
            "\"2024-01-01T00:00:00.5Z\"",
            "\"\"",
            "\"2024-01-01\"",
            "\"A\"",
            "\"a\"",
            "\"ab\"",
            "\"é\"",
            "\"\u{10000}\"",
            "false",
            "true",
            "[]",
            "{}",
        ];
        let keys: Vec<_> =
            ascending.iter().map(|text| json::read(text).ok().and_then(|value| sort_key(&value))).collect();
        for (index, pair) in keys.windows(2).enumerate() {
            assert!(pair[0].is_some() && pair[0] < pair[1], "{} {}", ascending[index], ascending[index + 1]);
        }
        assert_eq!(sort_key(&Value::Null), None);
        let same = |left, right| {
            let key = |text| json::read(text).ok().and_then(|value| sort_key(&value));
            assert_eq!(key(left), key(right), "{left} {right}");
        };
        same("1", "1.0");
        same("\"2024-01-01T00:00:00Z\"", "\"2024-01-01T01:00:00.0+01:00\"");
    }
}
