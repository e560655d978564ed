//! Single columns of an object, with what is known of them without reading them.
//!
//! *Invariant:* a column comes out as it was written; bounds are never narrower than the values.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::concat;
use heldset_core::number::Number;
use heldset_core::query::Kind as FieldKind;
use heldset_core::value::Value;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::statistics::Statistics;

use super::columns::Kind;
use super::group::{selection, unwrapped};
use super::{FORMAT, FORMAT_KEY, ID, KIND_KEY, REST, Source};
use crate::error::StoreError;

/// The columns of an object, to be read one by one.
#[derive(Clone)]
pub struct Scan {
    source: Source,
    what: Arc<str>,
    metadata: ArrowReaderMetadata,
    /// Which rows; all of them when there is no range.
    rows: Arc<[Range<u64>]>,
}

impl Scan {
    /// Opens an object for some of its rows: ranges in ascending order, or all when there is none.
    pub fn open(source: Source, what: &str, rows: &[Range<u64>]) -> Result<Scan, StoreError> {
        let policy = if rows.is_empty() { PageIndexPolicy::Skip } else { PageIndexPolicy::Required };
        let options = ArrowReaderOptions::new().with_page_index_policy(policy);
        let metadata = ArrowReaderMetadata::load(&source, options).map_err(unwrapped(what))?;
        if metadata.schema().metadata().get(FORMAT_KEY).map(String::as_str) != Some(FORMAT) {
            return Err(StoreError::damaged(what));
        }
        Ok(Scan { source, what: what.into(), metadata, rows: rows.into() })
    }

    /// The same object, for other rows.
    pub fn some(&self, rows: &[Range<u64>]) -> Result<Scan, StoreError> {
        Scan::open(self.source.clone(), &self.what, rows)
    }

    /// The typed columns, without ids and the rest.
    pub fn columns(&self) -> Vec<(String, FieldKind)> {
        let fields = self.metadata.schema().fields().iter();
        let column = |field: &Arc<arrow::datatypes::Field>| {
            let kind = match Kind::parse(field.metadata().get(KIND_KEY)?)? {
                Kind::Text => FieldKind::Text,
                Kind::Integer => FieldKind::Integer,
                Kind::Number => FieldKind::Number,
                Kind::Boolean => FieldKind::Boolean,
                Kind::Json => FieldKind::Json,
            };
            Some((field.name().clone(), kind))
        };
        fields.filter_map(column).collect()
    }

    /// A typed column.
    pub fn column(&self, name: &str) -> Result<ArrayRef, StoreError> {
        let is_typed = |kind: &str| Kind::parse(kind).is_some();
        self.read(name, &is_typed)?.ok_or_else(|| StoreError::damaged(&*self.what))
    }

    /// The ids, if they lie here.
    pub fn ids(&self) -> Result<Option<StringArray>, StoreError> {
        Ok(self.read(ID, &|kind| kind == "id")?.and_then(|ids| ids.as_string_opt::<i32>().cloned()))
    }

    /// What no typed column holds, if there is any.
    pub fn rest(&self) -> Result<Option<StringArray>, StoreError> {
        let Some(column) = self.position(REST, &|kind| kind == "rest") else { return Ok(None) };
        let group = self.metadata.metadata().row_groups();
        let all_null = |at: usize| {
            group.iter().all(|group| {
                let nulls = group.column(at).statistics().and_then(Statistics::null_count_opt);
                nulls == u64::try_from(group.num_rows()).ok() && nulls.is_some()
            })
        };
        if all_null(column) {
            return Ok(None);
        }
        let rest = self.read(REST, &|kind| kind == "rest")?;
        Ok(rest.and_then(|rest| rest.as_string_opt::<i32>().cloned()).filter(|rest| {
            use arrow::array::Array;
            rest.null_count() < rest.len()
        }))
    }

    /// The smallest and largest value of a column, or values beyond them; nothing if it is not known.
    pub fn bounds(&self, name: &str) -> Option<(Value<'static>, Value<'static>)> {
        let at = self.position(name, &|kind| Kind::parse(kind).is_some_and(|kind| kind != Kind::Json))?;
        let mut found: Option<(Value<'static>, Value<'static>)> = None;
        for group in self.metadata.metadata().row_groups() {
            let (low, high) = values(group.column(at).statistics()?)?;
            found = Some(match found {
                None => (low, high),
                Some((least, most)) => {
                    use heldset_core::filter::order;
                    let lower = order(&low, &least)?.is_lt();
                    let higher = order(&high, &most)?.is_gt();
                    (if lower { low } else { least }, if higher { high } else { most })
                }
            });
        }
        found
    }

    fn position(&self, name: &str, fits: &dyn Fn(&str) -> bool) -> Option<usize> {
        let fields = self.metadata.schema().fields();
        fields
            .iter()
            .position(|field| field.name() == name && field.metadata().get(KIND_KEY).is_some_and(|kind| fits(kind)))
    }

    fn read(&self, name: &str, fits: &dyn Fn(&str) -> bool) -> Result<Option<ArrayRef>, StoreError> {
        let Some(at) = self.position(name, fits) else { return Ok(None) };
        let damaged = || StoreError::damaged(&*self.what);
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.source.clone(), self.metadata.clone());
        let total = usize::try_from(builder.metadata().file_metadata().num_rows()).map_err(|_| damaged())?;
        let mut wanted = total;
        if !self.rows.is_empty() {
            wanted = self.rows.iter().map(|range| (range.end - range.start) as usize).sum();
            builder = builder.with_row_selection(selection(&self.rows, total).ok_or_else(damaged)?);
        }
        let mask = ProjectionMask::leaves(builder.parquet_schema(), [at]);
        let reader = builder.with_projection(mask).with_batch_size(wanted.max(1)).build();
        let batches = reader.map_err(unwrapped(&self.what))?.collect::<Result<Vec<_>, _>>().map_err(|_| damaged())?;
        let arrays: Vec<&dyn arrow::array::Array> = batches.iter().map(|batch| &**batch.column(0)).collect();
        let array = match &arrays[..] {
            [] => arrow::array::new_empty_array(self.metadata.schema().field(at).data_type()),
            [_] => batches[0].column(0).clone(),
            _ => concat(&arrays).map_err(|_| damaged())?,
        };
        if array.len() == wanted { Ok(Some(array)) } else { Err(damaged()) }
    }
}

fn values(statistics: &Statistics) -> Option<(Value<'static>, Value<'static>)> {
    Some(match statistics {
        Statistics::Int64(known) => (Value::from(*known.min_opt()?), Value::from(*known.max_opt()?)),
        Statistics::Double(known) => {
            let number = |number: &f64| Number::from_f64(*number).ok().map(Value::Number);
            (number(known.min_opt()?)?, number(known.max_opt()?)?)
        }
        Statistics::ByteArray(known) => {
            let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(|text| Value::from(text.to_owned()));
            (text(known.min_opt()?.data())?, text(known.max_opt()?.data())?)
        }
        _ => return None,
    })
}
