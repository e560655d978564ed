//! JSONL: one JSON value per line.
//!
//! *Invariant:* lines end with `\n`, `\r\n` or `\r`; blank lines are no rows; a byte order mark is no data.

use heldset_core::fault::{Fault, Place};

use super::Source;
use super::json_block::{JsonBlock, RowSpan};
use crate::blocks::{BLOCK, BLOCK_ROWS, Container};

/// A JSONL file.
pub(crate) struct JsonLines {
    pub(crate) source: Source,
}

impl Container for JsonLines {
    type Block = JsonBlock;

    fn next_block(&mut self) -> Result<Option<JsonBlock>, Box<Fault>> {
        let mut searched = 0;
        let end = loop {
            if self.source.ended {
                break self.source.pending.len();
            }
            if self.source.pending.len() >= BLOCK
                && let Some(end) = last_line_end(&self.source.pending, searched)
            {
                break end;
            }
            searched = self.source.pending.len();
            self.source.check_record(searched)?;
            self.source.fill()?;
        };
        if end == 0 {
            return Ok(None);
        }
        let end = few_lines(&self.source.pending[..end]);
        let bytes = self.source.cut(end);
        self.cut(bytes).map(Some)
    }

    fn bytes_read(&self) -> u64 {
        self.source.read
    }

    fn recycle(&mut self, block: JsonBlock) {
        self.source.recycle(block.bytes);
    }
}

impl JsonLines {
    fn cut(&mut self, bytes: Vec<u8>) -> Result<JsonBlock, Box<Fault>> {
        let first_row = self.source.rows;
        let mut rows = Vec::with_capacity(bytes.len() / 512 + 1);
        let mut start = 0;
        while start < bytes.len() {
            let end = memchr::memchr2(b'\n', b'\r', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            self.source.check_record(end - start)?;
            if bytes[start..end].iter().any(|byte| !byte.is_ascii_whitespace()) {
                rows.push(RowSpan { start, end, place: Place { line: self.source.line, column: 1 } });
            }
            let pair = bytes.get(end) == Some(&b'\r') && bytes.get(end + 1) == Some(&b'\n');
            start = end + if pair { 2 } else { 1 };
            self.source.line += 1;
        }
        self.source.rows += rows.len() as u64;
        Ok(JsonBlock { bytes, rows, first_row })
    }
}

/// Just after the last of the lines that make a block.
fn few_lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).nth(BLOCK_ROWS - 1).map_or(bytes.len(), |at| at + 1)
}

/// Just after the last line that surely ends in `bytes`; a `\r` at the very end may be half of a pair.
fn last_line_end(bytes: &[u8], searched: usize) -> Option<usize> {
    let from = searched.saturating_sub(1);
    if let Some(at) = memchr::memrchr(b'\n', &bytes[from..]) {
        return Some(from + at + 1);
    }
    let sure = &bytes[from..bytes.len().saturating_sub(1).max(from)];
    memchr::memrchr(b'\r', sure).map(|at| from + at + 1)
}
