//! What a database holds as values, with nothing rounded.
//!
//! *Invariant:* a number becomes a number only when it is exactly that number; else it stays the text that it was.

use base64::Engine as _;
use heldset_core::number::Number;
use heldset_core::value::Value;

/// A number by its digits: a number when it is held exactly, else text.
pub(super) fn decimal(text: &str) -> Value<'static> {
    match Number::from_literal(&literal(text)) {
        Ok(number) if same(&number.to_string(), text) => Value::Number(number),
        _ => Value::from(text.to_owned()),
    }
}

/// A double; one that is not finite stays text, as the database writes it.
pub(super) fn double(number: f64) -> Value<'static> {
    match Number::from_f64(number) {
        Ok(number) => Value::Number(number),
        Err(_) if number.is_nan() => Value::from("NaN"),
        Err(_) => Value::from(if number > 0.0 { "Infinity" } else { "-Infinity" }),
    }
}

/// A double by the text that stands for it.
pub(super) fn double_text(text: &str) -> Value<'static> {
    text.parse::<f64>().map_or_else(|_| Value::from(text.to_owned()), double)
}

/// Bytes as base64.
pub(super) fn bytes(bytes: &[u8]) -> Value<'static> {
    Value::from(base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// Bytes that are written as `\x6869`.
pub(super) fn hex_bytes(text: &str) -> Value<'static> {
    let digits = text.strip_prefix("\\x").unwrap_or(text).as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    match digits.chunks(2).map(pair).collect::<Option<Vec<u8>>>() {
        Some(found) => bytes(&found),
        None => Value::from(text.to_owned()),
    }
}

/// JSON that a column holds; text when it is not strict JSON, or has a number that would be rounded.
pub(super) fn json(text: &str) -> Value<'static> {
    heldset_core::json::read(text).map_or_else(|_| Value::from(text.to_owned()), Value::into_owned)
}

/// A timestamp as RFC 3339. One without an offset is taken to be in UTC; one that is no time of a clock stays text.
pub(super) fn timestamp(text: &str) -> Value<'static> {
    let Some((date, time)) = text.split_once([' ', 'T']).filter(|(date, _)| is_date(date)) else {
        return Value::from(text.to_owned());
    };
    let (clock, offset) = match time.find(['+', '-', 'Z']) {
        Some(at) => time.split_at(at),
        None => (time, "Z"),
    };
    let offset = match offset {
        "+00" | "+00:00" | "Z" => "Z".to_owned(),
        short if short.len() == 3 => format!("{short}:00"),
        other => other.to_owned(),
    };
    let bc = clock.contains(' ') || offset.contains(' ');
    Value::from(if bc { text.to_owned() } else { format!("{date}T{clock}{offset}") })
}

fn is_date(text: &str) -> bool {
    let digits = |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2))
}

/// A number as JSON writes it: no `+`, no bare point.
fn literal(text: &str) -> String {
    let text = text.trim().trim_start_matches('+');
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let digits = if digits.starts_with('.') { format!("0{digits}") } else { digits.to_owned() };
    // Zeros after the point say how many places a column has, not another number.
    let digits = match digits.contains('.') && !digits.contains(['e', 'E']) {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    if is_number { format!("{sign}{digits}") } else { "NaN".to_owned() }
}

/// Whether two texts are the same number: the same digits at the same places.
fn same(a: &str, b: &str) -> bool {
    match (scientific(a), scientific(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// Sign, digits without zeros at either end, and the power of ten of the first digit.
fn scientific(text: &str) -> Option<(bool, String, i64)> {
    let text = text.trim().trim_start_matches('+');
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.trim_start_matches('+').parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let leading = digits.bytes().take_while(|byte| *byte == b'0').count();
    let significant = digits.trim_matches('0').to_owned();
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    Some((negative, significant, whole.len() as i64 - leading as i64 + power))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &Value<'static>) -> String {
        String::from_utf8(heldset_core::canonical::bytes(value)).expect("canonical bytes are text")
    }

    #[test]
    fn a_decimal_is_exact_or_text() {
        for (text, expected) in [
            ("0", "0"),
            ("1.50", "1.5"),
            ("-0.10", "-0.1"),
            ("100.00", "100"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551616", "\"18446744073709551616\""),
            ("99999999999999999999.99", "\"99999999999999999999.99\""),
            ("0.1234567890123456789", "\"0.1234567890123456789\""),
            ("333333333.33333329", "\"333333333.33333329\""),
            ("12345678901234.5", "12345678901234.5"),
            ("0.000001", "0.000001"),
            ("1e3", "1000"),
            ("NaN", "\"NaN\""),
            ("Infinity", "\"Infinity\""),
            (".5", "0.5"),
        ] {
            assert_eq!(shown(&decimal(text)), expected, "{text}");
        }
    }

    #[test]
    fn times_have_an_offset() {
        for (text, expected) in [
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05Z"),
            ("2026-01-02 03:04:05.123456+00", "2026-01-02T03:04:05.123456Z"),
            ("2026-01-02 03:04:05+05:30", "2026-01-02T03:04:05+05:30"),
            ("2026-01-02 03:04:05-08", "2026-01-02T03:04:05-08:00"),
            ("infinity", "infinity"),
            ("0044-03-15 12:00:00 BC", "0044-03-15 12:00:00 BC"),
            ("12026-01-02 03:04:05", "12026-01-02 03:04:05"),
        ] {
            assert_eq!(timestamp(text).as_str(), Some(expected));
        }
    }

    #[test]
    fn bytes_are_base64_and_json_is_json() {
        assert_eq!(hex_bytes("\\x6869").as_str(), Some("aGk="));
        assert_eq!(shown(&json("{\"b\": [1, 2.50]}")), "{\"b\":[1,2.5]}");
        assert_eq!(shown(&json("{\"a\": 1, \"a\": 2}")), "\"{\\\"a\\\": 1, \\\"a\\\": 2}\"");
        assert_eq!(shown(&double(f64::NEG_INFINITY)), "\"-Infinity\"");
        assert_eq!(shown(&double(0.1)), "0.1");
    }
}
