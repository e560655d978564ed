//! Records as Parquet: typed columns where all values are of one type, canonical JSON where they are not.
//!
//! *Invariant:* nothing is lost: null is absence, and what no column type holds is JSON in a field marked so.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use heldset_core::record::Record;
use heldset_core::value::Value;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::column_set::{ColumnSet, Kinds};
use super::layout::Layout;
use super::loss::Loss;
use super::rows::{Written, json_line};
use super::table::{Sidecar, TableWriter};
use crate::columns::{TYPE_JSON, TYPE_KEY};

mod build;

use build::{Builder, ColumnType};

/// A batch is handed on at this many rows, or at this many bytes of text.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 16 << 20;

/// A row group ends at this many rows, or at about this many bytes.
const GROUP_ROWS: usize = 128 << 10;
const GROUP_BYTES: usize = 128 << 20;

/// Records as Parquet.
pub(crate) struct ParquetWriter;

impl TableWriter for ParquetWriter {
    fn row(&self, record: &Record<'_>) -> Written {
        Written { bytes: json_line(record), losses: Vec::new() }
    }

    fn observe(&self, record: &Record<'_>, columns: &mut ColumnSet) {
        columns.add(record.id.as_str(), record.fields.iter());
    }

    fn losses(&self, _columns: &ColumnSet) -> Vec<Loss> {
        Vec::new()
    }

    fn write(
        &self,
        columns: &ColumnSet,
        rows: &mut dyn Iterator<Item = io::Result<Record<'static>>>,
        out: &mut (dyn Write + Send),
    ) -> io::Result<Sidecar> {
        let layout = Layout::of_records(columns);
        let mut table = Table::new(&layout, columns, out)?;
        for record in rows {
            let record = record?;
            let id = Value::from(record.id.as_str());
            table.row(&layout.place(std::iter::once(("id", &id)).chain(record.fields.iter()))?)?;
        }
        table.finish()?;
        Ok(Sidecar::default())
    }
}

/// A file that grows batch by batch.
struct Table<'o> {
    writer: ArrowWriter<&'o mut (dyn Write + Send)>,
    schema: Arc<Schema>,
    builders: Vec<Builder>,
    rows: usize,
    bytes: usize,
}

impl<'o> Table<'o> {
    fn new(layout: &Layout, columns: &ColumnSet, out: &'o mut (dyn Write + Send)) -> io::Result<Self> {
        let types = || {
            layout.names.iter().map(|name| columns.get(name).map_or(ColumnType::Text, |column| type_of(column.kinds)))
        };
        let fields: Vec<_> = layout.names.iter().zip(types()).map(|(name, kind)| field(name, kind)).collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
        Ok(Table { writer, schema, builders: types().map(Builder::new).collect(), rows: 0, bytes: 0 })
    }

    fn row(&mut self, row: &[Option<&Value<'_>>]) -> io::Result<()> {
        for ((builder, value), field) in self.builders.iter_mut().zip(row).zip(self.schema.fields()) {
            self.bytes += builder.append(*value, field.name())?;
        }
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(io::Error::other)?;
        self.writer.write(&batch)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.flush()?;
        }
        self.writer.close()?;
        Ok(())
    }
}

fn field(name: &str, kind: ColumnType) -> Field {
    let data = match kind {
        ColumnType::Text | ColumnType::Json => DataType::Utf8,
        ColumnType::Integer => DataType::Int64,
        ColumnType::Unsigned => DataType::UInt64,
        ColumnType::Double => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Texts => DataType::new_list(DataType::Utf8, true),
    };
    let field = Field::new(name, data, name != "id");
    match kind {
        ColumnType::Json => field.with_metadata([(TYPE_KEY.to_owned(), TYPE_JSON.to_owned())].into()),
        _ => field,
    }
}

/// The type of a column, when one type holds all its values exactly.
fn type_of(kinds: Kinds) -> ColumnType {
    const EXACT: Kinds = Kinds::POSITIVE.and(Kinds::NEGATIVE).and(Kinds::BIG).and(Kinds::DOUBLE);
    let signed = Kinds::POSITIVE.and(Kinds::NEGATIVE).and(Kinds::INEXACT);
    let unsigned = Kinds::POSITIVE.and(Kinds::BIG).and(Kinds::INEXACT);
    match () {
        () if kinds.only(Kinds::TEXT) => ColumnType::Text,
        () if kinds.only(Kinds::BOOLEAN) => ColumnType::Boolean,
        () if kinds.only(signed) => ColumnType::Integer,
        () if kinds.only(unsigned) => ColumnType::Unsigned,
        () if kinds.only(EXACT) => ColumnType::Double,
        () if kinds.only(Kinds::TEXTS) => ColumnType::Texts,
        () => ColumnType::Json,
    }
}
