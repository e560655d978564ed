//! Parts as a table of DataFusion: the columns that may be seen, and nothing else.
//!
//! *Invariant:* a column that no part offers is not in the schema, so the planner does not know it.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use heldset_core::canonical;
use heldset_core::filter::Test;
use heldset_core::query::Kind;
use heldset_core::value::Value;
use tokio::runtime::Runtime;

use crate::cache::Cache;
use crate::error::QueryError;
use crate::fields::fields_of;
use crate::part::Part;
use crate::prune::never;
use crate::values::{Values, values};

/// The key, in the metadata of a column, that says that its texts are JSON.
pub(crate) const JSON: &str = "heldset:json";

/// A table of parts.
#[derive(Clone)]
pub struct Table {
    pub(crate) parts: Vec<Arc<dyn Part>>,
    pub(crate) cache: Arc<Cache>,
    pub(crate) schema: SchemaRef,
}

impl Table {
    /// The table of these parts.
    pub fn new(parts: Vec<Arc<dyn Part>>, cache: Arc<Cache>) -> Result<Table, QueryError> {
        let fields = fields_of(&parts, &cache)?;
        let mut columns = vec![Field::new("id", DataType::Utf8, false)];
        columns.extend(fields.columns().map(|(name, kind)| column(name, kind)));
        Ok(Table { parts, cache, schema: Arc::new(Schema::new(columns)) })
    }

    /// The plan that reads some columns, without the parts that none of these tests can hold in.
    pub(crate) fn scan(
        &self,
        projection: Option<&Vec<usize>>,
        tests: &[Test],
    ) -> Result<Arc<dyn ExecutionPlan>, QueryError> {
        let mut parts = Vec::new();
        for part in self.parts.iter().filter(|part| part.rows() > 0) {
            let mut out = false;
            for test in tests {
                out |= never(&**part, &self.cache, test)?;
            }
            if !out {
                parts.push(part.clone());
            }
        }
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let schema = self.schema.project(projection.unwrap_or(&all))?;
        let (count, schema) = (parts.len(), Arc::new(schema));
        let read = Read { parts, cache: self.cache.clone(), schema: schema.clone() };
        streams(schema, count, Arc::new(read))
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a table of {} parts", self.parts.len())
    }
}

fn column(name: &str, kind: Kind) -> Field {
    let data_type = match kind {
        Kind::Text | Kind::Json => DataType::Utf8,
        Kind::Integer => DataType::Int64,
        Kind::Number => DataType::Float64,
        Kind::Boolean => DataType::Boolean,
    };
    let field = Field::new(name, data_type, true);
    match kind {
        Kind::Json => field.with_metadata([(JSON.to_owned(), "1".to_owned())].into()),
        _ => field,
    }
}

/// Batches by number.
pub(crate) trait Produce: Send + Sync {
    /// The batch of that number, if it has any row.
    fn batch(&self, index: usize) -> Result<Option<RecordBatch>, QueryError>;
}

struct Read {
    parts: Vec<Arc<dyn Part>>,
    cache: Arc<Cache>,
    schema: SchemaRef,
}

impl Produce for Read {
    fn batch(&self, index: usize) -> Result<Option<RecordBatch>, QueryError> {
        let part = &*self.parts[index];
        let mut columns: Vec<ArrayRef> = Vec::new();
        for field in self.schema.fields() {
            columns.push(array(part, &self.cache, field)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(part.rows()));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?))
    }
}

fn array(part: &dyn Part, cache: &Cache, field: &Field) -> Result<ArrayRef, QueryError> {
    // The name of a column is the whole of its name here, dots and all.
    let found = values(part, cache, field.name())?;
    let is_json = field.metadata().contains_key(JSON);
    if let Values::Absent = &*found {
        return Ok(arrow::array::new_null_array(field.data_type(), part.rows()));
    }
    if let (Values::Cells(cells), false) = (&*found, is_json) {
        let array = cells.array();
        return Ok(if array.data_type() == field.data_type() {
            array
        } else {
            arrow::compute::cast(&array, field.data_type())?
        });
    }
    let text = |row: usize| match found.value(row) {
        Value::Null => None,
        value => Some(String::from_utf8(canonical::bytes(&value)).unwrap_or_default()),
    };
    Ok(Arc::new((0..part.rows()).map(text).collect::<StringArray>()))
}

/// A plan over batches that are made when they are needed, on as many threads as there are.
pub(crate) fn streams(
    schema: SchemaRef,
    batches: usize,
    produce: Arc<dyn Produce>,
) -> Result<Arc<dyn ExecutionPlan>, QueryError> {
    let lanes = threads().min(batches).max(1);
    let lane = |lane: usize| {
        let numbers = (lane..batches).step_by(lanes).collect();
        Arc::new(Lane { schema: schema.clone(), numbers, produce: produce.clone() }) as Arc<dyn PartitionStream>
    };
    let plan = StreamingTableExec::try_new(schema.clone(), (0..lanes).map(lane).collect(), None, [], false, None);
    Ok(Arc::new(plan.map_err(crate::sql::settled)?))
}

/// Every so many of the batches.
struct Lane {
    schema: SchemaRef,
    numbers: Vec<usize>,
    produce: Arc<dyn Produce>,
}

impl fmt::Debug for Lane {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} parts", self.numbers.len())
    }
}

impl PartitionStream for Lane {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let produce = self.produce.clone();
        let batches = self.numbers.clone().into_iter().filter_map(move |number| {
            let batch: DataFusionResult<Option<RecordBatch>> = produce.batch(number).map_err(DataFusionError::from);
            batch.transpose()
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), futures_util::stream::iter(batches)))
    }
}

/// What statements that nest deeply may take; only what is used is ever there.
const STACK: usize = 512 << 20;

pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Waits for work that is done on the threads of queries.
pub(crate) fn wait<F>(work: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let start = || {
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads())
            .thread_name("query")
            .thread_stack_size(STACK)
            .build();
        threads.expect("threads can be started")
    };
    let (send, receive) = std::sync::mpsc::sync_channel(1);
    RUNTIME.get_or_init(start).spawn(async move {
        // Nobody waits any more when the caller is gone.
        drop(send.send(work.await));
    });
    receive.recv().expect("the work does not panic")
}
