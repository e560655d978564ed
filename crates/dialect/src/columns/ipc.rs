//! Arrow IPC: a file with a footer, or a stream of messages.
//!
//! *Invariant:* nothing is allocated by a size that stands in the file before that size is held against what the
//! file can hold.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow::ipc::{Block, Message, RecordBatch as Declared, root_as_footer, root_as_message};
use arrow::record_batch::RecordBatch;

use super::ROWS;
use super::broken::Broken;
use crate::files::ReadSeek;

const CONTINUATION: [u8; 4] = [0xff; 4];
const TRAILER: u64 = 10;

/// Compressed parts may become this much, or a hundred times their size.
const EXPANDED: u64 = 64 << 20;

/// An Arrow file whose footer has been read.
pub(super) struct IpcFile {
    source: Source,
    decoder: FileDecoder,
    blocks: std::vec::IntoIter<Block>,
}

/// An Arrow stream.
pub(super) struct IpcStream {
    source: Source,
    decoder: StreamDecoder,
    pending: Buffer,
    ended: bool,
}

/// A reader whose length is known.
struct Source {
    file: Box<dyn ReadSeek>,
    length: u64,
    offset: u64,
}

impl IpcFile {
    pub(super) fn open(file: Box<dyn ReadSeek>) -> Result<(Self, SchemaRef), Broken> {
        let mut source = Source::new(file)?;
        let end = source.length.checked_sub(TRAILER).ok_or_else(cut_short)?;
        source.seek(end)?;
        let mut trailer = [0; TRAILER as usize];
        source.file.read_exact(&mut trailer)?;
        let footer_start = end.checked_sub(read_footer_length(trailer)? as u64).ok_or_else(cut_short)?;
        source.seek(footer_start)?;
        let bytes = source.take(end - footer_start)?;
        let footer = root_as_footer(&bytes).map_err(|error| Broken::new(format!("the footer: {error}")))?;
        let declared = footer.schema().ok_or_else(|| Broken::new("the footer has no schema"))?;
        if !declared.endianness().equals_to_target_endianness() {
            return Err(Broken::new("its byte order is not the one of this machine"));
        }
        let schema = Arc::new(fb_to_schema(declared));
        let mut decoder = FileDecoder::new(Arc::clone(&schema), footer.version());
        for block in footer.dictionaries().iter().flatten() {
            decoder.read_dictionary(block, &source.block(block)?)?;
        }
        let blocks: Vec<_> = footer.recordBatches().iter().flatten().copied().collect();
        Ok((IpcFile { source, decoder, blocks: blocks.into_iter() }, schema))
    }

    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, Broken> {
        for block in self.blocks.by_ref() {
            if let Some(batch) = self.decoder.read_record_batch(&block, &self.source.block(&block)?)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.offset
    }
}

impl IpcStream {
    /// Opens a stream and reads on to its first batch, because the schema stands no earlier than that.
    pub(super) fn open(file: Box<dyn ReadSeek>) -> Result<(Self, SchemaRef, Option<RecordBatch>), Broken> {
        let source = Source::new(file)?;
        let decoder = StreamDecoder::new();
        let mut stream = IpcStream { source, decoder, pending: Buffer::from_vec(Vec::<u8>::new()), ended: false };
        let first = stream.next()?;
        let schema = stream.decoder.schema().ok_or_else(|| Broken::new("it has no schema"))?;
        Ok((stream, schema, first))
    }

    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, Broken> {
        loop {
            while !self.pending.is_empty() {
                if let Some(batch) = self.decoder.decode(&mut self.pending)? {
                    return Ok(Some(batch));
                }
            }
            if self.ended {
                self.decoder.finish()?;
                return Ok(None);
            }
            self.pending = Buffer::from_vec(self.message()?);
        }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.offset
    }

