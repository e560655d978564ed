//! Text to value, strictly.
//!
//! *Invariant:* a value that is read has unique keys (after unescaping), no lone surrogate, only numbers
//! that kept their meaning, and a depth of at most [`MAX_DEPTH`].

use std::borrow::Cow;
use std::collections::HashSet;

use thiserror::Error;

use super::scan::plain_run;
use crate::number::{Number, NumberError};
use crate::path::{Path, Step};
use crate::value::{Object, Value};

/// How many lists and mappings may lie inside one another.
pub const MAX_DEPTH: usize = 64;

/// A text that is not strict JSON: what is wrong, at which byte, inside which field.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{problem}")]
pub struct JsonError {
    /// What is wrong.
    pub problem: JsonProblem,
    /// The byte where it shows.
    pub offset: usize,
    /// The field it is in.
    pub path: Path,
}

/// The ways a text can fail to be strict JSON.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonProblem {
    /// Not JSON at all.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// What JSON would have here.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A key that is in its mapping twice.
    #[error("key `{0}` is there twice")]
    DuplicateKey(String),
    /// A number that cannot be kept.
    #[error("{0}")]
    Number(NumberError),
    /// Half a surrogate pair.
    #[error("half a surrogate pair in an escape")]
    LoneSurrogate,
    /// Too many levels.
    #[error("nested deeper than 64 levels")]
    TooDeep,
}

/// Reads a text that holds one value and nothing else but white space.
pub fn read(text: &str) -> Result<Value<'_>, JsonError> {
    let mut reader = Reader::new(text, 0);
    let value = reader.value(0)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.syntax("the end of the value")),
    }
}

/// Reads one value that starts at `offset`, and tells where it ends.
pub fn read_prefix(text: &str, offset: usize) -> Result<(Value<'_>, usize), JsonError> {
    let mut reader = Reader::new(text, offset);
    let value = reader.value(0)?;
    Ok((value, reader.at))
}

