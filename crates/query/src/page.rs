//! One page of the rows that a filter means, and how many there are in all.
//!
//! *Invariant:* the order is total: after all that is sorted by, rows come by id, then by where they lie.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, AsArray, BooleanArray, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{SortOptions, filter_record_batch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use arrow::record_batch::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, collect};
use heldset_core::filter::Filter;
use heldset_core::query::Sort;

use crate::cache::Cache;
use crate::error::QueryError;
use crate::part::Part;
use crate::select::select;
use crate::sort::{KeyColumn, prepare};
use crate::sql::settled;
use crate::table::{Produce, streams, threads, wait};
use crate::values::{Values, values};

/// Some rows that a filter means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many rows the filter means in all.
    pub total: u64,
    /// The rows of the page, in order: number of the part, row in it.
    pub rows: Vec<(usize, usize)>,
}

/// Answers a query.
pub fn page(
    parts: &[Arc<dyn Part>],
    cache: &Arc<Cache>,
    filter: &Filter,
    sort: &[Sort],
    (offset, limit): (u64, u64),
) -> Result<Page, QueryError> {
    let fields: Vec<&str> = sort.iter().map(|sort| sort.field.as_str()).filter(|field| *field != "id").collect();
    let wanted = usize::try_from(offset.saturating_add(limit)).unwrap_or(usize::MAX);
    let selected = select_all(parts, cache, filter, &fields)?;
    let total = selected.iter().map(|(_, _, rows)| rows.count_set_bits() as u64).sum();
    if offset >= total || limit == 0 {
        return Ok(Page { total, rows: Vec::new() });
    }
    let met: Vec<Arc<dyn Part>> = selected.iter().map(|(_, part, _)| part.clone()).collect();
    let keys: Vec<KeyColumn> =
        fields.iter().map(|field| KeyColumn::of(&met, cache, field)).collect::<Result<_, _>>()?;
    let scan = Scan { selected, cache: cache.clone(), schema: schema(&keys), keys };
    let ordering = ordering(sort, &scan.schema)?;
    let schema = scan.schema.clone();
    let input = streams(schema, met.len(), Arc::new(scan))?;
    let sorted = SortExec::new(ordering.clone(), input).with_fetch(Some(wanted)).with_preserve_partitioning(true);
    let merged: Arc<dyn ExecutionPlan> =
        Arc::new(SortPreservingMergeExec::new(ordering, Arc::new(sorted)).with_fetch(Some(wanted)));
    let batches = wait(collect(merged, Arc::new(TaskContext::default()))).map_err(settled)?;
    let at =
        batches.iter().flat_map(|batch| batch.column(batch.num_columns() - 1).as_primitive::<UInt64Type>().values());
    let skip = usize::try_from(offset).unwrap_or(usize::MAX);
    let rows = at.skip(skip).map(|at| ((at >> 32) as usize, (at & u64::from(u32::MAX)) as usize)).collect();
    Ok(Page { total, rows })
}

fn schema(keys: &[KeyColumn]) -> SchemaRef {
    let key = |(index, key): (usize, &KeyColumn)| Field::new(format!("key{index}"), key.data_type(), true);
    let mut fields: Vec<Field> = keys.iter().enumerate().map(key).collect();
    fields.push(Field::new("id", DataType::Utf8, true));
    fields.push(Field::new("at", DataType::UInt64, false));
    Arc::new(Schema::new(fields))
}

fn ordering(sort: &[Sort], schema: &Schema) -> Result<LexOrdering, QueryError> {
    let by = |index: usize, descending: bool| {
        let column = Column::new(schema.field(index).name(), index);
        PhysicalSortExpr::new(Arc::new(column), SortOptions { descending, nulls_first: false })
    };
    let (mut by_all, mut key) = (Vec::new(), 0);
    let id = schema.fields().len() - 2;
    for sort in sort {
        if sort.field == "id" {
            by_all.push(by(id, sort.descending));
            continue;
        }
        by_all.push(by(key, sort.descending));
        key += 1;
    }
    by_all.push(by(id, false));
    by_all.push(by(id + 1, false));
    LexOrdering::new(by_all).ok_or_else(|| QueryError::Invalid("nothing to sort by".to_owned()))
}

/// A part that the filter means rows of: its number, and which rows.
type Selected = (usize, Arc<dyn Part>, BooleanBuffer);

/// The rows of all parts that a filter means; what they are sorted by is read along.
fn select_all(
    parts: &[Arc<dyn Part>],
    cache: &Cache,
    filter: &Filter,
    fields: &[&str],
) -> Result<Vec<Selected>, QueryError> {
    let next = AtomicUsize::new(0);
    let lane = || -> Result<Vec<Selected>, QueryError> {
        let mut found = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(number) else { return Ok(found) };
            let rows = select(&**part, cache, filter)?;
            if rows.count_set_bits() > 0 {
                values(&**part, cache, "id")?;
                for field in fields {
                    prepare(&**part, cache, field)?;
                }
                found.push((number, part.clone(), rows));
            }
        }
    };
    let mut all = Vec::new();
    if parts.len() <= 1 {
        all = lane()?;
    } else {
        std::thread::scope(|scope| {
            let lanes: Vec<_> = (0..threads().min(parts.len())).map(|_| scope.spawn(lane)).collect();
            for lane in lanes {
                all.extend(lane.join().expect("selecting does not panic")?);
            }
            Ok::<_, QueryError>(())
        })?;
    }
    all.sort_by_key(|(number, _, _)| *number);
    Ok(all)
}

/// What rows are sorted by, of those that the filter means.
struct Scan {
    selected: Vec<Selected>,
    cache: Arc<Cache>,
    keys: Vec<KeyColumn>,
    schema: SchemaRef,
}

impl Produce for Scan {
    fn batch(&self, index: usize) -> Result<Option<RecordBatch>, QueryError> {
        let (number, part, rows) = &self.selected[index];
        let mut columns: Vec<ArrayRef> = Vec::new();
        for key in &self.keys {
            columns.push(key.array(&**part, &self.cache)?);
        }
        let ids = values(&**part, &self.cache, "id")?;
        let Values::Cells(ids) = &*ids else { return Ok(None) };
        columns.push(ids.array());
        let first = (*number as u64) << 32;
        columns.push(Arc::new((first..first + part.rows() as u64).collect::<UInt64Array>()));
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        Ok(Some(match rows.count_set_bits() == part.rows() {
            true => batch,
            false => filter_record_batch(&batch, &BooleanArray::new(rows.clone(), None))?,
        }))
    }
}
