//! Values as Python holds them: integers of any size, floats with NaN and the infinities, text with lone surrogates.
//!
//! *Invariant:* nothing is rounded or repaired on the way in; only the rules of the released loader change a value.

use std::collections::HashMap;

/// A Python value, as far as JSON can make one.
#[derive(Debug, PartialEq)]
pub enum PyValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer as its decimal digits, without leading zeros and with `-` only before a number below 0.
    Int(String),
    /// A float, which may be NaN or infinite.
    Float(f64),
    /// A string.
    Str(PyText),
    /// A list.
    List(Vec<PyValue>),
    /// A dict.
    Dict(PyDict),
}

/// Text that may hold lone surrogates: UTF-8, and for a lone surrogate the three bytes of its code point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PyText(Vec<u8>);

/// A dict in the order in which its keys first came.
#[derive(Debug, Default)]
pub struct PyDict {
    entries: Vec<(PyText, PyValue)>,
    /// Where a key is; kept only once there are many.
    places: HashMap<PyText, usize>,
}

/// From how many keys on a dict looks them up by hash.
const MANY_KEYS: usize = 16;

impl PyValue {
    /// Whether Python takes it for true.
    pub(super) fn is_true(&self) -> bool {
        match self {
            PyValue::None => false,
            PyValue::Bool(flag) => *flag,
            PyValue::Int(digits) => digits != "0",
            PyValue::Float(number) => *number != 0.0,
            PyValue::Str(text) => !text.0.is_empty(),
            PyValue::List(items) => !items.is_empty(),
            PyValue::Dict(dict) => !dict.is_empty(),
        }
    }

    /// What it is, in the words of messages.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            PyValue::None => "null",
            PyValue::Bool(_) => "a boolean",
            PyValue::Int(_) | PyValue::Float(_) => "a number",
            PyValue::Str(_) => "text",
            PyValue::List(_) => "a list",
            PyValue::Dict(_) => "a mapping",
        }
    }
}

impl PyText {
    /// The bytes: UTF-8 but for lone surrogates.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, unless a lone surrogate is in it.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Adds a code point; `unit` below 0x110000, a lone surrogate included.
    pub(super) fn push_code(&mut self, unit: u32) {
        match char::from_u32(unit) {
            Some(char) => self.push_str(char.encode_utf8(&mut [0; 4])),
            None => {
                self.0.extend([0xe0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8])
            }
        }
    }
}

impl From<&str> for PyText {
    fn from(text: &str) -> Self {
        PyText(text.as_bytes().to_vec())
    }
}

impl From<String> for PyText {
    fn from(text: String) -> Self {
        PyText(text.into_bytes())
    }
}

impl PyDict {
    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PyText, &PyValue)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&PyValue> {
        self.entries.iter().find(|(name, _)| name.0 == key.as_bytes()).map(|(_, value)| value)
    }

    /// Takes the value of `key` and leaves `None` there; an absent key gives `None` too.
    pub(super) fn take(&mut self, key: &str) -> PyValue {
        let entry = self.entries.iter_mut().find(|(name, _)| name.0 == key.as_bytes());
        entry.map_or(PyValue::None, |(_, value)| std::mem::replace(value, PyValue::None))
    }

    /// Sets `key`; of a repeated key the last value stays, at the first place.
    pub(super) fn set(&mut self, key: PyText, value: PyValue) {
        let place = match self.entries.len() < MANY_KEYS {
            true => self.entries.iter().position(|(name, _)| *name == key),
            false => self.places.get(&key).copied(),
        };
        match place.and_then(|place| self.entries.get_mut(place)) {
            Some((_, old)) => *old = value,
            None => self.add(key, value),
        }
    }

    fn add(&mut self, key: PyText, value: PyValue) {
        if self.entries.len() >= MANY_KEYS {
            self.places.insert(key.clone(), self.entries.len());
        }
        self.entries.push((key, value));
        if self.entries.len() == MANY_KEYS {
            self.places = self.entries.iter().enumerate().map(|(place, (key, _))| (key.clone(), place)).collect();
        }
    }
}

impl PartialEq for PyDict {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// The text without the white space around it, by Python's idea of it.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(|char: char| char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char))
}

/// A float as Python writes it.
pub(super) fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let shortest = shortest(number);
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return plain(mantissa, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// The fewest digits that stand for the number, as `d.ddde±x`; of two that are as near, the even one.
fn shortest(number: f64) -> String {
    let short = format!("{number:e}");
    let digits = short.split('e').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit).count();
    let even = format!("{number:.*e}", digits.saturating_sub(1));
    if even.parse() == Ok(number) { even } else { short }
}

/// The digits of `d.ddde±x` with the point moved to its place.
fn plain(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    let Ok(whole) = usize::try_from(exponent + 1) else {
        return format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    };
    match digits.split_at_checked(whole) {
        Some(("", fraction)) => format!("{sign}0.{fraction}"),
        Some((whole, "")) => format!("{sign}{whole}.0"),
        Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len())),
    }
}

/// The integer a whole float stands for, with all its digits; `None` when it is not whole.
pub(super) fn whole_digits(number: f64) -> Option<String> {
    (number.is_finite() && number.fract() == 0.0).then(|| digits_of(number))
}

/// The digits before the point.
pub(super) fn digits_of(number: f64) -> String {
    let whole = number.trunc();
    if whole == 0.0 { "0".to_owned() } else { format!("{whole:.0}") }
}

/// The digits of an integer as `int()` and JSON make it: `text` is an optional sign and digits.
pub(super) fn canonical_digits(text: &str) -> String {
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("{sign}{digits}"),
    }
}

/// The most digits Python makes an integer of.
pub(super) const MAX_DIGITS: usize = 4300;

/// What `int(text)` makes of text in base 10; `None` when it refuses. Digits of other scripts are not known here.
pub(super) fn parse_int(text: &str) -> Option<String> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let grouped = digits.split('_').all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    let digits = digits.replace('_', "");
    (grouped && digits.len() <= MAX_DIGITS).then(|| canonical_digits(&format!("{sign}{digits}")))
}
