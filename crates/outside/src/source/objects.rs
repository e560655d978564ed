//! Objects with rows in them, from a folder, a bucket, a commit or a hub: each becomes pages of rows.
//!
//! *Invariant:* objects come in the order of their names; one that is small enough to be held gives all its rows or
//! none, and a larger one that turns out broken ends the reading.

use std::io;

use heldset_core::code::Code;
use heldset_core::fault::Fault;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};
use heldset_dialect::{Body, Each, Files, Format, IdRule, Input, NoFiles, ReadOptions, ReadSeek, Take};
use heldset_engine::feeds::Page;
use heldset_engine::refusal::Refusal;

use super::choice::Choice;
use super::keys::Keys;
use super::records;
use super::running::{Out, Stop};

/// How many rows a page has.
pub(super) const PAGE: usize = 1000;
/// Up to here the rows of an object are held until all of them are known to be good.
const HELD: u64 = 32 << 20;

/// How objects are chosen and read.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) choice: Choice,
    dialect: Option<Format>,
    records: Option<String>,
    /// Where to go on: after this object, or after so many of its rows.
    after: Option<(String, Option<u64>)>,
}

/// An object that was fetched.
pub(super) struct Fetched {
    pub(super) name: String,
    pub(super) asked: String,
    pub(super) size: u64,
    pub(super) sha256: String,
    pub(super) revision: Option<String>,
    pub(super) body: Box<dyn ReadSeek>,
}

impl Reading {
    /// What the configuration of an operation says of it: `path` or `glob`, `dialect`, `records`.
    pub(super) fn read(keys: &mut Keys<'_>, after: Option<&Value<'static>>) -> Reading {
        let choice = Choice::read(keys.either("path", "glob"));
        let dialect = keys.word("dialect", &["records", "lab", "letta", "agenthealth", "auto"]);
        let dialect = match dialect {
            Some("auto") => None,
            name => Format::ALL.iter().copied().find(|format| Some(format.name()) == name).or(Some(Format::Records)),
        };
        let records = keys.text("records").map(str::to_owned);
        Reading { choice, dialect, records, after: after.and_then(Value::as_object).and_then(resumed) }
    }

    /// Whether an object was read before.
    pub(super) fn is_past(&self, name: &str) -> bool {
        match &self.after {
            Some((last, None)) => name <= last.as_str(),
            Some((last, Some(_))) => name < last.as_str(),
            None => false,
        }
    }

    /// Why an object is left out, by its name alone.
    pub(super) fn skips(&self, name: &str) -> Option<&'static str> {
        if self.choice.is_exactly(name) || is_data(name) {
            return None;
        }
        Some(if name.ends_with(".schema.json") { "describes another file" } else { "not a format that is read" })
    }

    /// Reads an object into pages. `files` finds what it refers to.
    pub(super) fn pages(&self, object: Fetched, files: &dyn Files, out: &mut Out) -> Result<(), Stop> {
        let skip = match &self.after {
            Some((last, Some(rows))) if *last == object.name => *rows,
            _ => 0,
        };
        let mut pages = Pages {
            object: about(&object),
            name: object.name.clone(),
            holds: object.size <= HELD,
            held: Vec::new(),
            rows: Vec::new(),
            read: 0,
            skip,
            fault: None,
            stop: None,
            out,
        };
        let name = object.name.clone();
        let outcome = match &self.records {
            Some(path) => by_records(object.body, path, &mut pages),
            None => self.by_dialect(object.name, object.body, files, &mut pages),
        };
        let (stop, began) = (pages.stop.take(), !pages.holds && pages.read > 0);
        match (stop, outcome) {
            (Some(stop), _) => Err(stop),
            (None, Ok(())) => pages.finish(),
            (None, Err(reason)) if began || self.choice.is_exactly(&name) => Err(broken(&name, &reason).into()),
            (None, Err(reason)) => pages.failed(&name, reason),
        }
    }

    fn by_dialect(
        &self,
        name: String,
        body: Box<dyn ReadSeek>,
        files: &dyn Files,
        pages: &mut Pages<'_>,
    ) -> Result<(), String> {
        let options = ReadOptions { format: self.dialect, id: IdRule::Later, schema: None, threads: 1 };
        let input = Input { name, body: Body::Seekable(body) };
        let read = heldset_dialect::read(input, &options, files, &Whole, pages);
        match (read, pages.fault.take()) {
            (_, Some(fault)) => Err(told(&fault)),
            (Ok(_), None) => Ok(()),
            (Err(error), None) => Err(error.to_string()),
        }
    }
}

/// A page without rows that tells what was left out or failed.
pub(super) fn remark(skipped: Vec<(String, String)>, failed: Vec<(String, String)>, revision: Option<&str>) -> Page {
    let first = skipped.iter().chain(&failed).next().map(|(name, _)| name.clone()).unwrap_or_default();
    Page {
        asked: first,
        sha256: heldset_core::digest::sha256(b"").hex(),
        skipped,
        failed,
        revision: revision.map(str::to_owned),
        ..Page::default()
    }
}

/// There is nothing to be read.
pub(super) fn nothing(of: &str, choice: &Choice) -> Box<Refusal> {
    let message = match choice {
        Choice::All => format!("there is no file in {of}"),
        Choice::Name(name) | Choice::Pattern(name) => format!("nothing in {of} is called `{name}`"),
    };
    Refusal::incomplete(Code::E070, message, "see `path` in the configuration of the source")
}

/// No files are found beside objects of a bucket, a commit or a hub.
pub(super) const ALONE: NoFiles = NoFiles;

