//! Reading as a released loader does, for parity checks.
//!
//! *Invariant:* such a reading is shown or written as JSON lines, never registered.

use std::io::{self, Read};

use heldset_dialect::{Body, Files, Format, Input, Report, read_compat};

use crate::Listener;

/// How much a released loader is given at most.
const MOST: u64 = (64 << 20) + 1;

/// The counts of such a reading, and its samples as canonical JSON lines.
pub struct Compat {
    /// The counts.
    pub report: Report,
    /// The samples.
    pub lines: Vec<u8>,
}

/// Reads a file as the released Letta loader does.
pub fn letta(input: Input, files: &dyn Files, listener: &mut dyn Listener) -> io::Result<Compat> {
    let mut bytes = Vec::new();
    match input.body {
        Body::Stream(reader) => reader.take(MOST).read_to_end(&mut bytes)?,
        Body::Seekable(reader) => reader.take(MOST).read_to_end(&mut bytes)?,
        Body::Folder => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
    };
    let reading = read_compat(&input.name, &bytes, files);
    let mut report = Report::new(Format::Letta);
    report.kept = reading.samples.len() as u64;
    let mut lines = Vec::new();
    for sample in &reading.samples {
        lines.extend_from_slice(&sample.to_json_line());
        lines.push(b'\n');
    }
    if let Some(fault) = reading.error {
        report.refused = 1;
        report.faults = 1;
        listener.fault(&fault)?;
    }
    report.read = report.kept + report.refused;
    Ok(Compat { report, lines })
}
