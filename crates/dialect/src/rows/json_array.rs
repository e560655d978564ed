//! A JSON list: its elements are the rows, cut without reading the whole file into memory.

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Place, Problem};
use heldset_core::path::Path;

use super::Source;
use super::json_block::{JsonBlock, RowSpan};
use crate::blocks::{BLOCK, BLOCK_ROWS, Container};
use crate::place::{excerpt_of, place_of};

/// A file that is one JSON list.
pub(crate) struct JsonArray {
    source: Source,
    /// Where the pending bytes start.
    place: Place,
    opened: bool,
    closed: bool,
    /// The fault that ends the reading, told after the rows before it.
    failed: Option<Box<Fault>>,
}

/// How far the search for the end of an element has come.
#[derive(Default)]
struct Scan {
    at: usize,
    depth: usize,
    in_text: bool,
}

impl JsonArray {
    pub(crate) fn new(source: Source) -> Self {
        JsonArray { source, place: Place { line: 1, column: 1 }, opened: false, closed: false, failed: None }
    }

    /// Passes over the opening bracket.
    fn open(&mut self) -> Result<(), Box<Fault>> {
        while !self.opened {
            self.source.fill()?;
            match self.source.pending.iter().position(|&byte| byte == b'[') {
                Some(at) => {
                    self.advance(at + 1);
                    self.opened = true;
                }
                None if self.source.ended => return Err(self.fault(0, "expected `[`, found the end")),
                None => {}
            }
        }
        Ok(())
    }

    /// The end of the element that starts at `start`, reading on as needed.
    fn element_end(&mut self, start: usize) -> Result<usize, Box<Fault>> {
        let mut scan = Scan { at: start, ..Scan::default() };
        loop {
            if let Some(end) = scan.run(&self.source.pending) {
                return Ok(end);
            }
            if self.source.ended {
                return Err(
                    self.fault(self.source.pending.len(), "the list is not closed: expected `]`, found the end")
                );
            }
            self.source.check_record(self.source.pending.len() - start)?;
            self.source.fill()?;
        }
    }

    /// Forgets the first `count` pending bytes.
    fn advance(&mut self, count: usize) -> Vec<u8> {
        let bytes = self.source.cut(count);
        self.place = self.place_after(&bytes);
        self.source.line = self.place.line;
        bytes
    }

    fn place_after(&self, bytes: &[u8]) -> Place {
        let text = String::from_utf8_lossy(bytes);
        place_of(&text, self.place, text.len())
    }

    fn fault(&self, offset: usize, message: &str) -> Box<Fault> {
        let text = String::from_utf8_lossy(&self.source.pending);
        let problem = Problem::new(Code::E002, Path::root(), message);
        let offset = offset.min(text.len());
        Box::new(problem.at(Some(place_of(&text, self.place, offset)), Some(excerpt_of(&text, offset, offset + 1))))
    }

    /// After the closing bracket there may be white space only.
    fn finish(&mut self) -> Result<(), Box<Fault>> {
        loop {
            if let Some(at) = self.source.pending.iter().position(|byte| !byte.is_ascii_whitespace()) {
                return Err(self.fault(at, "expected the end of the file after the list"));
            }
            if self.source.ended {
                return Ok(());
            }
            let length = self.source.pending.len();
            self.advance(length);
            self.source.fill()?;
        }
    }
}

impl Container for JsonArray {
    type Block = JsonBlock;

    fn next_block(&mut self) -> Result<Option<JsonBlock>, Box<Fault>> {
        if let Some(fault) = self.failed.take() {
            return Err(fault);
        }
        self.open()?;
        if self.closed {
            return self.finish().map(|()| None);
        }
        let mut rows: Vec<(usize, usize)> = Vec::new();
        let mut start = 0;
        while !self.closed && start < BLOCK && rows.len() < BLOCK_ROWS {
            let end = match self.element_end(start) {
                Ok(end) => end,
                Err(fault) if rows.is_empty() => return Err(fault),
                Err(fault) => {
                    self.failed = Some(fault);
                    break;
                }
            };
            self.closed = self.source.pending[end] == b']';
            let (from, to) = trimmed(&self.source.pending, start, end);
            let no_element = self.closed && from == to && self.source.rows == 0 && rows.is_empty();
            if !no_element {
                rows.push((from, to.max(from + 1)));
            }
            start = end + 1;
        }
        let base = self.place;
        let bytes = self.advance(start);
        let block = JsonBlock { rows: spans(&bytes, base, &rows), bytes, first_row: self.source.rows };
        self.source.rows += block.rows.len() as u64;
        Ok(Some(block))
    }

    fn bytes_read(&self) -> u64 {
        self.source.read
    }

    fn recycle(&mut self, block: JsonBlock) {
        self.source.recycle(block.bytes);
    }
}

impl Scan {
    /// The index of the comma or bracket that ends the element, if it is in `bytes`.
    fn run(&mut self, bytes: &[u8]) -> Option<usize> {
        while self.at < bytes.len() {
            if self.in_text {
                match memchr::memchr2(b'"', b'\\', &bytes[self.at..]) {
                    None => self.at = bytes.len(),
                    Some(more) if bytes[self.at + more] == b'"' => {
                        self.at += more + 1;
                        self.in_text = false;
                    }
                    Some(more) if self.at + more + 1 == bytes.len() => {
                        self.at += more;
                        return None;
                    }
                    Some(more) => self.at += more + 2,
                }
                continue;
            }
            match bytes[self.at] {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b',' | b']' if self.depth == 0 => return Some(self.at),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        None
    }
}

/// The rows of a list inside a text that is at hand as a whole.
pub(crate) fn elements(text: &str, start: usize, end: usize) -> Vec<RowSpan> {
    let bytes = text.as_bytes();
    let mut rows = Vec::new();
    let mut from = start + 1;
    while from < end {
        let mut scan = Scan { at: from, ..Scan::default() };
        let Some(stop) = scan.run(&bytes[..end]) else { break };
        let (first, last) = trimmed(bytes, from, stop);
        if first < last {
            rows.push((first, last));
        }
        if bytes[stop] == b']' {
            break;
        }
        from = stop + 1;
    }
    spans(bytes, Place { line: 1, column: 1 }, &rows)
}

fn trimmed(bytes: &[u8], start: usize, end: usize) -> (usize, usize) {
    let inner = &bytes[start..end];
    let Some(first) = inner.iter().position(|byte| !byte.is_ascii_whitespace()) else { return (end, end) };
    let last = inner.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(first, |at| at + 1);
    (start + first, start + last)
}

/// The places of rows, found in one walk.
fn spans(bytes: &[u8], base: Place, rows: &[(usize, usize)]) -> Vec<RowSpan> {
    let mut place = base;
    let mut known = 0;
    let mut spans = Vec::with_capacity(rows.len());
    for &(start, end) in rows {
        let between = String::from_utf8_lossy(&bytes[known..start]);
        place = place_of(&between, place, between.len());
        known = start;
        spans.push(RowSpan { start, end, place });
    }
    spans
}
