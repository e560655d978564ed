//! The types that a field may have: how they are written, and which values they admit.
//!
//! *Invariant:* null fits every type here; whether a field may be null is a matter of the field, not of its type.

use std::fmt;

use crate::fault::nearest;
use crate::filter::is_instant;
use crate::value::Value;

/// The type of a declared field, as far as it decides how a cell of text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Text.
    String,
    /// A 64-bit integer.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A point in time, as text.
    Timestamp,
    /// Any value.
    Json,
    /// A list of values of one type.
    List,
    /// One of some texts.
    Enum,
}

/// The type of a declared field, with the types and values inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    String,
    /// A 64-bit integer.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A point in time, as text of RFC 3339.
    Timestamp,
    /// Any value.
    Json,
    /// A list; of anything when no type is said.
    List(Option<Box<Type>>),
    /// One of these texts; any text when there is none.
    Enum(Vec<String>),
}

/// The names of types, without what may be inside them.
pub(super) const NAMES: &[&str] = &["string", "integer", "number", "boolean", "timestamp", "json", "list", "enum"];

/// What other languages call our types.
const ELSEWHERE: &[(&str, &str)] = &[
    ("str", "string"),
    ("text", "string"),
    ("varchar", "string"),
    ("int", "integer"),
    ("int64", "integer"),
    ("long", "integer"),
    ("bigint", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("decimal", "number"),
    ("bool", "boolean"),
    ("date", "timestamp"),
    ("datetime", "timestamp"),
    ("date-time", "timestamp"),
    ("time", "timestamp"),
    ("object", "json"),
    ("dict", "json"),
    ("map", "json"),
    ("struct", "json"),
    ("any", "json"),
    ("array", "list"),
];

/// How deep lists may lie in one another.
const MAX_DEPTH: usize = 16;

impl FieldType {
    /// Whether values of this type are text.
    pub fn is_text(self) -> bool {
        matches!(self, FieldType::String | FieldType::Timestamp | FieldType::Enum)
    }

    /// Whether a value has this type; null fits every type.
    pub fn admits(self, value: &Value<'_>) -> bool {
        match (self, value) {
            (FieldType::Json, _) | (_, Value::Null) => true,
            (FieldType::Integer, Value::Number(number)) => number.is_integer(),
            (FieldType::Number, Value::Number(_)) | (FieldType::Boolean, Value::Bool(_)) => true,
            (FieldType::List, Value::Array(_)) => true,
            (kind, Value::String(_)) => kind.is_text(),
            _ => false,
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(NAMES[*self as usize])
    }
}

impl From<FieldType> for Type {
    fn from(kind: FieldType) -> Self {
        match kind {
            FieldType::String => Type::String,
            FieldType::Integer => Type::Integer,
            FieldType::Number => Type::Number,
            FieldType::Boolean => Type::Boolean,
            FieldType::Timestamp => Type::Timestamp,
            FieldType::Json => Type::Json,
            FieldType::List => Type::List(None),
            FieldType::Enum => Type::Enum(Vec::new()),
        }
    }
}

impl Type {
    /// The type without what is inside it.
    pub fn outer(&self) -> FieldType {
        match self {
            Type::String => FieldType::String,
            Type::Integer => FieldType::Integer,
            Type::Number => FieldType::Number,
            Type::Boolean => FieldType::Boolean,
            Type::Timestamp => FieldType::Timestamp,
            Type::Json => FieldType::Json,
            Type::List(_) => FieldType::List,
            Type::Enum(_) => FieldType::Enum,
        }
    }

    /// The type of the elements of a list.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::List(element) => Some(element.as_deref().unwrap_or(&Type::Json)),
            _ => None,
        }
    }

    /// Whether a value has this type; null fits every type, inside lists too.
    pub fn admits(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (_, Value::Null) => true,
            (Type::Timestamp, Value::String(text)) => is_instant(text),
            (Type::Enum(values), Value::String(text)) => values.is_empty() || values.iter().any(|known| known == text),
            (Type::List(Some(element)), Value::Array(items)) => items.iter().all(|item| element.admits(item)),
            _ => self.outer().admits(value),
        }
    }

    /// Reads `string`, `list<integer>`, `enum<a,b>`; of another text, what might have been meant.
    pub fn parse(text: &str) -> Result<Type, Option<&'static str>> {
        parse(text, 0)
    }
}

fn parse(text: &str, depth: usize) -> Result<Type, Option<&'static str>> {
    let text = text.trim();
    let (outer, inside) = match text.split_once('<') {
        Some((outer, rest)) => (outer.trim(), Some(rest.strip_suffix('>').ok_or(Some("list<string>"))?)),
        None => (text, None),
    };
    Ok(match (outer, inside) {
        ("string", None) => Type::String,
        ("integer", None) => Type::Integer,
        ("number", None) => Type::Number,
        ("boolean", None) => Type::Boolean,
        ("timestamp", None) => Type::Timestamp,
        ("json", None) => Type::Json,
        ("list", None) => Type::List(None),
        ("enum", None) => Type::Enum(Vec::new()),
        ("list", Some(inside)) if depth < MAX_DEPTH => Type::List(Some(Box::new(parse(inside, depth + 1)?))),
        ("enum", Some(inside)) => Type::Enum(inside.split(',').map(|value| value.trim().to_owned()).collect()),
        (other, _) => return Err(meant(other)),
    })
}

/// The type that a name from elsewhere, or a misspelt one, might mean.
fn meant(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let elsewhere = ELSEWHERE.iter().find(|(known, _)| *known == name).map(|(_, ours)| *ours);
    elsewhere
        .or_else(|| NAMES.iter().copied().find(|ours| *ours == name))
        .or_else(|| nearest(&name, NAMES.iter().copied()))
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::List(Some(element)) => write!(out, "list<{element}>"),
            Type::Enum(values) if !values.is_empty() => write!(out, "enum<{}>", values.join(",")),
            other => other.outer().fmt(out),
        }
    }
}