    /// The bytes of the next message with its frame; the mark of the end when there is none.
    fn message(&mut self) -> Result<Vec<u8>, Broken> {
        let mut word = match self.source.offset == self.source.length {
            true => [0; 4],
            false => self.source.word()?,
        };
        if word == CONTINUATION {
            word = self.source.word()?;
        }
        let mut frame = [CONTINUATION, word].concat();
        let size = u32::from_le_bytes(word);
        if size == 0 {
            self.ended = true;
            return Ok(frame);
        }
        let head = self.source.take(u64::from(size))?;
        let message = root_as_message(&head).map_err(|error| Broken::new(format!("a message: {error}")))?;
        let body = self.source.take(size_of(message.bodyLength())?)?;
        check(&message, &body)?;
        frame.extend_from_slice(&head);
        frame.extend_from_slice(&body);
        Ok(frame)
    }
}

impl Source {
    fn new(mut file: Box<dyn ReadSeek>) -> Result<Self, Broken> {
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Source { file, length, offset: 0 })
    }

    fn seek(&mut self, offset: u64) -> Result<(), Broken> {
        self.offset = self.file.seek(SeekFrom::Start(offset))?;
        Ok(())
    }

    fn word(&mut self) -> Result<[u8; 4], Broken> {
        let mut word = [0; 4];
        self.file.read_exact(&mut word)?;
        self.offset += 4;
        Ok(word)
    }

    fn take(&mut self, size: u64) -> Result<Vec<u8>, Broken> {
        if self.offset.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(cut_short());
        }
        let mut bytes = vec![0; usize::try_from(size).map_err(|_| cut_short())?];
        self.file.read_exact(&mut bytes)?;
        self.offset += size;
        Ok(bytes)
    }

    /// The bytes of a block that a footer names.
    fn block(&mut self, block: &Block) -> Result<Buffer, Broken> {
        let head = size_of(i64::from(block.metaDataLength()))?;
        let body = size_of(block.bodyLength())?;
        self.seek(size_of(block.offset())?)?;
        let bytes = self.take(head.checked_add(body).ok_or_else(cut_short)?)?;
        let start = if bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
        let message = bytes.get(start..head as usize).ok_or_else(cut_short)?;
        let message = root_as_message(message).map_err(|error| Broken::new(format!("a message: {error}")))?;
        check(&message, &bytes[head as usize..])?;
        Ok(Buffer::from_vec(bytes))
    }
}

/// Holds the sizes that a message declares against the bytes it has.
fn check(message: &Message<'_>, body: &[u8]) -> Result<(), Broken> {
    let dictionary = || message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or_else(dictionary) else { return Ok(()) };
    let bytes = expanded(&batch, body)?;
    let rows = size_of(batch.length())?;
    if rows > bytes.saturating_mul(8).saturating_add(ROWS as u64) {
        return Err(Broken::new(format!("{bytes} bytes declare {rows} rows")));
    }
    Ok(())
}

/// How many bytes the parts of a batch have once they are decompressed.
fn expanded(batch: &Declared<'_>, body: &[u8]) -> Result<u64, Broken> {
    let size = body.len() as u64;
    if batch.compression().is_none() {
        return Ok(size);
    }
    let mut bytes: u64 = 0;
    for part in batch.buffers().iter().flatten() {
        let start = usize::try_from(size_of(part.offset())?).map_err(|_| cut_short())?;
        let prefix = body.get(start..).and_then(|rest| rest.first_chunk::<8>());
        let declared = prefix.map_or(0, |prefix| i64::from_le_bytes(*prefix));
        bytes = bytes.saturating_add(u64::try_from(declared).unwrap_or(0));
    }
    if part_limit(size) < bytes {
        return Err(Broken::new(format!("{size} compressed bytes would become {bytes}")));
    }
    Ok(bytes.saturating_add(size))
}

fn part_limit(size: u64) -> u64 {
    size.saturating_mul(100).max(EXPANDED)
}

fn size_of(declared: i64) -> Result<u64, Broken> {
    u64::try_from(declared).map_err(|_| Broken::new("a size is negative"))
}

fn cut_short() -> Broken {
    Broken::new("the file ends too early")
}
