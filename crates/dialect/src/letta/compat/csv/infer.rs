//! What pandas takes a column for, and a cell of it.
//!
//! *Invariant:* the type is found from all cells of a column in order, because the first misfit decides what is tried next.

use super::super::value::{canonical_digits, float_text, parse_int};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    /// Integers with gaps, which makes them floats.
    IntOrNa,
    Uint,
    Float,
    Bool,
    /// Booleans with gaps.
    BoolOrNa,
    /// Integers beyond 64 bits.
    BigInt,
    Text,
    /// Text in which the words for "no value" stay text.
    TextOnly,
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'c> {
    Na,
    /// The digits of an integer.
    Int(String),
    Float(f64),
    Bool(bool),
    Text(&'c str),
}

impl Scalar<'_> {
    /// What Python's `str` makes of it.
    pub(super) fn to_text(&self) -> String {
        match self {
            Scalar::Na => "nan".to_owned(),
            Scalar::Int(digits) => digits.clone(),
            Scalar::Float(number) => float_text(*number),
            Scalar::Bool(true) => "True".to_owned(),
            Scalar::Bool(false) => "False".to_owned(),
            Scalar::Text(text) => (*text).to_owned(),
        }
    }
}

impl Kind {
    /// Whether numpy keeps it as numbers.
    pub(super) fn is_number(self) -> bool {
        self == Kind::Int || self == Kind::Uint || self.is_float()
    }

    /// Whether numpy keeps it as floats.
    pub(super) fn is_float(self) -> bool {
        matches!(self, Kind::Float | Kind::IntOrNa)
    }

    /// What a cell of such a column holds.
    pub(super) fn scalar(self, cell: &str) -> Scalar<'_> {
        if self != Kind::TextOnly && is_na(cell) {
            return Scalar::Na;
        }
        match self {
            Kind::Int | Kind::Uint => Scalar::Int(canonical_digits(trim(cell))),
            Kind::IntOrNa => canonical_digits(trim(cell)).parse().map_or(Scalar::Na, Scalar::Float),
            Kind::Float => float(cell).map_or(Scalar::Na, Scalar::Float),
            Kind::Bool | Kind::BoolOrNa => boolean(cell).map_or(Scalar::Na, Scalar::Bool),
            Kind::BigInt => parse_int(trim(cell)).map_or(Scalar::Na, Scalar::Int),
            Kind::Text | Kind::TextOnly => Scalar::Text(cell),
        }
    }
}

/// Finds the type of a column.
pub(super) fn infer<'c>(cells: impl Iterator<Item = &'c str> + Clone) -> Kind {
    match integers(cells.clone()) {
        Integers::All(kind) => return kind,
        Integers::Beyond => {
            let all = cells.clone().filter(|cell| !is_na(cell)).all(|cell| parse_int(trim(cell)).is_some());
            return if all { Kind::BigInt } else { Kind::TextOnly };
        }
        Integers::Conflict => return Kind::TextOnly,
        Integers::Not => {}
    }
    if cells.clone().all(|cell| is_na(cell) || float(cell).is_some()) {
        return Kind::Float;
    }
    if cells.clone().all(|cell| is_na(cell) || boolean(cell).is_some()) {
        return if cells.clone().any(is_na) { Kind::BoolOrNa } else { Kind::Bool };
    }
    Kind::Text
}

/// How the search for integers ends.
enum Integers {
    All(Kind),
    /// Some cell is none.
    Not,
    /// Some do not fit 64 bits.
    Beyond,
    /// Some need the sign's bit, and others are below 0 or absent.
    Conflict,
}

fn integers<'c>(cells: impl Iterator<Item = &'c str> + Clone) -> Integers {
    let mut gaps = false;
    for cell in cells.clone() {
        if is_na(cell) {
            gaps = true;
            continue;
        }
        let Some(digits) = integer(cell) else { return Integers::Not };
        if digits.parse::<i64>().is_err() {
            return if ends_in_space(cell) { Integers::Not } else { unsigned(cells) };
        }
    }
    Integers::All(if gaps { Kind::IntOrNa } else { Kind::Int })
}

fn unsigned<'c>(cells: impl Iterator<Item = &'c str>) -> Integers {
    let (mut gaps, mut signed, mut large) = (false, false, false);
    for cell in cells {
        if is_na(cell) {
            gaps = true;
            continue;
        }
        // Nothing after a minus sign is looked at here.
        if trim(cell).starts_with('-') {
            signed = true;
            continue;
        }
        let Some(digits) = integer(cell) else { return Integers::Not };
        match digits.parse::<u64>() {
            Ok(number) => large |= number > i64::MAX as u64,
            Err(_) if ends_in_space(cell) => return Integers::Not,
            Err(_) => return Integers::Beyond,
        }
    }
    match (large, signed || gaps) {
        (true, true) => Integers::Conflict,
        (true, false) => Integers::All(Kind::Uint),
        (false, _) => Integers::Beyond,
    }
}

/// White space after a number too large makes it no integer at all.
fn ends_in_space(cell: &str) -> bool {
    !cell.ends_with(|last: char| last.is_ascii_digit())
}

/// Whether a cell is one of the words for "no value".
fn is_na(cell: &str) -> bool {
    matches!(
        cell,
        "" | "#N/A"
            | "#N/A N/A"
            | "#NA"
            | "-1.#IND"
            | "-1.#QNAN"
            | "-NaN"
            | "-nan"
            | "1.#IND"
            | "1.#QNAN"
            | "<NA>"
            | "N/A"
            | "NA"
            | "NULL"
            | "NaN"
            | "None"
            | "n/a"
            | "nan"
            | "null"
    )
}

/// The sign and digits of an integer.
fn integer(cell: &str) -> Option<&str> {
    let text = trim(cell);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then_some(text)
}

fn float(cell: &str) -> Option<f64> {
    let infinite = ["inf", "+inf", "infinity", "+infinity"].iter().any(|word| cell.eq_ignore_ascii_case(word));
    if infinite {
        return Some(f64::INFINITY);
    }
    if ["-inf", "-infinity"].iter().any(|word| cell.eq_ignore_ascii_case(word)) {
        return Some(f64::NEG_INFINITY);
    }
    let text = trim(cell);
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if plain { text.parse().ok() } else { None }
}

fn boolean(cell: &str) -> Option<bool> {
    match cell {
        _ if cell.eq_ignore_ascii_case("true") => Some(true),
        _ if cell.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Without the white space that C knows.
fn trim(cell: &str) -> &str {
    cell.trim_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r'])
}
