//! A record: an id and fields, checked to be fit for identity.
//!
//! *Invariant:* ids and field names are in NFC and free of control characters; `id` is not among the fields.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::code::Code;
use crate::fault::Problem;
use crate::path::Path;
use crate::value::{Object, Value};

/// One record of a split.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// Unique in its split.
    pub id: RecordId<'a>,
    /// Everything else.
    pub fields: Object<'a>,
}

/// A checked id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordId<'a>(Cow<'a, str>);

impl<'a> RecordId<'a> {
    /// Checks an id as it stands in the field `field` of a file: text, or an integer that becomes its decimal text.
    pub fn from_value(value: Value<'a>, field: &str) -> Result<Self, Problem> {
        match value {
            Value::String(text) => RecordId::from_text(text, field),
            Value::Number(number) if number.is_integer() => Ok(RecordId(Cow::Owned(number.to_string()))),
            other => Err(Problem::new(
                Code::E013,
                Path::key(field),
                format!("an id is text or an integer, not {}", other.type_name()),
            )
            .help("give each record a text `id`")),
        }
    }

    /// Checks an id that is text.
    pub fn from_text(text: impl Into<Cow<'a, str>>, field: &str) -> Result<Self, Problem> {
        let text = text.into();
        if text.is_empty() {
            return Err(
                Problem::new(Code::E013, Path::key(field), "the id is empty").help("give each record a text `id`")
            );
        }
        match name_problem(&text) {
            None => Ok(RecordId(text)),
            Some(why) => Err(Problem::new(Code::E013, Path::key(field), format!("the id {why}")).help(
                "ids are compared byte by byte: write them in Unicode normal form C, without control characters",
            )),
        }
    }

    /// The id of a record that has none: its place among the rows.
    pub fn from_row(row: u64) -> Self {
        RecordId(Cow::Owned(row.to_string()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same id without borrowed text.
    pub fn into_owned(self) -> RecordId<'static> {
        RecordId(Cow::Owned(self.0.into_owned()))
    }
}

impl Record<'_> {
    /// The same record without borrowed text.
    pub fn into_owned(self) -> Record<'static> {
        Record { id: self.id.into_owned(), fields: self.fields.into_owned() }
    }
}

/// Why a name (of a record, field, split or dataset) is refused, if it is.
pub fn name_problem(name: &str) -> Option<&'static str> {
    if name.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return None;
    }
    if name.chars().any(char::is_control) {
        return Some("has a control character in it");
    }
    let normal = match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => true,
        IsNormalized::No => false,
        IsNormalized::Maybe => name.chars().eq(name.nfc()),
    };
    (!normal).then_some("is not in Unicode normal form C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    #[test]
    fn an_id_is_text_or_an_integer() {
        let id = |value| RecordId::from_value(value, "id").map(|id| id.as_str().to_owned()).ok();
        assert_eq!(id(Value::from("007")), Some("007".into()));
        assert_eq!(id(Value::from(7)), Some("7".into()));
        assert_eq!(id(Value::Number(Number::from_f64(3.0).unwrap_or(Number::from_i64(0)))), Some("3".into()));
        assert_eq!(id(Value::from("../../x")), Some("../../x".into()));
        assert_eq!(id(Value::from("é")), Some("é".into()));
        for refused in [Value::from(""), Value::from("e\u{301}"), Value::from("a\nb"), Value::Bool(true), Value::Null] {
            assert_eq!(id(refused), None);
        }
    }
}
