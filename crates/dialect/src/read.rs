//! Reading a file: what goes in, who is told, what comes out.

use std::io::{self, Read};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::record::Record;
use heldset_core::schema::Schema;

use crate::files::{Files, ReadSeek};
use crate::format::Format;
use crate::map::IdRule;
use crate::open::{Reading, Stop};
use crate::report::Report;

/// A file to be read.
pub struct Input {
    /// Its name, for detection and for the files it refers to.
    pub name: String,
    /// Its bytes.
    pub body: Body,
}

/// The bytes of a file.
pub enum Body {
    /// From front to back only.
    Stream(Box<dyn Read + Send>),
    /// Anywhere.
    Seekable(Box<dyn ReadSeek>),
    /// A folder of files, found through [`Files::list`].
    Folder,
}

/// How to read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The dialect; found by content when absent.
    pub format: Option<Format>,
    /// Where ids come from.
    pub id: IdRule,
    /// The types of CSV columns; looked for beside the file when absent.
    pub schema: Option<Schema>,
    /// How many workers.
    pub threads: usize,
}

/// What is done with each record, beside one another in the workers.
pub trait Each: Sync {
    /// What it makes of a record.
    type Out: Send;

    /// What a worker keeps from one record to the next.
    type Scratch: Default;

    /// Whether lists and mappings may be empty that no rule of the dialect looks into. They are checked all the same.
    const SHALLOW: bool = false;

    /// Adds what is wrong with a record beyond the rules of its dialect; such a record is refused.
    fn check(&self, record: &Record<'_>, problems: &mut Vec<Problem>) {
        let _ = (record, problems);
    }

    /// The types of CSV columns that nobody states with the file.
    fn types(&self) -> Option<&Schema> {
        None
    }

    /// Makes it.
    fn record(&self, scratch: &mut Self::Scratch, record: Record<'_>) -> Self::Out;
}

/// Who is told what was read: records in the order of the file, and faults in the order of the file.
/// Rows with a version wait until the end of the file, when it is known which version is the newest.
pub trait Take<Out> {
    /// A record that was kept.
    fn record(&mut self, out: Out) -> io::Result<()>;

    /// A row that is an older version of a record. Whoever wants only the newest need not care.
    fn older(&mut self, version: u64, out: Out) -> io::Result<()> {
        let _ = (version, out);
        Ok(())
    }

    /// A fault; the first of a row comes with the row as it stood in the file.
    fn fault(&mut self, fault: &Fault, row: Option<&[u8]>) -> io::Result<()>;

    /// The header line that the rows of a table belong to. Whoever does not keep rows need not care.
    fn header(&mut self, line: &str) -> io::Result<()> {
        let _ = line;
        Ok(())
    }

    /// How far the reading is.
    fn progress(&mut self, bytes: u64, rows: u64) -> io::Result<()>;
}

/// Reads a file to its end and tells `take` of every record and every fault.
pub fn read<E: Each>(
    input: Input,
    options: &ReadOptions,
    files: &dyn Files,
    each: &E,
    take: &mut dyn Take<E::Out>,
) -> io::Result<Report> {
    if matches!(input.body, Body::Folder) {
        return crate::folder::read_folder(&input.name, options, files, each, take);
    }
    let given = input.name.clone();
    let mut reading = Reading {
        name: input.name,
        options,
        files,
        each,
        take,
        report: Report::new(options.format.unwrap_or(Format::Records)),
        outside: false,
    };
    match reading.open(input.body) {
        Ok(()) => {}
        Err(Stop::Io(error)) => return Err(error),
        Err(Stop::Fault(fault)) => reading.fault(&fault)?,
    }
    if reading.report.read == 0 && reading.report.faults == 0 {
        reading.fault(&empty())?;
    }
    if reading.report.dataset.name.is_none() {
        reading.report.dataset.name = stem(&given);
    }
    Ok(reading.report)
}

/// There is no record in what was read.
pub(crate) fn empty() -> Fault {
    Problem::new(Code::E023, Path::root(), "there is no record in it").help("add at least one record").of_file()
}

/// The name of a file without its folder and its endings; standard input has none.
fn stem(name: &str) -> Option<String> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file.split('.').find(|part| !part.is_empty())?;
    (stem != "-").then(|| stem.to_owned())
}
