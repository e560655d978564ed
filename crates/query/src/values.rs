//! The values of one field in one part, wherever they lie: in a typed column, in a rest, or inside a JSON value.
//!
//! *Invariant:* row by row the same value that `core::filter::find` finds in the whole record.

use std::sync::Arc;

use arrow::array::{Array, StringArray};
use heldset_core::filter::{Names, find};
use heldset_core::json;
use heldset_core::value::{Object, Value};
use memchr::memmem::Finder;

use crate::cache::{Cache, What};
use crate::cells::{Cells, uniform};
use crate::error::QueryError;
use crate::part::Part;

/// Values of a field, or what is computed of them.
#[derive(Debug)]
pub(crate) enum Values {
    /// All of one kind.
    Cells(Cells),
    /// Of several kinds, one for each row.
    Mixed(Vec<Value<'static>>),
    /// Keys to sort by.
    Keys(crate::sort::Keys),
    /// Mappings of what no typed column holds.
    Rests(Vec<StringArray>),
    /// No row has one.
    Absent,
}

impl Values {
    pub(crate) fn size(&self) -> usize {
        match self {
            Values::Cells(cells) => cells.size(),
            // Texts and lists are larger, by what is guessed here.
            Values::Mixed(values) => values.len() * 96,
            Values::Keys(keys) => keys.size(),
            Values::Rests(rests) => rests.iter().map(Array::get_array_memory_size).sum(),
            Values::Absent => 16,
        }
    }

    /// The value of a row; null where there is none.
    pub(crate) fn value(&self, row: usize) -> Value<'_> {
        match self {
            Values::Cells(cells) => cells.value(row),
            Values::Mixed(values) => values[row].clone(),
            Values::Keys(_) | Values::Rests(_) | Values::Absent => Value::Null,
        }
    }
}

/// The values of a field.
pub(crate) fn values(part: &dyn Part, cache: &Cache, field: &str) -> Result<Arc<Values>, QueryError> {
    cache.get_or(part.key(), What::Field(field.to_owned()), || load(part, cache, field))
}

/// What no typed column holds.
pub(crate) fn rests(part: &dyn Part, cache: &Cache) -> Result<Arc<Values>, QueryError> {
    cache.get_or(part.key(), What::Rests, || Ok(Values::Rests(part.rests()?)))
}

fn load(part: &dyn Part, cache: &Cache, field: &str) -> Result<Values, QueryError> {
    if field == "id" {
        return Ok(Values::Cells(Cells::Text(part.ids()?)));
    }
    let typed = |name: &str| part.columns().iter().any(|(known, _)| known == name);
    let root = field.split_once('.').map(|(root, _)| root);
    let rests = rests(part, cache)?;
    let Values::Rests(rests) = &*rests else { return Ok(Values::Absent) };
    let mentions = |name: &str| rests.iter().any(|rest| mentions(rest, name));
    let nested = root.filter(|root| typed(root) || mentions(root));
    match (typed(field), mentions(field), nested) {
        (false, false, None) => Ok(Values::Absent),
        (true, false, None) => Ok(Values::Cells(part.column(field)?)),
        (false, false, Some(root)) if typed(root) && !mentions(root) => inside(&part.column(root)?, root, field),
        _ => assembled(part, field, root, rests),
    }
}

/// Whether a rest has the name of a field anywhere in its text.
fn mentions(rest: &StringArray, name: &str) -> bool {
    let mut quoted = Vec::new();
    heldset_core::canonical::write_text(name, &mut quoted);
    Finder::new(&quoted).find(rest.values()).is_some()
}

/// The values inside a column of JSON.
fn inside(column: &Cells, root: &str, field: &str) -> Result<Values, QueryError> {
    let Cells::Json(texts) = column else { return Ok(Values::Absent) };
    let value = |row: usize| {
        if texts.is_null(row) {
            return Value::Null;
        }
        let mut object = Object::with_capacity(1);
        object.set(root, json::read(texts.value(row)).unwrap_or(Value::Null));
        find(&object, field, Names::Exact).cloned().unwrap_or(Value::Null).into_owned()
    };
    Ok(settled((0..texts.len()).map(value).collect()))
}

/// The values of a field that lie in several places, row by row.
fn assembled(part: &dyn Part, field: &str, root: Option<&str>, rests: &[StringArray]) -> Result<Values, QueryError> {
    let wanted: Vec<&str> = [Some(field), root].into_iter().flatten().collect();
    let mut columns = Vec::new();
    for (name, _) in part.columns().iter().filter(|(name, _)| wanted.contains(&name.as_str())) {
        columns.push((name.as_str(), part.column(name)?));
    }
    let value = |row: usize| {
        let mut object = Object::new();
        for (name, cells) in &columns {
            let value = cells.value(row);
            if !value.is_null() {
                object.set(*name, value);
            }
        }
        for rest in rests.iter().filter(|rest| rest.is_valid(row)) {
            let Ok(Value::Object(more)) = json::read(rest.value(row)) else { continue };
            more.into_iter()
                .filter(|(name, _)| wanted.contains(&&**name))
                .for_each(|(name, value)| object.set(name, value));
        }
        find(&object, field, Names::Exact).cloned().unwrap_or(Value::Null).into_owned()
    };
    Ok(settled((0..part.rows()).map(value).collect()))
}

fn settled(values: Vec<Value<'static>>) -> Values {
    if values.iter().all(Value::is_null) {
        return Values::Absent;
    }
    uniform(&values).map_or(Values::Mixed(values), Values::Cells)
}
