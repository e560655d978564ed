//! A growing window on a stream: what has been read and not yet been cut into rows.

use std::io::{self, Read};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;

use crate::blocks::{BLOCK, MAX_RECORD};

/// Bytes that were read and wait to be cut.
pub(crate) struct Source {
    reader: Box<dyn Read + Send>,
    pub(crate) pending: Vec<u8>,
    pub(crate) ended: bool,
    /// Bytes read so far.
    pub(crate) read: u64,
    /// The line the pending bytes start on.
    pub(crate) line: u64,
    /// Rows cut so far.
    pub(crate) rows: u64,
    /// Buffers of blocks that are done with, to be filled again.
    spare: Vec<Vec<u8>>,
}

impl Source {
    pub(crate) fn new(reader: Box<dyn Read + Send>) -> Self {
        Source { reader, pending: Vec::new(), ended: false, read: 0, line: 1, rows: 0, spare: Vec::new() }
    }

    /// Reads on: a block more than is pending. Passes over a byte order mark at the very start.
    pub(crate) fn fill(&mut self) -> Result<(), Box<Fault>> {
        let before = self.pending.len();
        self.pending.reserve(BLOCK);
        let wanted = BLOCK as u64;
        let got =
            (&mut self.reader).take(wanted).read_to_end(&mut self.pending).map_err(|error| self.broken(&error))?;
        if self.read == 0 && before == 0 && self.pending.starts_with(b"\xef\xbb\xbf") {
            self.pending.drain(..3);
        }
        self.read += got as u64;
        self.ended = (got as u64) < wanted;
        Ok(())
    }

    /// Cuts off the first `end` pending bytes.
    pub(crate) fn cut(&mut self, end: usize) -> Vec<u8> {
        let mut rest = self.spare.pop().unwrap_or_default();
        rest.clear();
        rest.extend_from_slice(&self.pending[end..]);
        let mut bytes = std::mem::replace(&mut self.pending, rest);
        bytes.truncate(end);
        bytes
    }

    /// Takes back a buffer that is done with; large ones are let go.
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        if buffer.capacity() <= 4 * BLOCK && self.spare.len() < 8 {
            self.spare.push(buffer);
        }
    }

    /// Refuses a record that does not end within the limit.
    pub(crate) fn check_record(&self, length: usize) -> Result<(), Box<Fault>> {
        if length <= MAX_RECORD {
            return Ok(());
        }
        let message =
            format!("the record that starts on line {} is larger than 64 MiB; reading stopped there", self.line);
        let problem = Problem::new(Code::E008, Path::root(), message)
            .help("split the record, or keep large content in files of its own");
        let place = heldset_core::fault::Place { line: self.line, column: 1 };
        Err(Box::new(problem.at(Some(place), None)))
    }

    fn broken(&self, error: &io::Error) -> Box<Fault> {
        Box::new(crate::decompress::fault_of(error).unwrap_or_else(|| {
            Problem::new(Code::E101, Path::root(), format!("reading stopped after line {}: {error}", self.line))
                .of_file()
        }))
    }
}
