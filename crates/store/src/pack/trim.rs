//! An object written again without some of its rows.
//!
//! *Invariant:* what is left out is in no page, dictionary or statistic of the new object; the rest keeps its order.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Schema;
use parquet::arrow::ArrowWriter;

use super::encode::usual_properties;
use super::group::read_batch;
use super::ids::{id_hash, index_of};
use super::{FORMAT, FORMAT_KEY, ID, KIND_KEY, Source};
use crate::error::StoreError;

/// An object without some of its rows.
pub(crate) struct Trimmed {
    /// The new object.
    pub(crate) object: Vec<u8>,
    /// The new index of ids, if they lie in this object.
    pub(crate) index: Option<Vec<u8>>,
}

/// Writes an object again with the rows that are kept; `what` names it in errors.
pub(crate) fn trim(source: Source, what: &str, keep: &[bool]) -> Result<Trimmed, StoreError> {
    let damaged = || StoreError::damaged(what);
    let batch = read_batch(source, what, &[], false)?;
    if batch.num_rows() != keep.len() {
        return Err(damaged());
    }
    let batch = filter_record_batch(&batch, &BooleanArray::from(keep.to_vec())).map_err(|_| damaged())?;
    // The reader hands out the columns without the tag of the format.
    let metadata = HashMap::from([(FORMAT_KEY.to_owned(), FORMAT.to_owned())]);
    let schema = Arc::new(Schema::new_with_metadata(batch.schema().fields().clone(), metadata));
    let batch = batch.with_schema(schema).map_err(|_| damaged())?;
    let ids = batch
        .schema()
        .fields()
        .iter()
        .position(|field| field.name() == ID && field.metadata().get(KIND_KEY).is_some_and(|kind| kind == "id"));
    let ids = ids.and_then(|at| batch.column(at).as_string_opt::<i32>());
    let index = ids.map(|ids| index_of(ids.iter().flatten().map(id_hash)));
    let properties = usual_properties(batch.num_rows()).build();
    // What was read has no longer the tag of the format.
    let tag = HashMap::from([(FORMAT_KEY.to_owned(), FORMAT.to_owned())]);
    let schema = Arc::new(Schema::new_with_metadata(batch.schema().fields().clone(), tag));
    let batch = batch.with_schema(schema.clone()).map_err(StoreError::internal)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).map_err(StoreError::internal)?;
    writer.write(&batch).map_err(StoreError::internal)?;
    Ok(Trimmed { object: writer.into_inner().map_err(StoreError::internal)?, index })
}