pub(super) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
    path: Vec<Step>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Reader { text, bytes: text.as_bytes(), at, path: Vec::new() }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// One value, with the white space before it.
    pub(super) fn value(&mut self, depth: usize) -> Result<Value<'a>, JsonError> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(self.syntax("a value")),
        }
    }

    /// A string whose opening quote is next.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at + 1;
        let end = plain_run(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Cow::Borrowed(&self.text[start..end]));
        }
        self.escaped_string(start, end)
    }

    fn escaped_string(&mut self, start: usize, first: usize) -> Result<Cow<'a, str>, JsonError> {
        let mut text = String::with_capacity(first - start + 32);
        let (mut from, mut end) = (start, first);
        loop {
            text.push_str(&self.text[from..end]);
            self.at = end;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.syntax("an escaped control character")),
                None => return Err(self.syntax("the closing quote of the text")),
            }
            from = self.at;
            end = plain_run(self.bytes, from);
        }
    }

    /// An escape whose backslash is next.
    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        let letter = self.bytes.get(start + 1).copied();
        self.at += 2;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => {
                self.at = start;
                return Err(self.syntax("an escape such as `\\n` or `\\u0041`"));
            }
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        let high = self.four_hex()?;
        let code = match high {
            0xd800..=0xdbff => {
                if self.bytes.get(self.at..self.at + 2) != Some(b"\\u") {
                    return Err(self.error_at(start, JsonProblem::LoneSurrogate));
                }
                self.at += 2;
                let low = self.four_hex()?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(self.error_at(start, JsonProblem::LoneSurrogate));
                }
                0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            _ => high,
        };
        char::from_u32(code).ok_or_else(|| self.error_at(start, JsonProblem::LoneSurrogate))
    }

    fn four_hex(&mut self) -> Result<u32, JsonError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| (byte as char).to_digit(16));
            let Some(digit) = digit else { return Err(self.syntax("four hexadecimal digits")) };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn number(&mut self) -> Result<Value<'a>, JsonError> {
        let start = self.at;
        let mut small: i64 = 0;
        let negative = self.peek() == Some(b'-');
        if negative {
            self.at += 1;
        }
        let first = self.at;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            small = small.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - first;
        if digits == 0 {
            return Err(self.syntax("a digit"));
        }
        if digits > 1 && self.bytes[first] == b'0' {
            self.at = first;
            return Err(self.syntax("a number without leading zeros"));
        }
        if !matches!(self.peek(), Some(b'.' | b'e' | b'E')) && digits <= 18 {
            return Ok(Value::Number(Number::from_i64(if negative { -small } else { small })));
        }
        self.fraction_and_exponent()?;
        Number::from_literal(&self.text[start..self.at])
            .map(Value::Number)
            .map_err(|error| self.error_at(start, JsonProblem::Number(error)))
    }

    fn fraction_and_exponent(&mut self) -> Result<(), JsonError> {
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.syntax("a digit"));
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &'static str, value: Value<'a>) -> Result<Value<'a>, JsonError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.syntax("a value"))
    }

    fn array(&mut self, depth: usize) -> Result<Value<'a>, JsonError> {
        self.enter(depth)?;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            let item = self.value(depth + 1).map_err(|error| inside(error, Step::Index(items.len())))?;
            items.push(item);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.syntax("`,` or `]`")),
            }
        }
        self.at += 1;
        Ok(Value::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, JsonError> {
        self.enter(depth)?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(Object::new()));
        }
        let mut object = Object::with_capacity(if depth == 0 { 12 } else { 4 });
        let mut seen = Seen::default();
        loop {
            let (key, key_at) = self.key()?;
            if seen.is_repeated(&object, &key) {
                return Err(self.error_at(key_at, JsonProblem::DuplicateKey(key.into_owned())));
            }
            let value = self.value(depth + 1).map_err(|error| inside(error, Step::Key(key.to_string())))?;
            object.push_unique(key, value);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.syntax("`,` or `}`")),
            }
        }
        self.at += 1;
        Ok(Value::Object(object))
    }

    /// A key and its colon; also tells where the key starts.
    pub(super) fn key(&mut self) -> Result<(Cow<'a, str>, usize), JsonError> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(self.syntax("a key in double quotes"));
        }
        let key_at = self.at;
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.syntax("`:`"));
        }
        self.at += 1;
        Ok((key, key_at))
    }

    fn enter(&mut self, depth: usize) -> Result<(), JsonError> {
        if depth >= MAX_DEPTH {
            return Err(self.error_at(self.at, JsonProblem::TooDeep));
        }
        self.at += 1;
        Ok(())
    }

    fn syntax(&self, expected: &'static str) -> JsonError {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end".to_owned(),
            Some(found) if found.is_control() => format!("the control character U+{:04X}", found as u32),
            Some(found) => format!("`{found}`"),
        };
        self.error_at(self.at.min(self.bytes.len()), JsonProblem::Syntax { expected, found })
    }

    fn error_at(&self, offset: usize, problem: JsonProblem) -> JsonError {
        JsonError { problem, offset, path: Path::from(self.path.clone()) }
    }
}

fn inside(error: JsonError, step: Step) -> JsonError {
    let path = error.path.under(&Path::from(vec![step]));
    JsonError { path, ..error }
}

/// The keys of one mapping: compared one by one while they are few, in a set when they are many.
#[derive(Default)]
struct Seen(HashSet<String>);

impl Seen {
    const FEW: usize = 24;

    #[inline]
    fn is_repeated(&mut self, object: &Object<'_>, key: &str) -> bool {
        if object.len() < Self::FEW {
            return object.contains(key);
        }
        if self.0.is_empty() {
            self.0.extend(object.keys().map(|key| key.to_string()));
        }
        !self.0.insert(key.to_owned())
    }
}
