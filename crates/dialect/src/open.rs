//! Opening a file: what it is, how it is cut into rows, and which mapper makes records of them.
//!
//! *Invariant:* whatever the container, rows go through one mapper and one pool.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Place, Problem};
use heldset_core::json;
use heldset_core::path::Path;
use heldset_core::schema::Schema;
use heldset_core::value::{Object, Value};

use crate::agenthealth::{self, AgentHealthMapper, BulkLines};
use crate::blocks::Container;
use crate::columns;
use crate::decompress::Compression;
use crate::detect::{self, Shape};
use crate::document::{Document, DocumentRows, LoadError, Plan, Salvaged};
use crate::elsewhere::{Elsewhere, in_file};
use crate::files::{Files, FilesError, ReadSeek};
use crate::format::Format;
use crate::lab::LabMapper;
use crate::letta::{self, LettaMapper};
use crate::map::{IdRule, Mapper, files_problem};
use crate::pool::{self, Job};
use crate::read::{Body, Each, ReadOptions, Take};
use crate::records::RecordsMapper;
use crate::report::{DatasetInfo, FileUse, Report};
use crate::rows::Source;
use crate::rows::csv::{CellKind, Csv};
use crate::rows::json_array::JsonArray;
use crate::rows::json_lines::JsonLines;

/// How much of a file is looked at to tell what it is.
const HEAD: usize = 256 << 10;

/// How much is looked at when the first row is long.
const LONGEST_HEAD: usize = 16 << 20;

/// How often one file may point at the next.
const MAX_HOPS: usize = 8;

/// Why a reading ends early.
pub(crate) enum Stop {
    Io(io::Error),
    Fault(Box<Fault>),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match crate::decompress::fault_of(&error) {
            Some(fault) => Stop::Fault(Box::new(fault)),
            None => Stop::Io(error),
        }
    }
}

impl From<Box<Fault>> for Stop {
    fn from(fault: Box<Fault>) -> Self {
        Stop::Fault(fault)
    }
}

pub(crate) struct Reading<'r, E: Each> {
    pub(crate) name: String,
    pub(crate) options: &'r ReadOptions,
    pub(crate) files: &'r dyn Files,
    pub(crate) each: &'r E,
    pub(crate) take: &'r mut dyn Take<E::Out>,
    pub(crate) report: Report,
    /// Whether the rows are in another file than the one that was given.
    pub(crate) outside: bool,
}

