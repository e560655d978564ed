//! A few rows of a part: single fields, or whole records.
//!
//! *Invariant:* a record comes out as it is kept: what is null in it is null, what is absent is absent.

use std::sync::Arc;

use arrow::array::Array;
use heldset_core::json;
use heldset_core::value::{Object, Value};

use crate::cache::{Cache, What};
use crate::error::QueryError;
use crate::part::Part;
use crate::values::{Values, values};

/// A few rows of a part.
pub struct Few<'f> {
    part: &'f dyn Part,
    cache: &'f Cache,
    rows: &'f [usize],
    /// The rows in ascending order, and where each of them is among those.
    sorted: Vec<usize>,
    places: Vec<usize>,
    /// The rows read apart, once something is not kept.
    apart: Option<(Box<dyn Part>, Cache)>,
}

impl<'f> Few<'f> {
    /// These rows, in this order.
    pub fn new(part: &'f dyn Part, cache: &'f Cache, rows: &'f [usize]) -> Self {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let places = rows.iter().map(|row| sorted.partition_point(|known| known < row)).collect();
        Few { part, cache, rows, sorted, places, apart: None }
    }

    /// The values of a field; null where there is none.
    pub fn field(&mut self, field: &str) -> Result<Vec<Value<'static>>, QueryError> {
        let (found, places) = self.found(field)?;
        Ok(places.iter().map(|row| found.value(*row).into_owned()).collect())
    }

    /// The whole records, without their ids.
    pub fn records(&mut self) -> Result<Vec<Object<'static>>, QueryError> {
        let mut records = vec![Object::new(); self.rows.len()];
        let names: Vec<String> = self.part.columns().iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            // A typed column holds no nulls of its own.
            let column = self.column(&name)?;
            for (record, value) in records.iter_mut().zip(column) {
                if !value.is_null() {
                    record.set(name.clone(), value);
                }
            }
        }
        let (rests, places) = match self.cache.peek(self.part.key(), What::Rests) {
            Ok(rests) => (rests, self.rows.to_vec()),
            Err(_) => (Arc::new(Values::Rests(self.apart()?.0.rests()?)), self.places.clone()),
        };
        let Values::Rests(rests) = &*rests else { return Ok(records) };
        for rest in rests {
            for (record, place) in records.iter_mut().zip(&places).filter(|(_, place)| rest.is_valid(**place)) {
                let Ok(Value::Object(more)) = json::read(rest.value(*place)) else { continue };
                more.into_owned().into_iter().for_each(|(name, value)| record.set(name, value));
            }
        }
        Ok(records)
    }

    /// A typed column by its whole name, whatever a path of that name would mean.
    fn column(&mut self, name: &str) -> Result<Vec<Value<'static>>, QueryError> {
        if !name.contains('.') && name != "id" {
            let alone = self.cache.peek(self.part.key(), What::Rests);
            if matches!(alone.as_deref(), Ok(Values::Rests(rests)) if rests.is_empty()) {
                return self.field(name);
            }
        }
        let places = self.places.clone();
        let cells = self.apart()?.0.column(name)?;
        Ok(places.iter().map(|row| cells.value(*row).into_owned()).collect())
    }

    fn found(&mut self, field: &str) -> Result<(Arc<Values>, Vec<usize>), QueryError> {
        match self.cache.peek(self.part.key(), What::Field(field.to_owned())) {
            Ok(kept) => Ok((kept, self.rows.to_vec())),
            // Asked for again and again, it is read as a whole and kept.
            Err(true) => Ok((values(self.part, self.cache, field)?, self.rows.to_vec())),
            Err(false) => {
                let places = self.places.clone();
                let (part, cache) = self.apart()?;
                Ok((values(&**part, cache, field)?, places))
            }
        }
    }

    fn apart(&mut self) -> Result<&(Box<dyn Part>, Cache), QueryError> {
        if self.apart.is_none() {
            self.apart = Some((self.part.some(&self.sorted)?, Cache::new(usize::MAX)));
        }
        Ok(self.apart.as_ref().expect("it was made above"))
    }
}
