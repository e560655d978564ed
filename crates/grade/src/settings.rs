//! A configuration as it is read: every key is asked for once, and one that nobody asks for is a fault.
//!
//! *Invariant:* no key is silently ignored.

use std::cell::RefCell;

use heldset_core::code::Code;
use heldset_core::fault::{Problem, nearest};
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};

use crate::text::number_of;

/// A mapping of a plan, with the place it is at.
#[derive(Debug)]
pub(crate) struct Settings<'c> {
    members: &'c Object<'static>,
    at: Path,
    asked: RefCell<Vec<&'static str>>,
}

impl<'c> Settings<'c> {
    pub(crate) fn new(members: &'c Object<'static>, at: Path) -> Self {
        Settings { members, at, asked: RefCell::new(Vec::new()) }
    }

    /// The value of a key; null is the same as nothing.
    pub(crate) fn any(&self, key: &'static str) -> Option<&'c Value<'static>> {
        self.asked.borrow_mut().push(key);
        self.members.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, key: &'static str) -> Result<Option<String>, Problem> {
        self.typed(key, "text", |value| value.as_str().map(str::to_owned))
    }

    /// Text that must be there.
    pub(crate) fn needed_text(&self, key: &'static str) -> Result<String, Problem> {
        self.text(key)?.ok_or_else(|| self.lacks(key))
    }

    pub(crate) fn flag(&self, key: &'static str) -> Result<bool, Problem> {
        let flag = self.typed(key, "true or false", |value| match value {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        })?;
        Ok(flag.unwrap_or(false))
    }

    pub(crate) fn number(&self, key: &'static str) -> Result<Option<f64>, Problem> {
        self.typed(key, "a number", number_of)
    }

    /// A number that is not negative.
    pub(crate) fn amount(&self, key: &'static str) -> Result<Option<f64>, Problem> {
        self.typed(key, "a number from 0", |value| number_of(value).filter(|number| *number >= 0.0))
    }

    pub(crate) fn count(&self, key: &'static str) -> Result<Option<u64>, Problem> {
        self.typed(key, "a whole number from 0", |value| match value {
            Value::Number(number) => number.as_u64(),
            _ => None,
        })
    }

    pub(crate) fn integer(&self, key: &'static str) -> Result<Option<i64>, Problem> {
        self.typed(key, "a whole number", |value| match value {
            Value::Number(number) => number.as_i64(),
            _ => None,
        })
    }

    pub(crate) fn mapping(&self, key: &'static str) -> Result<Option<Object<'static>>, Problem> {
        self.typed(key, "a mapping", |value| value.as_object().cloned())
    }

    /// A text or a list of texts.
    pub(crate) fn texts(&self, key: &'static str) -> Result<Option<Vec<String>>, Problem> {
        self.typed(key, "text or a list of texts", texts_of)
    }

    /// One of some words; the first is the default.
    pub(crate) fn word(&self, key: &'static str, words: &[&'static str]) -> Result<&'static str, Problem> {
        let Some(text) = self.text(key)? else { return Ok(words[0]) };
        match words.iter().find(|word| **word == text) {
            Some(word) => Ok(word),
            None => Err(self.fault(key, format!("unknown {key} `{text}`")).help(suggest(&text, words))),
        }
    }

    /// A fault of a key.
    pub(crate) fn fault(&self, key: &str, message: impl Into<String>) -> Problem {
        Problem::new(Code::E059, self.at.then_key(key), message)
    }

    /// A key that is not there and must be.
    pub(crate) fn lacks(&self, key: &str) -> Problem {
        Problem::new(Code::E059, self.at.clone(), format!("`{key}` is missing"))
    }

    /// The place of this mapping.
    pub(crate) fn at(&self) -> &Path {
        &self.at
    }

    /// Refuses the first key that nobody asked for.
    pub(crate) fn finish(&self) -> Result<(), Problem> {
        let asked = self.asked.borrow();
        match self.members.iter().find(|(key, _)| !asked.contains(key)) {
            None => Ok(()),
            Some((key, _)) => Err(self.fault(key, format!("unknown key `{key}`")).help(suggest(key, &asked))),
        }
    }

    fn typed<T>(
        &self,
        key: &'static str,
        wanted: &str,
        read: impl Fn(&Value<'static>) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(value) = self.any(key) else { return Ok(None) };
        let wrong = || self.fault(key, format!("`{key}` must be {wanted}, not {}", value.type_name()));
        read(value).map(Some).ok_or_else(wrong)
    }
}

/// "did you mean", or what there is.
pub(crate) fn suggest(name: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(name, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let mut known = known.to_vec();
    known.sort_unstable();
    known.dedup();
    format!("use one of {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
}

/// A text, or a list of nothing but texts.
pub(crate) fn texts_of(value: &Value<'_>) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.to_string()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}
