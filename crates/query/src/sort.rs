//! What rows are sorted by: a typed column where its own order is the right one, else keys as bytes.
//!
//! *Invariant:* the order of `core::query::sort_key`, whatever the form.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryArray, StringArray};
use arrow::datatypes::DataType;
use heldset_core::filter::is_instant;
use heldset_core::query::sort_key;

use crate::cache::{Cache, What};
use crate::cells::Cells;
use crate::error::QueryError;
use crate::part::Part;
use crate::select::plain_instant;
use crate::values::{Values, values};

/// Keys of one part; null comes last.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// The column itself sorts rightly, among columns of the same form.
    Plain(Form, ArrayRef),
    /// As bytes, which sort rightly among all.
    Bytes(BinaryArray),
    /// No row has one.
    None,
}

/// What a column is that sorts rightly by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Integers,
    Numbers,
    Flags,
    /// Texts that are no instants.
    Texts,
    /// Instants that are all written alike.
    Instants,
}

impl Keys {
    pub(crate) fn size(&self) -> usize {
        match self {
            Keys::Plain(_, array) => array.get_array_memory_size(),
            Keys::Bytes(array) => array.get_array_memory_size(),
            Keys::None => 16,
        }
    }
}

/// The form that the keys of all parts have: their own type, or bytes.
pub(crate) struct KeyColumn {
    field: String,
    form: Option<Form>,
}

impl KeyColumn {
    /// Looks at a field in all parts.
    pub(crate) fn of(parts: &[Arc<dyn Part>], cache: &Cache, field: &str) -> Result<Self, QueryError> {
        let mut form: Option<Form> = None;
        for part in parts.iter().filter(|part| part.rows() > 0) {
            let found = match &*keys(&**part, cache, field)? {
                Values::Keys(Keys::Plain(found, _)) => *found,
                Values::Keys(Keys::Bytes(_)) => return Ok(KeyColumn { field: field.to_owned(), form: None }),
                _ => continue,
            };
            if form.is_some_and(|form| form != found) {
                return Ok(KeyColumn { field: field.to_owned(), form: None });
            }
            form = Some(found);
        }
        Ok(KeyColumn { field: field.to_owned(), form })
    }

    pub(crate) fn data_type(&self) -> DataType {
        match self.form {
            Some(Form::Integers) => DataType::Int64,
            Some(Form::Numbers) => DataType::Float64,
            Some(Form::Flags) => DataType::Boolean,
            Some(Form::Texts | Form::Instants) => DataType::Utf8,
            None => DataType::Binary,
        }
    }

    /// The keys of a part.
    pub(crate) fn array(&self, part: &dyn Part, cache: &Cache) -> Result<ArrayRef, QueryError> {
        let keys = keys(part, cache, &self.field)?;
        Ok(match (&*keys, self.form) {
            (Values::Keys(Keys::Plain(form, array)), Some(wanted)) if *form == wanted => array.clone(),
            (Values::Keys(Keys::None), _) => arrow::array::new_null_array(&self.data_type(), part.rows()),
            (Values::Keys(Keys::Bytes(array)), None) => Arc::new(array.clone()),
            _ => Arc::new(bytes(&*values(part, cache, &self.field)?, part.rows())),
        })
    }
}

/// Reads what a field is sorted by, for whoever asks next.
pub(crate) fn prepare(part: &dyn Part, cache: &Cache, field: &str) -> Result<(), QueryError> {
    keys(part, cache, field).map(drop)
}

fn keys(part: &dyn Part, cache: &Cache, field: &str) -> Result<Arc<Values>, QueryError> {
    cache.get_or(part.key(), What::Key(field.to_owned()), || {
        let values = values(part, cache, field)?;
        Ok(Values::Keys(match &*values {
            Values::Absent => Keys::None,
            Values::Cells(cells) => match form(cells) {
                Some(form) => Keys::Plain(form, cells.array()),
                None => Keys::Bytes(bytes(&values, part.rows())),
            },
            _ => Keys::Bytes(bytes(&values, part.rows())),
        }))
    })
}

fn form(cells: &Cells) -> Option<Form> {
    Some(match cells {
        Cells::Integer(_) => Form::Integers,
        Cells::Number(_) => Form::Numbers,
        Cells::Boolean(_) => Form::Flags,
        Cells::Text(texts) => return text_form(texts),
        Cells::Json(_) => return None,
    })
}

fn text_form(texts: &StringArray) -> Option<Form> {
    let is_plain = |text: &str| plain_instant(text.as_bytes()) && text.as_bytes()[10] == b'T' && is_instant(text);
    let mut present = texts.iter().flatten();
    let first = present.next()?;
    let instants = is_plain(first);
    let fits = |text: &str| if instants { is_plain(text) } else { !is_instant(text) };
    (fits(first) && present.all(fits)).then_some(if instants { Form::Instants } else { Form::Texts })
}

fn bytes(values: &Values, rows: usize) -> BinaryArray {
    (0..rows).map(|row| sort_key(&values.value(row))).collect()
}
