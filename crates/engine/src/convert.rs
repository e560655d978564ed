//! `convert`: one dialect to another, with a report of what was mapped, kept and lost.
//!
//! *Invariant:* nothing is handed out before the whole file was read and found free of faults and losses,
//! unless the caller asked for the valid rows or for a lossy writing.

use std::io::{self, Read, Seek, SeekFrom, Write};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::record::Record;
use heldset_dialect::write::{Loss, RowWriter, Target, Writer, Written, writer};
use heldset_dialect::{Each, Files, Input, ReadOptions, Report, Take, read};

use crate::Listener;

/// A place for rows until they may be handed out.
pub trait Temporary: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Temporary for T {}

/// How to convert.
pub struct ConvertOptions {
    /// What is written.
    pub target: Target,
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
    pub losses: u64,
    /// Whether nothing may be handed out.
    pub refused: bool,
    rows: Box<dyn RowWriter>,
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
    let Writer::Rows(rows) = writer(options.target);
    let mut taking = Taking {
        spool: io::BufWriter::new(temporary),
        rows: rows.as_ref(),
        started: false,
        losses: 0,
        lossy: options.lossy,
        listener,
    };
    let report = read(input, reading, files, &WriteEach(rows.as_ref()), &mut taking)?;
    let losses = taking.losses;
    let spool = taking.spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    let faulty = report.faults > 0 && !(options.keep_valid && report.kept > 0);
    let refused = faulty || (losses > 0 && !options.lossy);
    Ok(Conversion { report, losses, refused, rows, spool })
}

impl Conversion {
    /// Hands out what was written.
    pub fn write_to(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.spool.seek(SeekFrom::Start(0))?;
        out.write_all(&self.rows.head(&self.report.dataset))?;
        io::copy(&mut self.spool, out)?;
        out.write_all(self.rows.tail().as_bytes())
    }
}

/// Who is told of faults, refused rows and progress.
pub trait Converting: Listener {
    /// A row that was refused, as it stood in the file.
    fn reject(&mut self, row: &[u8]) -> io::Result<()>;
}

struct WriteEach<'w>(&'w dyn RowWriter);

impl Each for WriteEach<'_> {
    type Out = Written;

    fn record(&self, record: Record<'_>) -> Written {
        self.0.row(&record)
    }
}

struct Taking<'t> {
    spool: io::BufWriter<Box<dyn Temporary>>,
    rows: &'t dyn RowWriter,
    started: bool,
    losses: u64,
    lossy: bool,
    listener: &'t mut dyn Converting,
}

impl Take<Written> for Taking<'_> {
    fn record(&mut self, written: Written) -> io::Result<()> {
        for loss in &written.losses {
            self.losses += 1;
            self.listener.fault(&loss_fault(loss, self.lossy))?;
        }
        if self.started {
            self.spool.write_all(self.rows.between().as_bytes())?;
        }
        self.started = true;
        self.spool.write_all(&written.bytes)
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

fn loss_fault(loss: &Loss, lossy: bool) -> Fault {
    let problem = Problem::new(Code::E036, Path::key(&loss.field), loss.to_string());
    let help = if lossy {
        "written all the same, as asked with `--lossy`"
    } else {
        "choose another target, or write it all the same with `--lossy`"
    };
    problem.help(help).of_file()
}
