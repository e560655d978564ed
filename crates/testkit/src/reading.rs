//! Reading from memory: files in a map, records and faults in lists.

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use heldset_core::fault::Fault;
use heldset_core::record::Record;
use heldset_dialect::{Body, Each, Files, FilesError, IdRule, Input, Loaded, ReadOptions, Report, Take, read};

/// Everything that a reading told.
#[derive(Debug)]
pub struct Reading {
    /// The records that were kept.
    pub records: Vec<Record<'static>>,
    /// Older versions of records, with their numbers.
    pub older: Vec<(u64, Record<'static>)>,
    /// All faults, in order.
    pub faults: Vec<Fault>,
    /// The counts.
    pub report: Report,
}

impl Reading {
    /// The records as canonical JSON lines.
    pub fn lines(&self) -> Vec<String> {
        self.records.iter().map(line).collect()
    }

    /// The older versions as `number id`.
    pub fn history(&self) -> Vec<String> {
        self.older.iter().map(|(version, record)| format!("{version} {}", record.id.as_str())).collect()
    }

    /// The faults as `CODE line:column field`, with the file before it where there are several.
    pub fn places(&self) -> Vec<String> {
        self.faults.iter().map(place).collect()
    }
}

/// Files that live in memory; paths are joined to the folder of the file that names them.
#[derive(Default)]
pub struct MemoryFiles(pub BTreeMap<String, Vec<u8>>);

impl MemoryFiles {
    /// Files by path and text.
    pub fn of(files: &[(&str, &str)]) -> Self {
        MemoryFiles(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect())
    }
}

impl Files for MemoryFiles {
    fn load(&self, from: &str, path: &str) -> Result<Loaded, FilesError> {
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            return Err(FilesError::Outside(path.to_owned()));
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let plain = path.trim_start_matches("./");
        let name = if folder.is_empty() { plain.to_owned() } else { format!("{folder}/{plain}") };
        match self.0.get(&name) {
            Some(bytes) => Ok(Loaded { name, bytes: bytes.clone() }),
            None => Err(FilesError::Missing(path.to_owned())),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, FilesError> {
        let inside = |path: &String| path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
        let below: Vec<_> = self.0.keys().filter_map(inside).collect();
        if below.is_empty() {
            return Err(FilesError::Missing(folder.to_owned()));
        }
        Ok(below.into_iter().filter(|name| !name.contains('/')).collect())
    }
}

/// Reads bytes under a name, everything found by content.
pub fn read_bytes(name: &str, bytes: &[u8]) -> Reading {
    let options = ReadOptions { format: None, id: IdRule::Auto, schema: None, threads: 2 };
    read_with(name, bytes, &options, &MemoryFiles::default())
}

/// Reads bytes under a name.
pub fn read_with(name: &str, bytes: &[u8], options: &ReadOptions, files: &dyn Files) -> Reading {
    let input = Input { name: name.to_owned(), body: Body::Stream(Box::new(Cursor::new(bytes.to_vec()))) };
    let mut collect = Collect::default();
    let report = read(input, options, files, &Keep, &mut collect).expect("memory can be read");
    collect.into_reading(report)
}

/// Reads a folder of files.
pub fn read_folder_with(folder: &str, options: &ReadOptions, files: &dyn Files) -> Reading {
    let mut collect = Collect::default();
    let input = Input { name: folder.to_owned(), body: Body::Folder };
    let report = read(input, options, files, &Keep, &mut collect).expect("memory can be read");
    collect.into_reading(report)
}

struct Keep;

impl Each for Keep {
    type Out = Record<'static>;
    type Scratch = ();

    fn record(&self, _scratch: &mut (), record: Record<'_>) -> Record<'static> {
        record.into_owned()
    }
}

#[derive(Default)]
struct Collect {
    records: Vec<Record<'static>>,
    older: Vec<(u64, Record<'static>)>,
    faults: Vec<Fault>,
}

impl Collect {
    fn into_reading(self, report: Report) -> Reading {
        Reading { records: self.records, older: self.older, faults: self.faults, report }
    }
}

impl Take<Record<'static>> for Collect {
    fn record(&mut self, record: Record<'static>) -> io::Result<()> {
        self.records.push(record);
        Ok(())
    }

    fn older(&mut self, version: u64, record: Record<'static>) -> io::Result<()> {
        self.older.push((version, record));
        Ok(())
    }

    fn fault(&mut self, fault: &Fault, _row: Option<&[u8]>) -> io::Result<()> {
        self.faults.push(fault.clone());
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) -> io::Result<()> {
        Ok(())
    }
}

fn line(record: &Record<'static>) -> String {
    let mut object = record.fields.clone();
    object.set("id", heldset_core::value::Value::from(record.id.as_str().to_owned()));
    let mut out = Vec::new();
    heldset_core::canonical::write_object(&object, &mut out);
    String::from_utf8(out).expect("canonical bytes are UTF-8")
}

fn place(fault: &Fault) -> String {
    let place = fault.place.map_or_else(|| "-".to_owned(), |place| format!("{}:{}", place.line, place.column));
    let file = fault.file.as_ref().map_or_else(String::new, |file| format!("{file} "));
    format!("{file}{} {place} {}", fault.code, fault.field.as_deref().unwrap_or("-"))
}
