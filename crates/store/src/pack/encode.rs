//! Writing the rows of a pack as columnar objects, one for each label.
//!
//! *Invariant:* an object holds cells of one label alone; the ids lie in the object of the split's own label.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use heldset_core::visibility::{Label, SplitLabels};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::columns::{Kind, Plan};
use super::draft::{PackDraft, Row};
use super::rest::write_rest;
use super::stage::Cell;
use super::{FORMAT, FORMAT_KEY, ID, KIND_KEY, REST};
use crate::error::StoreError;

/// Rows of one page: what a single record costs to read.
const PAGE_ROWS: usize = 2048;
/// Rows that are made into arrays at once.
const SLICE_ROWS: usize = 1024;
/// Values looked at to see whether a column repeats itself.
const SAMPLE: usize = 4096;
/// Longer texts, on average, get no statistics.
const LONG_TEXT: usize = 64;

/// Makes the objects of these rows, each with its label, and hands them to `put` one after the other. Sealed labels
/// always have one, and so has the split's own.
pub fn encode<T>(
    draft: &PackDraft,
    labels: &SplitLabels,
    put: impl Fn(&Label, Vec<u8>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    if draft.is_too_large() {
        return Err(StoreError::internal("records of more than 4 GiB in one chunk"));
    }
    let plan = Plan::of(draft, labels.labels().len());
    let mut objects = Vec::new();
    for (index, label) in labels.labels().iter().enumerate() {
        let table = Table::of(draft, &plan, index, label == labels.own());
        if table.columns.len() > 1 || table.has_rest() || !label.is_open() {
            objects.push(put(label, table.write()?)?);
        }
    }
    if !labels.labels().contains(labels.own()) {
        let table = Table { draft, plan: &plan, label: usize::MAX, columns: vec![Slot::Id] };
        objects.push(put(labels.own(), table.write()?)?);
    }
    Ok(objects)
}

/// The columns of one object.
struct Table<'t> {
    draft: &'t PackDraft,
    plan: &'t Plan,
    label: usize,
    columns: Vec<Slot<'t>>,
}

/// What a column holds.
#[derive(Clone, Copy)]
enum Slot<'t> {
    Id,
    Field { name: &'t str, kind: Kind, index: usize },
    Rest,
}

impl<'t> Table<'t> {
    fn of(draft: &'t PackDraft, plan: &'t Plan, label: usize, own: bool) -> Self {
        let fields = plan.columns[label].iter().enumerate();
        let fields = fields.map(|(index, column)| Slot::Field { name: &column.name, kind: column.kind, index });
        let columns = own.then_some(Slot::Id).into_iter().chain(fields).chain([Slot::Rest]).collect();
        Table { draft, plan, label, columns }
    }

    fn has_rest(&self) -> bool {
        self.draft.rows.iter().any(|row| self.left(row).next().is_some())
    }

    /// The fields of a row that no typed column holds.
    fn left(&self, row: &Row) -> impl Iterator<Item = (&'t str, Cell)> {
        let shape = &self.draft.shapes[row.shape as usize];
        let cells = self.draft.cells(row).iter().zip(&shape.fields).zip(self.plan.places(row.shape));
        cells.filter_map(|((cell, (_, name)), (label, column))| {
            let held = column.is_some_and(|column| self.plan.columns[*label][column].kind.holds(*cell));
            (*label == self.label && !held).then_some((name.as_str(), *cell))
        })
    }

    fn write(&self) -> Result<Vec<u8>, StoreError> {
        let metadata = HashMap::from([(FORMAT_KEY.to_owned(), FORMAT.to_owned())]);
        let fields: Vec<Field> = self.columns.iter().map(Slot::field).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let mut writer =
            ArrowWriter::try_new(Vec::new(), schema.clone(), Some(self.properties())).map_err(StoreError::internal)?;
        for rows in self.draft.rows.chunks(SLICE_ROWS) {
            let arrays = self.columns.iter().map(|slot| self.array(*slot, rows)).collect::<Option<_>>();
            let arrays = arrays.ok_or_else(|| StoreError::internal("a column of more than 2 GiB in 1,024 rows"))?;
            let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(StoreError::internal)?;
            writer.write(&batch).map_err(StoreError::internal)?;
        }
        writer.into_inner().map_err(StoreError::internal)
    }

