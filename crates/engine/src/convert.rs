//! `convert`: one dialect to another, with a report of what was mapped, kept and lost.
//!
//! *Invariant:* nothing is handed out before the whole file was read and found free of faults and losses,
//! unless the caller asked for the valid rows or for a lossy writing.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::record::Record;
use heldset_dialect::write::{ColumnSet, Sidecar, Target, WriteOptions, Writer, Written, spooled, writer};
use heldset_dialect::{Each, Files, Input, ReadOptions, Report, Take, read};

use crate::Listener;
use crate::losses::Losses;

/// A place for rows until they may be handed out.
pub trait Temporary: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Temporary for T {}

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
    writer: Writer,
    columns: ColumnSet,
    spool: Box<dyn Temporary>,
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
    let writer = writer(options.target, options.write);
    let mut taking = Taking {
        spool: io::BufWriter::new(temporary),
        between: between(&writer),
        columns: ColumnSet::default(),
        started: false,
        losses: Losses::default(),
        listener,
    };
    let report = read(input, reading, files, &WriteEach(&writer), &mut taking)?;
    let too_wide = taking.columns.is_too_wide();
    match &writer {
        Writer::Table(_) if too_wide => taking.listener.fault(&too_wide_fault())?,
        Writer::Table(table) => table.losses(&taking.columns).into_iter().for_each(|loss| taking.losses.add(loss)),
        Writer::Rows(_) => {}
    }
    let Taking { spool, columns, losses, listener, .. } = taking;
    let dropped = losses.tell(options, listener)?;
    let spool = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    let faulty = report.faults > 0 && !(options.keep_valid && report.kept > 0);
    let refused = faulty || too_wide || (dropped > 0 && !options.lossy);
    Ok(Conversion { report, dropped, refused, writer, columns, spool })
}

impl Conversion {
    /// Hands out what was written, and what belongs beside it.
    pub fn write_to(mut self, out: &mut (dyn Write + Send)) -> io::Result<Sidecar> {
        self.spool.seek(SeekFrom::Start(0))?;
        match &self.writer {
            Writer::Rows(rows) => {
                out.write_all(&rows.head(&self.report.dataset))?;
                io::copy(&mut self.spool, out)?;
                out.write_all(rows.tail().as_bytes())?;
                Ok(Sidecar::default())
            }
            Writer::Table(table) => {
                let lines = BufReader::new(self.spool).lines();
                let mut rows = lines.map(|line| line.and_then(|line| spooled(&line)));
                table.write(&self.columns, &mut rows, out)
            }
        }
    }
}

fn too_wide_fault() -> Fault {
    let message = "the records have too many different fields for one table";
    Problem::new(Code::E036, Path::root(), message).help("write them as `jsonl`, which has no columns").of_file()
}

fn between(writer: &Writer) -> &'static str {
    match writer {
        Writer::Rows(rows) => rows.between(),
        Writer::Table(_) => "\n",
    }
}

/// Who is told of faults, refused rows and progress.
pub trait Converting: Listener {
    /// A row that was refused, as it stood in the file; a header that belongs to such rows comes first.
    fn reject(&mut self, row: &[u8]) -> io::Result<()>;
}

struct WriteEach<'w>(&'w Writer);

impl Each for WriteEach<'_> {
    type Out = (Written, ColumnSet);

    fn record(&self, record: Record<'_>) -> Self::Out {
        let mut columns = ColumnSet::default();
        let written = match self.0 {
            Writer::Rows(rows) => rows.row(&record),
            Writer::Table(table) => {
                table.observe(&record, &mut columns);
                table.row(&record)
            }
        };
        (written, columns)
    }
}

struct Taking<'t> {
    spool: io::BufWriter<Box<dyn Temporary>>,
    between: &'static str,
    columns: ColumnSet,
    started: bool,
    losses: Losses,
    listener: &'t mut dyn Converting,
}

impl Take<(Written, ColumnSet)> for Taking<'_> {
    fn record(&mut self, (written, columns): (Written, ColumnSet)) -> io::Result<()> {
        for loss in written.losses {
            self.losses.add(loss);
        }
        if !self.columns.is_too_wide() {
            self.columns.merge(columns);
        }
        if self.started {
            self.spool.write_all(self.between.as_bytes())?;
        }
        self.started = true;
        self.spool.write_all(&written.bytes)
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