/// The rows of an answer or a file that is a table or lines, by the dialects.
pub(super) fn rows_of(name: &str, bytes: Vec<u8>) -> Result<Vec<Value<'static>>, String> {
    let options = ReadOptions { format: Some(Format::Records), id: IdRule::Later, schema: None, threads: 1 };
    let input = Input { name: name.to_owned(), body: Body::Stream(Box::new(io::Cursor::new(bytes))) };
    let mut rows = Rows::default();
    let read = heldset_dialect::read(input, &options, &ALONE, &Whole, &mut rows);
    match (read, rows.fault) {
        (_, Some(fault)) => Err(told(&fault)),
        (Ok(_), None) => Ok(rows.rows),
        (Err(error), None) => Err(error.to_string()),
    }
}

fn resumed(after: &Object<'static>) -> Option<(String, Option<u64>)> {
    let rows = match after.get("rows") {
        Some(Value::Number(rows)) => rows.as_u64(),
        _ => None,
    };
    Some((after.get("object")?.as_str()?.to_owned(), rows))
}

/// Whether a name is one of a file with rows.
fn is_data(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let endings = ["json", "jsonl", "ndjson", "csv", "tsv", "tab", "yaml", "yml", "parquet", "arrow", "feather", "ipc"];
    endings.contains(&ending) && !name.ends_with(".schema.json")
}

fn broken(name: &str, reason: &str) -> Box<Refusal> {
    let help = "correct the file, leave it out, or name the list in a JSON document with `records`";
    Refusal::invalid(Code::E071, format!("`{name}` cannot be read: {reason}"), help)
}

fn told(fault: &Fault) -> String {
    let place = fault.place.map_or(String::new(), |place| format!("line {}, column {}: ", place.line, place.column));
    format!("{place}{} ({})", fault.message, fault.code)
}

fn about(object: &Fetched) -> Page {
    Page {
        asked: object.asked.clone(),
        size: object.size,
        sha256: object.sha256.clone(),
        revision: object.revision.clone(),
        ..Page::default()
    }
}

fn by_records(mut body: Box<dyn ReadSeek>, path: &str, pages: &mut Pages<'_>) -> Result<(), String> {
    let mut text = String::new();
    body.read_to_string(&mut text).map_err(|error| error.to_string())?;
    let rows = records::in_document(text.trim_start_matches('\u{feff}'), path)?;
    for row in rows {
        if pages.row(row).is_err() {
            break;
        }
    }
    Ok(())
}

/// Each record as the row it was.
struct Whole;

impl Each for Whole {
    type Out = Value<'static>;
    type Scratch = ();

    fn record(&self, _scratch: &mut (), record: Record<'_>) -> Value<'static> {
        Value::Object(record.fields.into_owned())
    }
}

/// Rows on their way into pages.
struct Pages<'p> {
    object: Page,
    name: String,
    holds: bool,
    held: Vec<Page>,
    rows: Vec<Value<'static>>,
    read: u64,
    skip: u64,
    fault: Option<Fault>,
    stop: Option<Stop>,
    out: &'p mut Out,
}

impl Pages<'_> {
    fn row(&mut self, row: Value<'static>) -> io::Result<()> {
        self.read += 1;
        if self.read <= self.skip {
            return Ok(());
        }
        self.rows.push(row);
        if self.rows.len() < PAGE {
            return Ok(());
        }
        let page = self.cut(Some(self.read));
        if self.holds {
            self.held.push(page);
            return Ok(());
        }
        self.out.page(page).map_err(|stop| {
            self.stop = Some(stop);
            io::Error::other("nobody takes more rows")
        })
    }

    fn cut(&mut self, rows: Option<u64>) -> Page {
        let mut next = Object::new();
        next.set("object", self.name.clone().into());
        if let Some(rows) = rows {
            next.set("rows", Value::Number(heldset_core::number::Number::from_u64(rows)));
        }
        if let Some(revision) = &self.object.revision {
            next.set("revision", revision.clone().into());
        }
        Page { rows: std::mem::take(&mut self.rows), next: Some(next.into()), ..self.object.clone() }
    }

    /// Hands on what was held, and the last page.
    fn finish(mut self) -> Result<(), Stop> {
        for page in std::mem::take(&mut self.held) {
            self.out.page(page)?;
        }
        let last = self.cut(None);
        self.out.page(last)
    }

    fn failed(mut self, name: &str, reason: String) -> Result<(), Stop> {
        self.rows = Vec::new();
        let mut page = self.cut(None);
        page.failed.push((name.to_owned(), reason));
        self.out.page(page)
    }
}

impl Take<Value<'static>> for Pages<'_> {
    fn record(&mut self, out: Value<'static>) -> io::Result<()> {
        self.row(out)
    }

    fn fault(&mut self, fault: &Fault, _row: Option<&[u8]>) -> io::Result<()> {
        if is_grave(fault) && self.fault.is_none() {
            self.fault = Some(fault.clone());
            return Err(io::Error::other("the object is broken"));
        }
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct Rows {
    rows: Vec<Value<'static>>,
    fault: Option<Fault>,
}

impl Take<Value<'static>> for Rows {
    fn record(&mut self, out: Value<'static>) -> io::Result<()> {
        self.rows.push(out);
        Ok(())
    }

    fn fault(&mut self, fault: &Fault, _row: Option<&[u8]>) -> io::Result<()> {
        if is_grave(fault) && self.fault.is_none() {
            self.fault = Some(fault.clone());
        }
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A hint is none, and an empty file has no rows, which is no fault of a source.
fn is_grave(fault: &Fault) -> bool {
    fault.code != Code::E023 && !fault.code.to_string().starts_with('H')
}

/// A refusal of something that cannot be read from a disk.
pub(super) fn unreadable(name: &str, error: &io::Error) -> Box<Refusal> {
    Refusal::incomplete(Code::E070, format!("`{name}` cannot be read: {error}"), "see whether it is there")
}
