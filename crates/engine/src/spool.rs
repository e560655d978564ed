//! Records on their way into a file of some dialect: written into a temporary place, with what is lost on the way.
//!
//! *Invariant:* nothing is handed out before all records were written and the losses are known.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::record::Record;
use heldset_dialect::write::{ColumnSet, Sidecar, Target, WriteOptions, Writer, Written, spooled, writer};
use heldset_dialect::{DatasetInfo, Each};

use crate::Listener;
use crate::losses::Losses;

/// A place for rows until they may be handed out.
pub trait Temporary: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Temporary for T {}

/// Records that are being written.
pub(crate) struct Spooling {
    writer: Arc<Writer>,
    spool: io::BufWriter<Box<dyn Temporary>>,
    columns: ColumnSet,
    started: bool,
    losses: Losses,
}

/// Records that were written and may be handed out, or not.
pub(crate) struct Spooled {
    /// How many fields the target cannot carry.
    pub(crate) dropped: u64,
    /// Whether nothing may be handed out.
    pub(crate) refused: bool,
    writer: Arc<Writer>,
    columns: ColumnSet,
    spool: Box<dyn Temporary>,
}

/// Writes each record by itself, on any thread.
pub(crate) struct WriteEach(Arc<Writer>);

impl Spooling {
    /// Starts a file of this kind.
    pub(crate) fn new(target: Target, options: WriteOptions, temporary: Box<dyn Temporary>) -> Self {
        Spooling {
            writer: Arc::new(writer(target, options)),
            spool: io::BufWriter::new(temporary),
            columns: ColumnSet::default(),
            started: false,
            losses: Losses::default(),
        }
    }

    /// What writes each record.
    pub(crate) fn each(&self) -> WriteEach {
        WriteEach(Arc::clone(&self.writer))
    }

    /// Takes the next record as it was written.
    pub(crate) fn take(&mut self, (written, columns): (Written, ColumnSet)) -> io::Result<()> {
        for loss in written.losses {
            self.losses.add(loss);
        }
        if !self.columns.is_too_wide() {
            self.columns.merge(columns);
        }
        if self.started {
            self.spool.write_all(between(&self.writer).as_bytes())?;
        }
        self.started = true;
        self.spool.write_all(&written.bytes)
    }

    /// Tells of all losses; with one nothing may be handed out, unless that was asked for.
    pub(crate) fn finish(self, lossy: bool, listener: &mut (impl Listener + ?Sized)) -> io::Result<Spooled> {
        let Spooling { writer, spool, columns, mut losses, .. } = self;
        let too_wide = columns.is_too_wide();
        match &*writer {
            Writer::Table(_) if too_wide => listener.fault(&too_wide_fault())?,
            Writer::Table(table) => table.losses(&columns).into_iter().for_each(|loss| losses.add(loss)),
            Writer::Rows(_) => {}
        }
        let dropped = losses.tell(lossy, listener)?;
        let spool = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Spooled { dropped, refused: too_wide || (dropped > 0 && !lossy), writer, columns, spool })
    }
}

impl Spooled {
    /// Hands out what was written, and what belongs beside it.
    pub(crate) fn write_to(mut self, info: &DatasetInfo, out: &mut (dyn Write + Send)) -> io::Result<Sidecar> {
        self.spool.seek(SeekFrom::Start(0))?;
        match &*self.writer {
            Writer::Rows(rows) => {
                out.write_all(&rows.head(info))?;
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

impl WriteEach {
    /// One record as a row, and its columns.
    pub(crate) fn row(&self, record: &Record<'_>) -> (Written, ColumnSet) {
        let mut columns = ColumnSet::default();
        let written = match &*self.0 {
            Writer::Rows(rows) => rows.row(record),
            Writer::Table(table) => {
                table.observe(record, &mut columns);
                table.row(record)
            }
        };
        (written, columns)
    }
}

impl Each for WriteEach {
    type Out = (Written, ColumnSet);
    type Scratch = ();

    fn record(&self, _scratch: &mut (), record: Record<'_>) -> Self::Out {
        self.row(&record)
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
