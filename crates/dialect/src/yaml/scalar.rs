//! What a scalar stands for: the core schema of YAML 1.2, kept strict.
//!
//! *Invariant:* `yes`, `no`, `on` and `off` are text, and so is a number with leading zeros: `007` is by the schema
//! the integer 7, and an id or a postcode written that way would silently become another one.

use heldset_core::number::{Number, NumberError};

/// What a scalar stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved {
    Null,
    Bool(bool),
    Number(Number),
    Text,
}

/// Why a scalar is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ScalarError {
    Number(NumberError),
    /// The tag says one thing, the text another.
    NotOfTag,
}

/// Whether a text written without quotes is read as that text.
pub(crate) fn is_plain_text(text: &str) -> bool {
    plain(text) == Ok(Resolved::Text)
}

/// A scalar without quotes and without a tag.
pub(super) fn plain(text: &str) -> Result<Resolved, ScalarError> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        _ if has_leading_zeros(text) => Resolved::Text,
        _ => number(text)?.map_or(Resolved::Text, Resolved::Number),
    })
}

/// A scalar with one of the core tags.
pub(super) fn tagged(tag: &str, text: &str) -> Result<Resolved, ScalarError> {
    let as_plain = || plain(text);
    match tag {
        "str" => Ok(Resolved::Text),
        "null" => as_plain().and_then(|found| only(found, found == Resolved::Null)),
        "bool" => as_plain().and_then(|found| only(found, matches!(found, Resolved::Bool(_)))),
        "int" if is_float(text) => Err(ScalarError::NotOfTag),
        "int" | "float" => number(text)?.map(Resolved::Number).ok_or(ScalarError::NotOfTag),
        _ => Err(ScalarError::NotOfTag),
    }
}

fn only(found: Resolved, fits: bool) -> Result<Resolved, ScalarError> {
    if fits { Ok(found) } else { Err(ScalarError::NotOfTag) }
}

fn has_leading_zeros(text: &str) -> bool {
    let digits = unsigned(text).as_bytes();
    digits.first() == Some(&b'0') && digits.get(1).is_some_and(u8::is_ascii_digit)
}

fn is_float(text: &str) -> bool {
    !text.starts_with("0x") && text.contains(['.', 'e', 'E'])
}

/// The number that a text is by the core schema; `None` when it is not of that form.
fn number(text: &str) -> Result<Option<Number>, ScalarError> {
    let form = unsigned(text);
    if let ".inf" | ".Inf" | ".INF" = form {
        return Err(ScalarError::Number(NumberError::NotFinite));
    }
    if let ".nan" | ".NaN" | ".NAN" = text {
        return Err(ScalarError::Number(NumberError::NotFinite));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return of_radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return of_radix(digits, 8);
    }
    if !is_decimal(form) {
        return Ok(None);
    }
    let literal = text.strip_prefix('+').unwrap_or(text);
    Number::from_literal(literal).map(Some).map_err(ScalarError::Number)
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn of_radix(digits: &str, radix: u32) -> Result<Option<Number>, ScalarError> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Ok(None);
    }
    let number = u64::from_str_radix(digits, radix).map_err(|_| ScalarError::Number(NumberError::Inexact))?;
    Ok(Some(Number::from_u64(number)))
}

/// Digits, perhaps with a point among or around them, perhaps with an exponent.
fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let mantissa_fits = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
    };
    mantissa_fits && exponent.is_none_or(|exponent| digits(unsigned(exponent)))
}
