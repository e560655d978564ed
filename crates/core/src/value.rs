//! JSON values as Heldset holds them: exact numbers, unique keys, borrowed text where possible.
//!
//! *Invariant:* two values are equal exactly when their canonical bytes are equal, up to the order of keys.

use std::borrow::Cow;

use crate::number::Number;

/// One JSON value. Text borrows from the source it was read from unless it had to be unescaped.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// An explicit `null`, which differs from an absent field.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An exact integer or a finite double.
    Number(Number),
    /// Text, never normalised.
    String(Cow<'a, str>),
    /// A list.
    Array(Vec<Value<'a>>),
    /// A mapping with unique keys.
    Object(Object<'a>),
}

/// A mapping with unique keys, in the order of its source.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    entries: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Value<'a> {
    /// Text from anything that is text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Value::String(text.into())
    }

    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if this is a list.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether this is an explicit `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The type in the words of error messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "a mapping",
        }
    }

    /// The same value without borrowed text.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Bool(flag) => Value::Bool(flag),
            Value::Number(number) => Value::Number(number),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Value::Object(object) => Value::Object(object.into_owned()),
        }
    }
}

impl<'a> Object<'a> {
    /// An empty mapping.
    pub fn new() -> Self {
        Object::default()
    }

    /// An empty mapping with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Object { entries: Vec::with_capacity(capacity) }
    }

    /// A mapping of entries whose keys the caller has already found to be unique.
    pub fn from_unique(entries: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Object { entries }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of `key`, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        self.entries.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether `key` is present, `null` included.
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Takes `key` out, keeping the order of the rest.
    pub fn remove(&mut self, key: &str) -> Option<Value<'a>> {
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(at).1)
    }

    /// Adds `key`; gives the value back when the key is already there.
    pub fn insert(&mut self, key: impl Into<Cow<'a, str>>, value: Value<'a>) -> Result<(), Value<'a>> {
        let key = key.into();
        if self.contains(&key) {
            return Err(value);
        }
        self.entries.push((key, value));
        Ok(())
    }

    /// Sets `key`, replacing the value that was there.
    pub fn set(&mut self, key: impl Into<Cow<'a, str>>, value: Value<'a>) {
        let key = key.into();
        match self.get_mut(&key) {
            Some(place) => *place = value,
            None => self.entries.push((key, value)),
        }
    }

    /// Gives the value of `from` the name `to`, in its place. Does nothing and answers `false` when there is no
    /// `from`, or already a `to`.
    pub fn rename(&mut self, from: &str, to: impl Into<Cow<'a, str>>) -> bool {
        let to = to.into();
        if self.contains(&to) {
            return false;
        }
        match self.entries.iter_mut().find(|(name, _)| name == from) {
            Some((name, _)) => *name = to,
            None => return false,
        }
        true
    }

    /// The entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        self.entries.iter().map(|(key, value)| (key.as_ref(), value))
    }

    /// The entry at a place in the order.
    pub fn entry(&self, index: usize) -> Option<(&str, &Value<'a>)> {
        self.entries.get(index).map(|(key, value)| (key.as_ref(), value))
    }

    /// The same mapping without borrowed text.
    pub fn into_owned(self) -> Object<'static> {
        let entries = self.entries.into_iter().map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()));
        Object { entries: entries.collect() }
    }

    /// Appends an entry whose key the caller has already found to be new.
    pub fn push_unique(&mut self, key: Cow<'a, str>, value: Value<'a>) {
        self.entries.push((key, value));
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Cow<'a, str>> {
        self.entries.iter().map(|(key, _)| key)
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Value<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a> FromIterator<(Cow<'a, str>, Value<'a>)> for Object<'a> {
    /// Collects entries; of a repeated key the last value stays.
    fn from_iter<I: IntoIterator<Item = (Cow<'a, str>, Value<'a>)>>(entries: I) -> Self {
        let mut object = Object::new();
        for (key, value) in entries {
            object.set(key, value);
        }
        object
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Bool(flag)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Number(Number::from_i64(number))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::String(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::String(Cow::Owned(text))
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(object: Object<'a>) -> Self {
        Value::Object(object)
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(items: Vec<Value<'a>>) -> Self {
        Value::Array(items)
    }
}
