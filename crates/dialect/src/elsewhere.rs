//! Rows that are in another file than the one that was given: their faults name it.

use std::io;

use heldset_core::fault::Fault;

use crate::read::Take;

/// Tells of what is read in another file.
pub(crate) struct Elsewhere<'t, Out> {
    pub(crate) file: &'t str,
    pub(crate) take: &'t mut dyn Take<Out>,
}

impl<Out> Take<Out> for Elsewhere<'_, Out> {
    fn record(&mut self, out: Out) -> io::Result<()> {
        self.take.record(out)
    }

    fn older(&mut self, version: u64, out: Out) -> io::Result<()> {
        self.take.older(version, out)
    }

    fn fault(&mut self, fault: &Fault, row: Option<&[u8]>) -> io::Result<()> {
        self.take.fault(&in_file(self.file, fault.clone()), row)
    }

    fn header(&mut self, line: &str) -> io::Result<()> {
        self.take.header(line)
    }

    fn progress(&mut self, bytes: u64, rows: u64) -> io::Result<()> {
        self.take.progress(bytes, rows)
    }
}

/// The fault, in that file.
pub(crate) fn in_file(file: &str, fault: Fault) -> Box<Fault> {
    Box::new(fault.in_file(Some(file)))
}
