//! The rows of one label, read back.
//!
//! *Invariant:* a field that is absent in a row is absent here; the canonical bytes are those that were hashed.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{Float64Type, Int64Type};
use arrow::record_batch::RecordBatch;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Label;
use heldset_core::{canonical, json};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector};
use parquet::file::metadata::PageIndexPolicy;

use super::columns::Kind;
use super::{FORMAT, FORMAT_KEY, ID, KIND_KEY, REST, Source};
use crate::error::StoreError;

/// Rows of one label.
pub struct Group {
    label: Label,
    rows: usize,
    ids: Option<StringArray>,
    /// In the order of the object.
    columns: Vec<(String, Cells)>,
    /// The columns in canonical key order.
    sorted: Vec<usize>,
    rest: Option<StringArray>,
}

enum Cells {
    Text(StringArray),
    Json(StringArray),
    Integer(Int64Array),
    Number(Float64Array),
    Boolean(BooleanArray),
}

impl Group {
    /// Reads rows of an object: ranges of rows in ascending order, all rows when there are none; with `ids_only` no
    /// field.
    pub fn read(
        source: Source,
        what: &str,
        label: Label,
        rows: &[std::ops::Range<u64>],
        ids_only: bool,
    ) -> Result<Group, StoreError> {
        let batch = read_batch(source, what, rows, ids_only)?;
        Group::of(&batch, label).ok_or_else(|| StoreError::damaged(what))
    }

    fn of(batch: &RecordBatch, label: Label) -> Option<Group> {
        let (mut ids, mut rest, mut columns) = (None, None, Vec::new());
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            let kind = field.metadata().get(KIND_KEY).map_or("", String::as_str);
            match kind {
                "id" if field.name() == ID => ids = Some(array.as_string_opt::<i32>()?.clone()),
                "rest" if field.name() == REST => {
                    let texts = array.as_string_opt::<i32>()?;
                    rest = (texts.null_count() < texts.len()).then(|| texts.clone());
                }
                _ => columns.push((field.name().clone(), Cells::of(Kind::parse(kind)?, array)?)),
            }
        }
        let mut sorted: Vec<usize> = (0..columns.len()).collect();
        sorted.sort_by(|a, b| canonical::key_order(&columns[*a].0, &columns[*b].0));
        Some(Group { label, rows: batch.num_rows(), ids, columns, sorted, rest })
    }

    /// The label.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The id of a row, if the ids lie under this label.
    pub fn id(&self, row: usize) -> Option<&str> {
        self.ids.as_ref().map(|ids| ids.value(row))
    }

    /// Whether a row has no field of this label.
    pub fn is_empty(&self, row: usize) -> bool {
        self.columns.iter().all(|(_, cells)| cells.is_absent(row)) && self.rest_of(row).is_none()
    }

    /// Appends the canonical bytes of a row's fields; nothing when there is none.
    pub fn canonical(&self, row: usize, out: &mut Vec<u8>) {
        if self.rest_of(row).is_some() {
            let fields = self.fields(row);
            return canonical::write_object(&fields, out);
        }
        let mut any = false;
        for index in &self.sorted {
            let (name, cells) = &self.columns[*index];
            if !cells.is_absent(row) {
                out.push(if any { b',' } else { b'{' });
                any = true;
                write_entry(name, cells, row, out);
            }
        }
        if any {
            out.push(b'}');
        }
    }

    /// Appends a row's fields as entries of a JSON mapping, each after a comma.
    pub fn write_entries(&self, row: usize, out: &mut Vec<u8>) {
        for (name, cells) in &self.columns {
            if !cells.is_absent(row) {
                out.push(b',');
                write_entry(name, cells, row, out);
            }
        }
        if let Some(rest) = self.rest_of(row).filter(|rest| rest.len() > 2) {
            out.push(b',');
            out.extend_from_slice(&rest.as_bytes()[1..rest.len() - 1]);
        }
    }

    /// A row's fields.
    pub fn fields(&self, row: usize) -> Object<'_> {
        let mut fields = Object::with_capacity(self.columns.len());
        self.add_fields(row, &mut fields);
        fields
    }

    /// Adds a row's fields to a mapping that has none of their names.
    pub fn add_fields<'g>(&'g self, row: usize, fields: &mut Object<'g>) {
        for (name, cells) in self.columns.iter().filter(|(_, cells)| !cells.is_absent(row)) {
            fields.push_unique(name.as_str().into(), cells.value(row));
        }
        if let Some(rest) = self.rest_of(row) {
            let rest = json::read(rest).expect("what was verified is canonical JSON");
            let Value::Object(rest) = rest else { unreachable!("`_rest` holds mappings") };
            rest.into_iter().for_each(|(name, value)| fields.push_unique(name, value));
        }
    }

    fn rest_of(&self, row: usize) -> Option<&str> {
        self.rest.as_ref().filter(|rest| rest.is_valid(row)).map(|rest| rest.value(row))
    }
}