impl<E: Each> Reading<'_, E> {
    /// Tells of a fault of the file.
    pub(crate) fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        self.report.faults += 1;
        if self.outside {
            return self.take.fault(&in_file(&self.name, fault.clone()), None);
        }
        self.take.fault(fault, None)
    }

    /// Finds out what the file is, and reads it.
    pub(crate) fn open(&mut self, body: Body) -> Result<(), Stop> {
        let mut reader: Box<dyn Read + Send> = match body {
            Body::Stream(reader) => reader,
            Body::Folder => Box::new(io::empty()),
            Body::Seekable(mut file) => {
                let mut magic = Vec::new();
                (&mut file).take(8).read_to_end(&mut magic)?;
                file.seek(SeekFrom::Start(0))?;
                match detect::shape_of(&magic, false, &self.name) {
                    shape @ (Shape::Parquet | Shape::ArrowFile | Shape::ArrowStream) => {
                        return self.columns(shape, file);
                    }
                    _ => Box::new(file),
                }
            }
        };
        let mut head = look_ahead(&mut reader)?;
        if let Some(compression) = Compression::of(&head) {
            reader = compression.expand(Box::new(Cursor::new(head).chain(reader)))?;
            head = look_ahead(&mut reader)?;
        }
        let whole = self.head_is_whole(&mut reader, &mut head)?;
        if whole && head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let shape = detect::shape_of(&head, whole, &self.name);
        if let Some(columns) = detect::columns_of_name(&self.name)
            && !matches!(shape, Shape::Parquet | Shape::ArrowFile | Shape::ArrowStream)
        {
            let problem = Problem::new(Code::E034, Path::root(), format!("this is not {columns} file"));
            return Err(Stop::Fault(Box::new(
                problem.help("write the file again, or name it for what it is").of_file(),
            )));
        }
        let source = |head: Vec<u8>, reader| Source::new(Box::new(Cursor::new(head).chain(reader)));
        match shape {
            Shape::JsonLines => {
                let sample = lines_sample(&head);
                let format = self.format(&sample, shape);
                let lines = JsonLines { source: source(head, reader) };
                if format == Format::AgentHealth && sample.first().is_some_and(agenthealth::is_action) {
                    return self.rows(BulkLines::new(lines), format);
                }
                self.rows(lines, format)
            }
            Shape::JsonArray => {
                let format = self.format(&array_sample(&head), shape);
                self.rows(JsonArray::new(source(head, reader)), format)
            }
            Shape::Csv(delimiter) => self.csv(source(head, reader), delimiter),
            Shape::JsonDocument | Shape::Yaml => self.document(Cursor::new(head).chain(reader), shape == Shape::Yaml),
            Shape::Parquet | Shape::ArrowFile | Shape::ArrowStream => {
                let mut bytes = head;
                reader.read_to_end(&mut bytes)?;
                self.columns(shape, Box::new(Cursor::new(bytes)))
            }
        }
    }

    /// Whether the head is all there is; a byte more is read to know.
    fn head_is_whole(&self, reader: &mut Box<dyn Read + Send>, head: &mut Vec<u8>) -> io::Result<bool> {
        Ok(head.len() < HEAD || reader.take(1).read_to_end(head)? == 0)
    }

    fn format(&self, sample: &[Object<'_>], shape: Shape) -> Format {
        self.options.format.unwrap_or_else(|| detect::format_of_rows(sample, shape))
    }

    /// Reads rows of one dialect out of a container.
    fn rows<C: Container>(&mut self, container: C, format: Format) -> Result<(), Stop> {
        self.report.format = format;
        let mapper = self.mapper(format);
        self.run(container, mapper.as_ref())
    }

    fn run<C: Container>(&mut self, container: C, mapper: &dyn Mapper) -> Result<(), Stop> {
        let job = Job { mapper, each: self.each, file: &self.name, files: self.files, threads: self.options.threads };
        if self.outside {
            let mut take = Elsewhere { file: &self.name, take: &mut *self.take };
            return Ok(pool::run(container, &job, &mut take, &mut self.report)?);
        }
        Ok(pool::run(container, &job, self.take, &mut self.report)?)
    }

    fn mapper(&self, format: Format) -> Box<dyn Mapper> {
        let id = self.options.id.clone();
        match format {
            Format::Letta => Box::new(LettaMapper { id }),
            Format::Records => Box::new(RecordsMapper { id, cases: self.options.format.is_none() }),
            Format::Lab => Box::new(LabMapper::new(id)),
            Format::AgentHealth => Box::new(AgentHealthMapper { id }),
        }
    }

    fn csv(&mut self, source: Source, delimiter: u8) -> Result<(), Stop> {
        let schema = match &self.options.schema {
            Some(schema) => Some(schema.clone()),
            None => self.schema_beside()?,
        };
        // Types that were registered say nothing about the dialect, and come before those that lie beside the file.
        let registered = self.each.types().filter(|_| self.options.schema.is_none());
        let forced = self.options.format;
        let decide = |names: &[String]| {
            if schema.is_some() {
                return forced.unwrap_or(Format::Records);
            }
            let mut row = Object::with_capacity(names.len());
            names.iter().for_each(|name| row.push_unique(name.as_str().into(), Value::Null));
            forced.unwrap_or_else(|| detect::format_of_rows(&[row], Shape::Csv(delimiter)))
        };
        let kinds = |names: &[String]| {
            let format = decide(names);
            let kind = |name: &String| {
                let declared = registered.and_then(|schema| schema.type_of(name));
                let beside = || schema.as_ref()?.type_of(name);
                match (format, letta::cell_kind(name)) {
                    // What the dialect knows it also types.
                    (Format::Letta, own) if own != CellKind::Text || case::is_field(name) => own,
                    (Format::Letta, own) => declared.map_or(own, CellKind::Typed),
                    _ => declared.or_else(beside).map_or(CellKind::Text, CellKind::Typed),
                }
            };
            names.iter().map(kind).collect()
        };
        let csv = Csv::open(source, delimiter, &kinds)?;
        for name in csv.names().iter().filter(|name| name.trim() != name.as_str()) {
            let message = format!("the column `{name}` has spaces around its name, and is not `{}`", name.trim());
            let hint = Problem::new(Code::H005, Path::key(name), message).help("remove the spaces from the header");
            self.take.fault(&hint.at(Some(Place { line: 1, column: 1 }), None), None)?;
        }
        self.take.header(csv.header())?;
        let format = decide(csv.names());
        if format == Format::Records
            && self.options.id == IdRule::Auto
            && let [only] = csv.names()
            && let Some(found) = only.chars().find(|letter| matches!(letter, ';' | '|' | '\t'))
        {
            let message = format!("the columns seem to be separated by `{}`", found.escape_debug());
            let problem = Problem::new(Code::E031, Path::root(), message)
                .help("separate them with `,` and name the file `.csv`, or with tabs and name it `.tsv`");
            let line = csv.header();
            let excerpt = crate::place::excerpt_of(line, 0, line.len());
            return Err(Stop::Fault(Box::new(problem.at(Some(Place { line: 1, column: 1 }), Some(excerpt)))));
        }
        self.rows(csv, format)
    }

    /// The schema that lies beside a CSV file, as our writer leaves it.
    fn schema_beside(&self) -> Result<Option<Schema>, Stop> {
        let stem = self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name);
        let name = format!("{stem}.schema.json");
        let loaded = match self.files.load(&self.name, &name) {
            Ok(loaded) => loaded,
            Err(FilesError::Missing(_)) => return Ok(None),
            Err(error) => return Err(Stop::Fault(Box::new(files_problem(&error, Path::root()).of_file()))),
        };
        let text = String::from_utf8_lossy(&loaded.bytes).into_owned();
        let value = json::read(&text)
            .map_err(|error| Problem::new(Code::E037, Path::root(), format!("`{name}` is not JSON: {error}")));
        let schema = value.and_then(|value| Schema::from_value(&value));
        schema.map(Some).map_err(|problem| Stop::Fault(Box::new(problem.of_file())))
    }

    /// The rows of a broken document: each tells its own faults. The document's first one is told unless a row does.
    fn salvaged(&mut self, fault: &Fault, salvaged: Salvaged) -> Result<(), Stop> {
        let (first, last) = salvaged.lines;
        let in_rows = fault.place.is_some_and(|place| (first..=last).contains(&place.line));
        if !in_rows {
            self.fault(fault)?;
        }
        self.rows(salvaged.rows, self.options.format.unwrap_or(salvaged.format))?;
        if self.report.faults == 0 {
            self.fault(fault)?;
        }
        Ok(())
    }

    /// A document that is read as a whole: its dialect says where the rows are.
    fn document(&mut self, reader: impl Read, is_yaml: bool) -> Result<(), Stop> {
        let mut document = match Document::load(reader, is_yaml) {
            Ok(document) => document,
            Err(LoadError::Io(error)) => return Err(error.into()),
            Err(LoadError::Fault(fault)) => return Err(fault.into()),
            Err(LoadError::Broken(fault, salvaged)) => return self.salvaged(&fault, *salvaged),
        };
        let mut plan = match self.plan(&document, self.options.format) {
            Ok(plan) => plan,
            Err(problem) => {
                for fault in document.faults(None) {
                    self.fault(&fault)?;
                }
                return Err(document.fault(problem).into());
            }
        };
        for _ in 0..MAX_HOPS {
            match plan {
                Plan::Rows { list, mapper, info } => {
                    self.report.dataset = std::mem::take(&mut self.report.dataset).over(info);
                    for fault in document.faults(Some(&list)) {
                        self.fault(&fault)?;
                    }
                    return self.run(document.into_rows(&list), mapper.as_ref());
                }
                Plan::One { mapper } => {
                    for fault in document.faults(None) {
                        self.fault(&fault)?;
                    }
                    return self.run(DocumentRows::from(document.into_row()), mapper.as_ref());
                }
                Plan::Elsewhere { path, at, info, fields } => {
                    self.report.dataset = std::mem::take(&mut self.report.dataset).over(info);
                    let loaded = self.files.load(&self.name, &path);
                    let loaded = loaded.map_err(|error| document.fault(files_problem(&error, at.clone())))?;
                    self.report.files.push(FileUse::of(&loaded));
                    let shape = detect::shape_of(&loaded.bytes, true, &loaded.name);
                    let is_yaml = shape == Shape::Yaml;
                    if !is_yaml && !matches!(shape, Shape::JsonDocument | Shape::JsonArray) {
                        let problem = Problem::new(Code::E021, at, format!("`{path}` is neither JSON nor YAML"));
                        return Err(document.fault(problem.help("write the items as a JSON or YAML list")).into());
                    }
                    self.name = loaded.name;
                    let inner = Document::parse(loaded.bytes, is_yaml).map_err(|fault| in_file(&self.name, *fault))?;
                    plan = match fields {
                        Some(fields) => crate::lab::plan_source(&inner.root(), &self.options.id, fields),
                        None => self.plan(&inner, Some(self.report.format)),
                    }
                    .map_err(|problem| in_file(&self.name, *inner.fault(problem)))?;
                    document = inner;
                    self.outside = true;
                }
            }
        }
        let problem = Problem::new(Code::E021, Path::root(), "one file points at the next without end");
        Err(document.fault(problem).into())
    }

    /// Which dialect a document is of, and where its rows are.
    fn plan(&mut self, document: &Document, format: Option<Format>) -> Result<Plan, Problem> {
        let root = document.root();
        let format = match format {
            Some(format) => format,
            None => detect::format_of_document(&root)?,
        };
        self.report.format = format;
        match (format, &root) {
            (Format::Lab, _) => crate::lab::plan(&root, &self.options.id, &|path| document.literal(path)),
            (Format::AgentHealth, _) => agenthealth::plan(&root, &self.options.id),
            (Format::Records, Value::Array(_)) => {
                let mapper = self.mapper(format);
                Ok(Plan::Rows { list: Path::root(), mapper, info: DatasetInfo::default() })
            }
            _ => Err(Problem::new(Code::E024, Path::root(), format!("this document is not a list of {format}"))
                .help("write a list of records, or one record per line")),
        }
    }

    fn columns(&mut self, shape: Shape, file: Box<dyn ReadSeek>) -> Result<(), Stop> {
        let kind = match shape {
            Shape::Parquet => columns::Kind::Parquet,
            Shape::ArrowFile => columns::Kind::ArrowFile,
            _ => columns::Kind::ArrowStream,
        };
        self.rows(columns::open(file, kind)?, self.options.format.unwrap_or(Format::Records))
    }
}

