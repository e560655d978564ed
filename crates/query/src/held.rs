//! Rows that are held in memory as a part: entries of a log, rows of a live source, rows of a test.
//!
//! *Invariant:* a field whose values have one kind gets a typed column, all others lie in the rest.

use arrow::array::{AsArray, StringArray, UInt64Array};
use arrow::compute::{max, min, take};
use heldset_core::canonical;
use heldset_core::query::Kind;
use heldset_core::value::{Object, Value};

use crate::cells::{Cells, uniform};
use crate::error::QueryError;
use crate::part::Part;

/// Rows in memory.
pub struct Rows {
    key: String,
    ids: StringArray,
    names: Vec<(String, Kind)>,
    cells: Vec<Cells>,
    rest: Option<StringArray>,
}

impl Rows {
    /// Rows of which each has an id and fields; `key` is a name that no other rows have.
    pub fn new(key: &str, rows: &[(String, Object<'_>)]) -> Rows {
        let mut names: Vec<&str> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for name in rows.iter().flat_map(|(_, fields)| fields.iter().map(|(name, _)| name)) {
            if seen.insert(name) {
                names.push(name);
            }
        }
        let (mut typed, mut cells, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            let values: Vec<Value<'_>> =
                rows.iter().map(|(_, fields)| fields.get(name).cloned().unwrap_or(Value::Null)).collect();
            let explicit_null = rows.iter().any(|(_, fields)| fields.get(name).is_some_and(Value::is_null));
            match uniform(&values).filter(|_| !explicit_null) {
                Some(column) => {
                    typed.push((name.to_owned(), column.kind()));
                    cells.push(column);
                }
                None => left.push(name),
            }
        }
        let rest = |(_, fields): &(String, Object<'_>)| {
            let kept = fields.iter().filter(|(name, _)| left.contains(name));
            let kept: Object<'_> = kept.map(|(name, value)| (name.to_owned().into(), value.clone())).collect();
            (!kept.is_empty()).then(|| String::from_utf8(canonical::bytes(&Value::Object(kept))).unwrap_or_default())
        };
        let rest = (!left.is_empty()).then(|| rows.iter().map(rest).collect());
        let ids = rows.iter().map(|(id, _)| Some(id.as_str())).collect();
        Rows { key: key.to_owned(), ids, names: typed, cells, rest }
    }
}

impl Part for Rows {
    fn key(&self) -> &str {
        &self.key
    }

    fn rows(&self) -> usize {
        use arrow::array::Array;
        self.ids.len()
    }

    fn columns(&self) -> &[(String, Kind)] {
        &self.names
    }

    fn column(&self, name: &str) -> Result<Cells, QueryError> {
        let at = self.names.iter().position(|(known, _)| known == name);
        let unknown = || QueryError::UnknownField { name: name.to_owned(), known: Vec::new() };
        at.map(|at| self.cells[at].clone()).ok_or_else(unknown)
    }

    fn ids(&self) -> Result<StringArray, QueryError> {
        Ok(self.ids.clone())
    }

    fn rests(&self) -> Result<Vec<StringArray>, QueryError> {
        Ok(self.rest.clone().into_iter().collect())
    }

    fn bounds(&self, name: &str) -> Option<(Value<'static>, Value<'static>)> {
        let at = self.names.iter().position(|(known, _)| known == name)?;
        match &self.cells[at] {
            Cells::Integer(cells) => Some((Value::from(min(cells)?), Value::from(max(cells)?))),
            _ => None,
        }
    }

    fn find_id(&self, _id: &str) -> Result<Option<Vec<usize>>, QueryError> {
        Ok(None)
    }

    fn some(&self, rows: &[usize]) -> Result<Box<dyn Part>, QueryError> {
        let picked: UInt64Array = rows.iter().map(|row| *row as u64).collect();
        let texts = |texts: &StringArray| Ok::<_, QueryError>(take(texts, &picked, None)?.as_string::<i32>().clone());
        let mut cells = Vec::new();
        for (column, (_, kind)) in self.cells.iter().zip(&self.names) {
            let taken = take(&column.array(), &picked, None)?;
            cells.extend(Cells::of(*kind, &taken));
        }
        let rest = self.rest.as_ref().map(texts).transpose()?;
        Ok(Box::new(Rows { key: String::new(), ids: texts(&self.ids)?, names: self.names.clone(), cells, rest }))
    }
}