impl Cells {
    fn of(kind: Kind, array: &ArrayRef) -> Option<Cells> {
        Some(match kind {
            Kind::Text => Cells::Text(array.as_string_opt::<i32>()?.clone()),
            Kind::Json => Cells::Json(array.as_string_opt::<i32>()?.clone()),
            Kind::Integer => Cells::Integer(array.as_primitive_opt::<Int64Type>()?.clone()),
            Kind::Number => Cells::Number(array.as_primitive_opt::<Float64Type>()?.clone()),
            Kind::Boolean => Cells::Boolean(array.as_boolean_opt()?.clone()),
        })
    }

    fn is_absent(&self, row: usize) -> bool {
        match self {
            Cells::Text(texts) | Cells::Json(texts) => texts.is_null(row),
            Cells::Integer(numbers) => numbers.is_null(row),
            Cells::Number(numbers) => numbers.is_null(row),
            Cells::Boolean(flags) => flags.is_null(row),
        }
    }

    fn value(&self, row: usize) -> Value<'_> {
        match self {
            Cells::Text(texts) => Value::from(texts.value(row)),
            Cells::Json(texts) => json::read(texts.value(row)).expect("what was verified is canonical JSON"),
            Cells::Integer(numbers) => Value::from(numbers.value(row)),
            Cells::Number(numbers) => Value::Number(number(numbers.value(row))),
            Cells::Boolean(flags) => Value::Bool(flags.value(row)),
        }
    }
}

/// Reads rows of an object as columns.
pub(super) fn read_batch(
    source: Source,
    what: &str,
    rows: &[std::ops::Range<u64>],
    ids_only: bool,
) -> Result<RecordBatch, StoreError> {
    let damaged = |_| StoreError::damaged(what);
    let page_index = if rows.is_empty() { PageIndexPolicy::Skip } else { PageIndexPolicy::Required };
    let options = ArrowReaderOptions::new().with_page_index_policy(page_index);
    let mut builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(source, options).map_err(unwrapped(what))?;
    if builder.schema().metadata().get(FORMAT_KEY).map(String::as_str) != Some(FORMAT) {
        return Err(StoreError::damaged(what));
    }
    let total = builder.metadata().file_metadata().num_rows().max(0) as usize;
    let wanted =
        if rows.is_empty() { total } else { rows.iter().map(|range| (range.end - range.start) as usize).sum() };
    if !rows.is_empty() {
        builder = builder.with_row_selection(selection(rows, total).ok_or_else(|| StoreError::damaged(what))?);
    }
    if ids_only {
        let mask = ProjectionMask::columns(builder.parquet_schema(), [ID]);
        builder = builder.with_projection(mask);
    }
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(wanted.max(1)).build().map_err(unwrapped(what))?;
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().map_err(damaged)?;
    let batch = match batches.len() {
        1 => batches.into_iter().next().ok_or_else(|| StoreError::damaged(what))?,
        _ => {
            let schema = batches.first().map_or(schema, RecordBatch::schema);
            concat_batches(&schema, &batches).map_err(damaged)?
        }
    };
    if batch.num_rows() == wanted { Ok(batch) } else { Err(StoreError::damaged(what)) }
}

fn write_entry(name: &str, cells: &Cells, row: usize, out: &mut Vec<u8>) {
    canonical::write_text(name, out);
    out.push(b':');
    match cells {
        Cells::Text(texts) => canonical::write_text(texts.value(row), out),
        Cells::Json(texts) => out.extend_from_slice(texts.value(row).as_bytes()),
        cells => canonical::write(&cells.value(row), out),
    }
}

fn number(value: f64) -> Number {
    Number::from_f64(value).expect("a number that was stored is finite")
}

pub(super) fn selection(rows: &[std::ops::Range<u64>], total: usize) -> Option<RowSelection> {
    let mut at = 0;
    let mut selectors = Vec::new();
    for range in rows {
        let (start, end) = (range.start as usize, range.end as usize);
        if start < at || end < start || end > total {
            return None;
        }
        selectors.push(RowSelector::skip(start - at));
        selectors.push(RowSelector::select(end - start));
        at = end;
    }
    Some(selectors.into())
}

/// What the columnar reader says of an object; our own errors come back as they went in.
pub(super) fn unwrapped(what: &str) -> impl Fn(parquet::errors::ParquetError) -> StoreError + '_ {
    move |error| match error {
        parquet::errors::ParquetError::External(inner) => {
            inner.downcast::<StoreError>().map_or_else(|_| StoreError::damaged(what), |error| *error)
        }
        _ => StoreError::damaged(what),
    }
}