    fn properties(&self) -> WriterProperties {
        let mut properties = usual_properties(self.draft.len());
        for slot in &self.columns {
            let sample = &self.draft.rows[..self.draft.len().min(SAMPLE)];
            let (repeats, long) = match slot {
                Slot::Field { kind: Kind::Text | Kind::Json, .. } | Slot::Id | Slot::Rest => {
                    let texts = self.texts(*slot, sample);
                    (texts.repeats(), texts.values.len() > sample.len() * LONG_TEXT)
                }
                Slot::Field { kind, .. } => (*kind == Kind::Number, false),
            };
            let statistics = if long { EnabledStatistics::None } else { EnabledStatistics::Page };
            let path = ColumnPath::new(vec![slot.name().to_owned()]);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), repeats)
                .set_column_statistics_enabled(path, statistics);
        }
        properties.build()
    }

    fn array(&self, slot: Slot<'_>, rows: &[Row]) -> Option<ArrayRef> {
        let Slot::Field { kind, index, .. } = slot else {
            return Some(Arc::new(self.texts(slot, rows).into_array()?));
        };
        let cells = self.cells(kind, index, rows);
        Some(match kind {
            Kind::Text | Kind::Json => Arc::new(self.texts(slot, rows).into_array()?),
            Kind::Integer => Arc::new(cells.map(integer_of).collect::<Int64Array>()),
            Kind::Number => Arc::new(cells.map(number_of).collect::<Float64Array>()),
            Kind::Boolean => Arc::new(cells.map(flag_of).collect::<BooleanArray>()),
        })
    }

    /// The cells of a column that it holds.
    fn cells<'c>(&'c self, kind: Kind, index: usize, rows: &'c [Row]) -> impl Iterator<Item = Option<Cell>> + 'c {
        let mut cached = (u32::MAX, None);
        rows.iter().map(move |row| {
            if cached.0 != row.shape {
                let at = self.plan.places(row.shape).iter().position(|place| *place == (self.label, Some(index)));
                cached = (row.shape, at);
            }
            cached.1.map(|at: usize| self.draft.cells[row.cells as usize + at]).filter(|cell| kind.holds(*cell))
        })
    }

    fn texts(&self, slot: Slot<'_>, rows: &[Row]) -> Texts {
        let mut texts = Texts::with_capacity(rows.len());
        match slot {
            Slot::Id => rows.iter().for_each(|row| texts.push(Some(self.draft.text(row.id)))),
            Slot::Field { kind, index, .. } => {
                for cell in self.cells(kind, index, rows) {
                    texts.push(match cell {
                        Some(Cell::Text(from, to) | Cell::Json(from, to)) => Some(self.draft.text((from, to))),
                        _ => None,
                    });
                }
            }
            Slot::Rest => {
                let (mut left, mut bytes) = (Vec::new(), Vec::new());
                for row in rows {
                    left.clear();
                    left.extend(self.left(row));
                    bytes.clear();
                    write_rest(&mut left, self.draft, &mut bytes);
                    texts.push((!left.is_empty()).then_some(bytes.as_slice()));
                }
            }
        }
        texts
    }
}

impl Slot<'_> {
    fn name(&self) -> &str {
        match self {
            Slot::Id => ID,
            Slot::Field { name, .. } => name,
            Slot::Rest => REST,
        }
    }

    fn field(&self) -> Field {
        let (kind, data_type) = match self {
            Slot::Id => ("id", DataType::Utf8),
            Slot::Rest => ("rest", DataType::Utf8),
            Slot::Field { kind, .. } => (kind.name(), kind.data_type()),
        };
        let metadata = HashMap::from([(KIND_KEY.to_owned(), kind.to_owned())]);
        Field::new(self.name(), data_type, true).with_metadata(metadata)
    }
}

/// How an object of so many rows is written, whatever its columns are.
pub(super) fn usual_properties(rows: usize) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default()))
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS)
        .set_max_row_group_row_count(Some(rows.max(1)))
        .set_created_by("heldset".to_owned())
}

fn integer_of(cell: Option<Cell>) -> Option<i64> {
    if let Some(Cell::Integer(number)) = cell { Some(number) } else { None }
}

#[allow(clippy::cast_precision_loss, reason = "integers in a number column are at most 2^53")]
fn number_of(cell: Option<Cell>) -> Option<f64> {
    match cell {
        Some(Cell::Number(number)) => Some(number),
        Some(Cell::Integer(number)) => Some(number as f64),
        _ => None,
    }
}

fn flag_of(cell: Option<Cell>) -> Option<bool> {
    if let Some(Cell::Bool(flag)) = cell { Some(flag) } else { None }
}

/// The cells of a column of text.
struct Texts {
    values: Vec<u8>,
    ends: Vec<i32>,
    present: Vec<bool>,
    /// Whether there is more text than one array can hold.
    too_long: bool,
}

impl Texts {
    fn with_capacity(rows: usize) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Texts { values: Vec::new(), ends, present: Vec::with_capacity(rows), too_long: false }
    }

    fn push(&mut self, text: Option<&[u8]>) {
        self.values.extend_from_slice(text.unwrap_or_default());
        let end = i32::try_from(self.values.len());
        self.too_long |= end.is_err();
        self.ends.push(end.unwrap_or(i32::MAX));
        self.present.push(text.is_some());
    }

    /// Whether a dictionary would help.
    fn repeats(&self) -> bool {
        let ends = self.ends.windows(2).map(|ends| self.values.get(ends[0] as usize..ends[1] as usize));
        ends.collect::<HashSet<_>>().len() * 4 <= self.present.len()
    }

    fn into_array(self) -> Option<StringArray> {
        if self.too_long {
            return None;
        }
        let offsets = OffsetBuffer::new(self.ends.into());
        StringArray::try_new(offsets, Buffer::from_vec(self.values), Some(NullBuffer::from(self.present))).ok()
    }
}
