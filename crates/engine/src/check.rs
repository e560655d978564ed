//! `check`: all faults of a file, and what is legal and unwise in it.

use std::io;

use heldset_core::fault::Fault;
use heldset_dialect::{Files, Input, ReadOptions, Report, Take, read};

use crate::Listener;
use crate::hints::{Hints, Look, Seen};

/// Reads a file and tells the listener of every fault, then of every hint.
pub fn check(
    input: Input,
    options: &ReadOptions,
    files: &dyn Files,
    listener: &mut dyn Listener,
) -> io::Result<Report> {
    let mut checking = Checking { hints: Hints::default(), listener };
    let report = read(input, options, files, &Look::default(), &mut checking)?;
    for hint in checking.hints.into_faults() {
        checking.listener.fault(&hint)?;
    }
    Ok(report)
}

struct Checking<'l> {
    hints: Hints,
    listener: &'l mut dyn Listener,
}

impl Take<Seen> for Checking<'_> {
    fn record(&mut self, seen: Seen) -> io::Result<()> {
        self.hints.add(seen);
        Ok(())
    }

    fn fault(&mut self, fault: &Fault, _row: Option<&[u8]>) -> io::Result<()> {
        self.listener.fault(fault)
    }

    fn progress(&mut self, bytes: u64, rows: u64) -> io::Result<()> {
        self.listener.progress(bytes, rows);
        Ok(())
    }
}
