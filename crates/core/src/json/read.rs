//! Text to value, strictly.
//!
//! *Invariant:* a value that is read has unique keys (after unescaping), no lone surrogate, only numbers
//! that kept their meaning, and a depth of at most [`MAX_DEPTH`].

use std::borrow::Cow;
use std::collections::HashSet;

use thiserror::Error;

use crate::number::NumberError;
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
    let value = reader.value(0).map_err(|error| *error)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(*reader.syntax("the end of the value")),
    }
}

/// Reads a text that holds one mapping, strictly throughout, but leaves the lists and mappings empty that are in
/// fields which `look` does not want to see.
pub fn read_shallow<'a>(text: &'a str, look: &dyn Fn(&str) -> bool) -> Result<Value<'a>, JsonError> {
    let mut reader = Reader::new(text, 0);
    let value = reader.shallow(look).map_err(|error| *error)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(*reader.syntax("the end of the value")),
    }
}

/// Reads a text that holds one value strictly, and answers it with all lists and mappings empty.
pub fn skim(text: &str) -> Result<Value<'_>, JsonError> {
    let mut reader = Reader::new(text, 0);
    let value = reader.skim(0, &mut Vec::new()).map_err(|error| *error)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(*reader.syntax("the end of the value")),
    }
}

/// Reads one value that starts at `offset`, and tells where it ends.
pub fn read_prefix(text: &str, offset: usize) -> Result<(Value<'_>, usize), JsonError> {
    let mut reader = Reader::new(text, offset);
    let value = reader.value(0).map_err(|error| *error)?;
    Ok((value, reader.at))
}

/// Errors are boxed inside, so that the good case moves only values.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Reader { text, bytes: text.as_bytes(), at }
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
    pub(super) fn value(&mut self, depth: usize) -> Result<Value<'a>, Box<JsonError>> {
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

    fn word(&mut self, word: &'static str, value: Value<'a>) -> Result<Value<'a>, Box<JsonError>> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.syntax("a value"))
    }

    fn array(&mut self, depth: usize) -> Result<Value<'a>, Box<JsonError>> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.closes(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            let item = self.value(depth + 1).map_err(|error| inside(error, Step::Index(items.len())))?;
            items.push(item);
            if self.ends(b']', "`,` or `]`")? {
                return Ok(Value::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, Box<JsonError>> {
        self.entries(depth, |reader, _| reader.value(depth + 1))
    }

    /// One mapping whose fields are only skimmed unless `look` wants to see them.
    fn shallow(&mut self, look: &dyn Fn(&str) -> bool) -> Result<Value<'a>, Box<JsonError>> {
        self.skip_space();
        if self.peek() != Some(b'{') {
            return self.skim(0, &mut Vec::new());
        }
        let mut keys = Vec::new();
        self.entries(0, |reader, key| {
            reader.skip_space();
            match reader.peek() {
                Some(b'{' | b'[') if !look(key) => reader.skim(1, &mut keys),
                _ => reader.value(1),
            }
        })
    }

    /// The entries of a mapping, their values read by `read`.
    #[inline]
    fn entries(
        &mut self,
        depth: usize,
        mut read: impl FnMut(&mut Self, &str) -> Result<Value<'a>, Box<JsonError>>,
    ) -> Result<Value<'a>, Box<JsonError>> {
        self.enter(depth)?;
        if self.closes(b'}') {
            return Ok(Value::Object(Object::new()));
        }
        let mut object = Object::with_capacity(if depth == 0 { 12 } else { 6 });
        let mut seen = Seen::default();
        loop {
            let (key, key_at) = self.key()?;
            if seen.is_repeated(&object, &key) {
                return Err(self.error_at(key_at, JsonProblem::DuplicateKey(key.into_owned())));
            }
            let value = read(self, &key).map_err(|error| inside(error, Step::Key(key.to_string())))?;
            object.push_unique(key, value);
            if self.ends(b'}', "`,` or `}`")? {
                return Ok(Value::Object(object));
            }
        }
    }

    /// Passes over the bracket that closes an empty list or mapping.
    #[inline]
    pub(super) fn closes(&mut self, close: u8) -> bool {
        self.skip_space();
        let closes = self.peek() == Some(close);
        self.at += usize::from(closes);
        closes
    }

    /// Passes over what follows an element: a comma, or the bracket that closes.
    #[inline]
    pub(super) fn ends(&mut self, close: u8, expected: &'static str) -> Result<bool, Box<JsonError>> {
        self.skip_space();
        match self.peek() {
            Some(b',') => self.at += 1,
            Some(byte) if byte == close => {
                self.at += 1;
                return Ok(true);
            }
            _ => return Err(self.syntax(expected)),
        }
        Ok(false)
    }

    /// A key and its colon; also tells where the key starts.
    #[inline]
    pub(super) fn key(&mut self) -> Result<(Cow<'a, str>, usize), Box<JsonError>> {
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

    pub(super) fn enter(&mut self, depth: usize) -> Result<(), Box<JsonError>> {
        if depth >= MAX_DEPTH {
            return Err(self.error_at(self.at, JsonProblem::TooDeep));
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn syntax(&self, expected: &'static str) -> Box<JsonError> {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the end".to_owned(),
            Some(found) if found.is_control() => format!("the control character U+{:04X}", found as u32),
            Some(found) => format!("`{found}`"),
        };
        self.error_at(self.at.min(self.bytes.len()), JsonProblem::Syntax { expected, found })
    }

    pub(super) fn error_at(&self, offset: usize, problem: JsonProblem) -> Box<JsonError> {
        Box::new(JsonError { problem, offset, path: Path::root() })
    }
}

pub(super) fn inside(mut error: Box<JsonError>, step: Step) -> Box<JsonError> {
    error.path = error.path.under(&Path::from(vec![step]));
    error
}

/// The keys of one mapping: compared one by one while they are few, in a set when they are many.
#[derive(Default)]
struct Seen(Option<HashSet<String>>);

impl Seen {
    const FEW: usize = 24;

    #[inline]
    fn is_repeated(&mut self, object: &Object<'_>, key: &str) -> bool {
        if object.len() < Self::FEW {
            return object.contains(key);
        }
        let keys = self.0.get_or_insert_with(|| object.keys().map(|key| key.to_string()).collect());
        !keys.insert(key.to_owned())
    }
}
