//! Numbers without silent rounding: exact 64-bit integers, and doubles for every other decimal.
//!
//! *Invariant:* a number whose canonical text is an integer within 64 bits is held as that integer,
//! so `1`, `1.0` and `1e0` are one value. A literal that would lose its meaning is refused.

use std::fmt;

use thiserror::Error;

/// An exact integer or a finite double that is not one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(Repr);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Repr {
    Int(i64),
    /// Only above `i64::MAX`.
    Big(u64),
    /// Finite, and not equal to any integer whose canonical text fits 64 bits.
    Double(f64),
}

/// Powers of ten up to the number of digits that are surely exact.
const POWERS: &[f64] = &[1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Why a number literal is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NumberError {
    /// An integer literal that neither 64 bits nor a double's own text can hold.
    #[error("integer beyond 64 bits")]
    Inexact,
    /// A literal that becomes infinite, or not a number.
    #[error("number is not finite")]
    NotFinite,
    /// A literal that is not zero and becomes zero.
    #[error("number is not zero and becomes zero")]
    Vanishes,
}

impl Number {
    /// An exact integer.
    pub fn from_i64(number: i64) -> Self {
        Number(Repr::Int(number))
    }

    /// An exact integer.
    pub fn from_u64(number: u64) -> Self {
        match i64::try_from(number) {
            Ok(small) => Number(Repr::Int(small)),
            Err(_) => Number(Repr::Big(number)),
        }
    }

    /// The number a double stands for; infinities and NaN are refused.
    pub fn from_f64(number: f64) -> Result<Self, NumberError> {
        if !number.is_finite() {
            return Err(NumberError::NotFinite);
        }
        if number.abs() <= 9_007_199_254_740_992.0 {
            let whole = number as i64;
            return Ok(Number(if whole as f64 == number { Repr::Int(whole) } else { Repr::Double(number) }));
        }
        if number.abs() >= 1e21 {
            return Ok(Number(Repr::Double(number)));
        }
        let mut buffer = ryu_js::Buffer::new();
        Ok(integer(buffer.format_finite(number)).unwrap_or(Number(Repr::Double(number))))
    }

    /// The number of `digits` with the point before the last `places` of them, when a double holds both exactly:
    /// then one division rounds as reading the literal would.
    pub(crate) fn from_short_decimal(digits: i64, places: usize) -> Option<Self> {
        let power = *POWERS.get(places)?;
        (digits.unsigned_abs() < 1 << 53).then(|| Number::from_f64(digits as f64 / power).ok()).flatten()
    }

    /// Reads a literal that already has the form of a JSON number.
    pub fn from_literal(literal: &str) -> Result<Self, NumberError> {
        if literal.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return integer(literal).map_or_else(|| double_text(literal), Ok);
        }
        let number: f64 = literal.parse().map_err(|_| NumberError::NotFinite)?;
        let mantissa = literal.split(['e', 'E']).next().unwrap_or(literal);
        if number == 0.0 && mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
            return Err(NumberError::Vanishes);
        }
        Number::from_f64(number)
    }

    /// The integer, when it is one within `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(number) => Some(number),
            _ => None,
        }
    }

    /// The integer, when it is one within `u64`.
    pub fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Repr::Int(number) => u64::try_from(number).ok(),
            Repr::Big(number) => Some(number),
            Repr::Double(_) => None,
        }
    }

    /// Whether this is an exact 64-bit integer.
    pub fn is_integer(&self) -> bool {
        !matches!(self.0, Repr::Double(_))
    }

    /// The nearest double.
    pub fn as_f64(&self) -> f64 {
        match self.0 {
            Repr::Int(number) => number as f64,
            Repr::Big(number) => number as f64,
            Repr::Double(number) => number,
        }
    }
}

/// The canonical text: integers exactly, doubles as RFC 8785 writes them.
impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Int(number) => write!(out, "{number}"),
            Repr::Big(number) => write!(out, "{number}"),
            Repr::Double(number) => out.write_str(ryu_js::Buffer::new().format_finite(number)),
        }
    }
}

fn integer(literal: &str) -> Option<Number> {
    if let Ok(number) = literal.parse::<i64>() {
        return Some(Number(Repr::Int(number)));
    }
    literal.parse::<u64>().ok().map(Number::from_u64)
}

/// An integer literal beyond 64 bits stands only if it is exactly the text of its double.
fn double_text(literal: &str) -> Result<Number, NumberError> {
    let number: f64 = literal.parse().map_err(|_| NumberError::NotFinite)?;
    if !number.is_finite() {
        return Err(NumberError::Inexact);
    }
    if ryu_js::Buffer::new().format_finite(number) == literal {
        return Ok(Number(Repr::Double(number)));
    }
    Err(NumberError::Inexact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(literal: &str) -> String {
        Number::from_literal(literal).map_or_else(|error| format!("refused: {error}"), |number| number.to_string())
    }

    #[test]
    fn literals_keep_their_meaning_or_are_refused() {
        for (literal, expected) in [
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e5", "0"),
            ("1.0", "1"),
            ("1E5", "100000"),
            ("9007199254740993", "9007199254740993"),
            ("9007199254740993.0", "9007199254740992"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551615.0", "18446744073709552000"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("1e20", "100000000000000000000"),
            ("100000000000000000000", "100000000000000000000"),
            ("100000000000000000001", "refused: integer beyond 64 bits"),
            ("5e-324", "5e-324"),
            ("1e-400", "refused: number is not zero and becomes zero"),
            ("1e400", "refused: number is not finite"),
            ("333333333.33333329", "333333333.3333333"),
        ] {
            assert_eq!(text(literal), expected, "{literal}");
        }
    }

    #[test]
    fn a_short_decimal_is_the_number_of_its_literal() {
        for places in 0..=15 {
            for digits in [0, 1, 7, 10, 123, 999_999_999_999_999, 100_000_000_000_001, 314_159_265_358_979] {
                let literal = format!("{digits}e-{places}");
                let expected = Number::from_literal(&literal).ok();
                assert_eq!(Number::from_short_decimal(digits, places), expected, "{literal}");
            }
        }
        assert_eq!(Number::from_short_decimal(1 << 53, 1), None);
    }

    #[test]
    fn a_double_that_is_an_integer_equals_that_integer() {
        assert_eq!(Number::from_f64(1e18), Ok(Number::from_i64(1_000_000_000_000_000_000)));
        assert_eq!(Number::from_literal("1e19"), Ok(Number::from_u64(10_000_000_000_000_000_000)));
        assert_eq!(Number::from_f64(-0.0), Ok(Number::from_i64(0)));
    }
}
