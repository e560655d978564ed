//! Reading a folder in which AgentHealth keeps its test cases: one JSON document per version.
//!
//! *Invariant:* a file that cannot be read is one refused row; the files after it are still read.

use std::io;

use heldset_core::code::Code;
use heldset_core::fault::{Excerpt, Fault, Place, Problem};
use heldset_core::path::Path;
use heldset_core::value::Value;

use crate::agenthealth::{self, AgentHealthMapper, take_document_id};
use crate::blocks::{Block, Container, Look, RowError};
use crate::document::{Document, DocumentBlock, Plan};
use crate::files::{Files, FilesError};
use crate::format::Format;
use crate::map::{IdRule, files_problem};
use crate::pool::{self, Job};
use crate::read::{Each, ReadOptions, Take, empty};
use crate::report::Report;

/// Where the file backend keeps test cases, inside its data folder.
const INNER: &str = "test-cases";

/// Reads the `.json` files of a folder and of the folder `test-cases` in it, by name. The newest version of each
/// test case becomes a record; the others are told as older.
pub(crate) fn read_folder<E: Each>(
    folder: &str,
    options: &ReadOptions,
    files: &dyn Files,
    each: &E,
    take: &mut dyn Take<E::Out>,
) -> io::Result<Report> {
    let mut report = Report::new(Format::AgentHealth);
    let names = match names_in(folder, options, files) {
        Ok(names) => names,
        Err(problem) => {
            report.faults = 1;
            take.fault(&problem.of_file(), None)?;
            return Ok(report);
        }
    };
    let rows = FolderRows { files, names: names.into_iter(), id: options.id.clone(), rows: 0, bytes: 0 };
    let mapper = AgentHealthMapper { id: options.id.clone() };
    let job = Job { mapper: &mapper, each, file: folder, files, threads: options.threads };
    pool::run(rows, &job, take, &mut report)?;
    if report.read == 0 && report.faults == 0 {
        report.faults = 1;
        take.fault(&empty(), None)?;
    }
    Ok(report)
}

fn names_in(folder: &str, options: &ReadOptions, files: &dyn Files) -> Result<Vec<String>, Problem> {
    if let Some(format) = options.format.filter(|format| *format != Format::AgentHealth) {
        return Err(Problem::new(Code::E024, Path::root(), format!("a folder is not read as {format}"))
            .help("a folder is read as agenthealth; pass the files of other formats one by one"));
    }
    let folder = folder.trim_end_matches('/');
    let mut names = json_files(folder, files).map_err(|error| files_problem(&error, Path::root()))?;
    match json_files(&format!("{folder}/{INNER}"), files) {
        Ok(inner) => names.extend(inner),
        Err(FilesError::Missing(_)) => {}
        Err(error) => return Err(files_problem(&error, Path::root())),
    }
    names.sort();
    Ok(names)
}

fn json_files(folder: &str, files: &dyn Files) -> Result<Vec<String>, FilesError> {
    let is_json = |name: &String| name.to_ascii_lowercase().ends_with(".json");
    let names = files.list(folder)?.into_iter().filter(is_json);
    Ok(names.map(|name| format!("{folder}/{name}")).collect())
}

/// The files of a folder, one block each.
struct FolderRows<'f> {
    files: &'f dyn Files,
    names: std::vec::IntoIter<String>,
    id: IdRule,
    rows: u64,
    bytes: u64,
}

/// The rows of one file.
struct FileBlock {
    name: String,
    first_row: u64,
    rows: FileRows,
}

enum FileRows {
    Read(Box<DocumentBlock>),
    Refused(Box<Fault>),
}

impl FolderRows<'_> {
    fn open(&mut self, name: &str) -> Result<DocumentBlock, Box<Fault>> {
        let own = name.rsplit('/').next().unwrap_or(name);
        let loaded = self.files.load(name, own);
        let loaded = loaded.map_err(|error| Box::new(files_problem(&error, Path::root()).of_file()))?;
        self.bytes += loaded.bytes.len() as u64;
        let document = Document::parse(loaded.bytes, false)?;
        let plan = agenthealth::plan(&document.root(), &self.id).map_err(|problem| document.fault(problem))?;
        Ok(match plan {
            Plan::Rows { list, .. } => document.into_block(&list),
            _ => document.into_row(),
        })
    }
}

impl Container for FolderRows<'_> {
    type Block = FileBlock;

    fn next_block(&mut self) -> Result<Option<FileBlock>, Box<Fault>> {
        let Some(name) = self.names.next() else { return Ok(None) };
        let rows = self.open(&name).map_or_else(FileRows::Refused, |rows| FileRows::Read(Box::new(rows)));
        let block = FileBlock { name, first_row: self.rows, rows };
        self.rows += block.len() as u64;
        Ok(Some(block))
    }

    fn bytes_read(&self) -> u64 {
        self.bytes
    }
}

impl Block for FileBlock {
    fn first_row(&self) -> u64 {
        self.first_row
    }

    fn file(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn len(&self) -> usize {
        match &self.rows {
            FileRows::Read(rows) => rows.len(),
            FileRows::Refused(_) => 1,
        }
    }

    fn line(&self, row: usize) -> u64 {
        match &self.rows {
            FileRows::Read(rows) => rows.line(row),
            FileRows::Refused(_) => 1,
        }
    }

    fn visit<'b>(&'b self, look: Look<'_>, visit: &mut dyn FnMut(usize, Result<Value<'b>, RowError>)) {
        match &self.rows {
            FileRows::Read(rows) if matches!(**rows, DocumentBlock::One(_)) => {
                rows.visit(look, &mut |row, mut value| {
                    if let Ok(case) = &mut value {
                        take_document_id(case, stem(&self.name));
                    }
                    visit(row, value);
                })
            }
            FileRows::Read(rows) => rows.visit(look, visit),
            FileRows::Refused(fault) => visit(0, Err(RowError::new(problem_of(fault), None))),
        }
    }

    fn locate(&self, row: usize, path: &Path) -> (Option<Place>, Option<Excerpt>) {
        match &self.rows {
            FileRows::Read(rows) => rows.locate(row, path),
            FileRows::Refused(fault) => (fault.place, fault.excerpt.clone()),
        }
    }

    fn locate_offset(&self, row: usize, offset: usize) -> (Option<Place>, Option<Excerpt>) {
        match &self.rows {
            FileRows::Read(rows) => rows.locate_offset(row, offset),
            FileRows::Refused(fault) => (fault.place, fault.excerpt.clone()),
        }
    }

    fn source(&self, row: usize) -> Vec<u8> {
        match &self.rows {
            FileRows::Read(rows) => rows.source(row),
            FileRows::Refused(_) => Vec::new(),
        }
    }
}

/// The name of a file without its folder and its ending.
fn stem(name: &str) -> &str {
    let own = name.rsplit('/').next().unwrap_or(name);
    own.rsplit_once('.').map_or(own, |(stem, _)| stem)
}

fn problem_of(fault: &Fault) -> Problem {
    let path = fault.field.as_deref().map_or_else(Path::root, Path::key);
    Problem { code: fault.code, path, message: fault.message.clone(), help: fault.help.clone() }
}
