//! Which fields there are, and of which kind, over all parts.
//!
//! *Invariant:* a kind is told only if every value of the field has it.

use std::sync::Arc;

use heldset_core::json;
use heldset_core::query::Kind;
use heldset_core::value::Value;

use crate::cache::Cache;
use crate::cells::uniform;
use crate::error::QueryError;
use crate::part::Part;
use crate::values::{Values, rests};

/// The fields of some parts, in the order in which they are first met.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    fields: Vec<Known>,
}

/// What is known of a field.
#[derive(Clone, Debug)]
struct Known {
    name: String,
    kind: Kind,
    /// Whether there is an integer that no double holds.
    large: bool,
}

/// The largest integer up to which doubles hold all.
const EXACT: i64 = 1 << 53;

impl Fields {
    /// The kind of a field; nothing if there is no such field.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        self.fields.iter().find(|known| known.name == name).map(|known| known.kind)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.fields.iter().map(|known| (known.name.as_str(), known.kind))
    }

    /// Whether a path may lead somewhere: its whole name, or what stands before its first dot, is a field.
    pub fn leads(&self, path: &str) -> bool {
        path == "id"
            || self.kind(path).is_some()
            || path.split_once('.').is_some_and(|(root, _)| self.kind(root).is_some())
    }

    /// The kind of a column that holds all values of a field as they are.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.fields.iter().map(|known| {
            let rounds = known.kind == Kind::Number && known.large;
            (known.name.as_str(), if rounds { Kind::Json } else { known.kind })
        })
    }

    fn add(&mut self, name: &str, kind: Kind, large: bool) {
        match self.fields.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.kind = known.kind.with(kind);
                known.large |= large;
            }
            None => self.fields.push(Known { name: name.to_owned(), kind, large }),
        }
    }
}

fn is_large(value: &Value<'_>) -> bool {
    matches!(value, Value::Number(number) if number.is_integer()
        && number.as_i64().is_none_or(|integer| integer.unsigned_abs() > EXACT.unsigned_abs()))
}

/// The fields of these parts.
pub fn fields_of(parts: &[Arc<dyn Part>], cache: &Cache) -> Result<Fields, QueryError> {
    let mut fields = Fields::default();
    for part in parts {
        for (name, kind) in part.columns() {
            let large = || part.bounds(name).is_none_or(|(low, high)| is_large(&low) || is_large(&high));
            fields.add(name, *kind, *kind == Kind::Integer && large());
        }
        let rests = rests(&**part, cache)?;
        let Values::Rests(rests) = &*rests else { continue };
        for text in rests.iter().flat_map(|rest| rest.iter().flatten()) {
            let Ok(Value::Object(more)) = json::read(text) else { continue };
            for (name, value) in more.iter() {
                match uniform(std::slice::from_ref(value)) {
                    Some(_) if value.is_null() && fields.kind(name).is_some() => {}
                    Some(cells) if !value.is_null() => fields.add(name, cells.kind(), is_large(value)),
                    _ if is_large(value) => fields.add(name, Kind::Number, true),
                    _ => fields.add(name, Kind::Json, false),
                }
            }
        }
    }
    Ok(fields)
}

impl Fields {
    /// The kind of what a path leads to, where it is known without looking at more than the filter will.
    pub fn kind_at(&self, path: &str) -> Option<Kind> {
        if path == "id" { Some(Kind::Text) } else { self.kind(path) }
    }
}
