//! The whole released loader of Letta Evals 0.26, refusals and laxness included, for parity checks.
//!
//! *Invariant:* nothing here is used to import: what it yields is shown or converted, never registered.

mod csv;
mod json;
mod jsonl;
mod lines;
mod refusal;
mod rubric;
mod sample;
mod value;
mod write;

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;

use self::refusal::Refusal;
use crate::files::Files;

pub use self::sample::CompatSample;
pub use self::value::{PyDict, PyText, PyValue};

/// How much of a file is held at once.
const MAX_FILE: usize = 64 << 20;

/// What the released loader makes of a file.
#[derive(Debug)]
pub struct CompatReading {
    /// The samples it yields before it ends or stops.
    pub samples: Vec<CompatSample>,
    /// Why it stops.
    pub error: Option<Fault>,
}

/// Reads a file as the released loader does, which is told JSONL from CSV by its name alone.
pub fn read_compat(name: &str, bytes: &[u8], files: &dyn Files) -> CompatReading {
    if bytes.len() > MAX_FILE {
        let message = "the file is larger than the 64 MiB that `--compat` takes";
        let problem = Problem::new(Code::E008, Path::root(), message).help("cut the file, or run without `--compat`");
        return CompatReading { samples: Vec::new(), error: Some(problem.of_file()) };
    }
    let mut samples = Vec::new();
    let done = match extension(name).as_str() {
        "jsonl" => jsonl::read(name, bytes, files, &mut samples),
        "csv" => csv::read(name, bytes, files, &mut samples),
        _ => Err(Refusal::new("ValueError", "it reads files named `.jsonl` and `.csv` only")),
    };
    CompatReading { samples, error: done.err().map(|refusal| refusal.into_fault(bytes)) }
}

impl PyValue {
    /// Reads JSON as Python does; `None` when it refuses.
    pub fn read(text: &str) -> Option<PyValue> {
        json::read(text, 993).ok()
    }

    /// The value as JSON text as Python would write it, without spaces.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        write::value(&mut out, self);
        out
    }
}

/// What follows the last dot of the file's name, in lower case; a name that starts with its only dot has none.
fn extension(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_lowercase(),
        _ => String::new(),
    }
}