/// The start of a file: at least its first row, even when that is long.
fn look_ahead(reader: &mut Box<dyn Read + Send>) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    reader.take(HEAD as u64).read_to_end(&mut head)?;
    let mut looked = 0;
    while head.len() >= HEAD && head.len() < LONGEST_HEAD && !has_whole_row(&head, looked) {
        looked = head.len();
        if reader.take(looked as u64).read_to_end(&mut head)? == 0 {
            break;
        }
    }
    Ok(head)
}

/// Whether a line with something on it ends after byte `from`.
fn has_whole_row(head: &[u8], from: usize) -> bool {
    let Some(start) = head.iter().position(|byte| !byte.is_ascii_whitespace()) else { return false };
    memchr::memchr2(b'\n', b'\r', &head[start.max(from)..]).is_some()
        || head.starts_with(b"PAR1")
        || head.starts_with(b"ARROW1")
}

/// The objects on the first lines.
fn lines_sample(head: &[u8]) -> Vec<Object<'static>> {
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    text.split(['\n', '\r']).filter_map(object_of).take(64).collect()
}

/// The objects that a list starts with.
fn array_sample(head: &[u8]) -> Vec<Object<'static>> {
    let text = String::from_utf8_lossy(head);
    let Some(start) = text.find('[') else { return Vec::new() };
    let rows = crate::rows::json_array::elements(&text, start, text.len());
    rows.iter().filter_map(|row| object_of(&text[row.start..row.end])).take(64).collect()
}

fn object_of(text: &str) -> Option<Object<'static>> {
    match json::read(text) {
        Ok(Value::Object(object)) => Some(object.into_owned()),
        _ => None,
    }
}
