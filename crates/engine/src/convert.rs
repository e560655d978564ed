//! `convert`: one dialect to another, with a report of what was mapped, kept and lost.
//!
//! *Invariant:* nothing is handed out before the whole file was read and found free of faults and losses,
//! unless the caller asked for the valid rows or for a lossy writing.

use std::io::{self, Write};

use heldset_core::fault::Fault;
use heldset_dialect::write::{ColumnSet, Sidecar, Target, WriteOptions, Written};
use heldset_dialect::{Files, Input, ReadOptions, Report, Take, read};

use crate::Listener;
use crate::spool::{Spooled, Spooling};

pub use crate::spool::Temporary;

/// How to convert.
pub struct ConvertOptions {
    /// What is written.
    pub target: Target,
    /// What the writer may do.
    pub write: WriteOptions,
    /// Write what a dialect cannot carry as well as it can.
    pub lossy: bool,
    /// Write the valid rows although others are refused.
    pub keep_valid: bool,
}

/// A file that was converted and may be handed out, or not.
pub struct Conversion {
    /// The counts of the reading.
    pub report: Report,
    /// How many fields the target cannot carry.
    pub dropped: u64,
    /// Whether nothing may be handed out.
    pub refused: bool,
    spooled: Spooled,
}

/// Reads a file and writes its records into a temporary place.
pub fn convert(
    input: Input,
    reading: &ReadOptions,
    options: &ConvertOptions,
    files: &dyn Files,
    temporary: Box<dyn Temporary>,
    listener: &mut dyn Converting,
) -> io::Result<Conversion> {
    let spooling = Spooling::new(options.target, options.write, temporary);
    let each = spooling.each();
    let mut taking = Taking { spooling, listener };
    let report = read(input, reading, files, &each, &mut taking)?;
    let Taking { spooling, listener } = taking;
    let spooled = spooling.finish(options.lossy, listener)?;
    let faulty = report.faults > 0 && !(options.keep_valid && report.kept > 0);
    let refused = faulty || spooled.refused;
    Ok(Conversion { dropped: spooled.dropped, report, refused, spooled })
}

impl Conversion {
    /// Hands out what was written, and what belongs beside it.
    pub fn write_to(self, out: &mut (dyn Write + Send)) -> io::Result<Sidecar> {
        self.spooled.write_to(&self.report.dataset, out)
    }
}

/// Who is told of faults, refused rows and progress.
pub trait Converting: Listener {
    /// A row that was refused, as it stood in the file; a header that belongs to such rows comes first.
    fn reject(&mut self, row: &[u8]) -> io::Result<()>;
}

struct Taking<'t> {
    spooling: Spooling,
    listener: &'t mut dyn Converting,
}

impl Take<(Written, ColumnSet)> for Taking<'_> {
    fn record(&mut self, row: (Written, ColumnSet)) -> io::Result<()> {
        self.spooling.take(row)
    }

    fn header(&mut self, line: &str) -> io::Result<()> {
        self.listener.reject(line.as_bytes())
    }

    fn fault(&mut self, fault: &Fault, row: Option<&[u8]>) -> io::Result<()> {
        if let Some(row) = row {
            self.listener.reject(row)?;
        }
        self.listener.fault(fault)
    }

    fn progress(&mut self, bytes: u64, rows: u64) -> io::Result<()> {
        self.listener.progress(bytes, rows);
        Ok(())
    }
}
