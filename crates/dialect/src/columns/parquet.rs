//! Parquet: the footer, then row group after row group.
//!
//! *Invariant:* text is read as views on the decoded pages, so a dictionary costs what it holds, however many rows
//! name its entries.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, Length};

use super::broken::Broken;
use super::{ROWS, footer};
use crate::files::ReadSeek;

/// About how many bytes a batch of rows takes.
const BATCH_BYTES: u64 = 16 << 20;

/// How many rows a byte of a file may stand for; real files stay far below one.
const ROWS_PER_BYTE: u64 = 1000;

/// A Parquet file whose footer has been read.
pub(super) struct ParquetFile {
    reader: ParquetRecordBatchReader,
    shared: Arc<Shared>,
}

/// The file, shared by the readers of its columns.
struct Shared {
    file: Mutex<Box<dyn ReadSeek>>,
    length: u64,
    read: AtomicU64,
}

#[derive(Clone)]
struct Chunks(Arc<Shared>);

/// A reader of the shared file with a place of its own.
struct At {
    shared: Arc<Shared>,
    offset: u64,
}

impl ParquetFile {
    pub(super) fn open(mut file: Box<dyn ReadSeek>) -> Result<(Self, SchemaRef), Broken> {
        let length = file.seek(SeekFrom::End(0))?;
        let shared = Arc::new(Shared { file: Mutex::new(file), length, read: AtomicU64::new(0) });
        let chunks = Chunks(Arc::clone(&shared));
        check_footer(&chunks)?;
        let metadata = ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new())?;
        check_rows(metadata.metadata(), length)?;
        let views = Arc::new(Schema::new_with_metadata(
            as_views(metadata.schema().fields()),
            metadata.schema().metadata().clone(),
        ));
        let options = ArrowReaderOptions::new().with_schema(views);
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata);
        let schema = Arc::clone(metadata.schema());
        let rows = batch_rows(metadata.metadata());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata);
        Ok((ParquetFile { reader: builder.with_batch_size(rows).build()?, shared }, schema))
    }

    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, Broken> {
        Ok(self.reader.next().transpose()?)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.shared.read.load(Ordering::Relaxed).min(self.shared.length)
    }
}

/// Walks over the footer: its length stands before the mark at the end of the file.
fn check_footer(chunks: &Chunks) -> Result<(), Broken> {
    const TRAILER: u64 = 8;
    let Some(end) = chunks.len().checked_sub(TRAILER) else { return Err(Broken::new("the file ends too early")) };
    let trailer = chunks.get_bytes(end, TRAILER as usize)?;
    let Some((length, b"PAR1")) = trailer.split_first_chunk::<4>() else {
        return Err(Broken::new("it does not end as a Parquet file does"));
    };
    let length = u32::from_le_bytes(*length);
    let start = end.checked_sub(u64::from(length)).ok_or_else(|| Broken::new("its footer is cut off"))?;
    footer::check(&chunks.get_bytes(start, length as usize)?)
}

/// Refuses a footer that declares more rows than a file of this length can mean.
fn check_rows(metadata: &ParquetMetaData, length: u64) -> Result<(), Broken> {
    let mut rows: u64 = 0;
    for group in metadata.row_groups() {
        let more = u64::try_from(group.num_rows()).map_err(|_| Broken::new("a row group has a negative size"))?;
        rows = rows.saturating_add(more);
    }
    if rows > length.saturating_mul(ROWS_PER_BYTE) {
        return Err(Broken::new(format!("{length} bytes declare {rows} rows")));
    }
    Ok(())
}

/// How many rows make a batch of reasonable size in the row group with the largest rows.
fn batch_rows(metadata: &ParquetMetaData) -> usize {
    let row_bytes = metadata.row_groups().iter().map(|group| {
        let bytes = u64::try_from(group.total_byte_size()).unwrap_or(0);
        bytes / u64::try_from(group.num_rows()).unwrap_or(0).max(1)
    });
    let rows = BATCH_BYTES / row_bytes.max().unwrap_or(0).max(1);
    usize::try_from(rows).unwrap_or(ROWS).clamp(1, ROWS)
}

/// The same fields with text and bytes as views.
fn as_views(fields: &Fields) -> Fields {
    fields.iter().map(as_view).collect()
}

fn as_view(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Struct(fields) => DataType::Struct(as_views(fields)),
        DataType::List(item) => DataType::List(as_view(item)),
        DataType::LargeList(item) => DataType::LargeList(as_view(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(as_view(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(as_view(entries), *sorted),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}

impl Shared {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        let read = file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.shared.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.length
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(At { shared: Arc::clone(&self.0), offset: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.0.length) {
            return Err(ParquetError::EOF("a part lies beyond the end of the file".to_owned()));
        }
        let mut bytes = vec![0; length];
        At { shared: Arc::clone(&self.0), offset: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
