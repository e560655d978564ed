//! The rubric of a sample: its own text, or the text of a file it names.
//!
//! *Invariant:* files are asked for through [`Files`]; what it keeps back is told as our fault, not as the loader's.

use super::refusal::Refusal;
use super::value::{PyText, PyValue};
use crate::files::{Files, FilesError};

/// Finds the rubric; both may be `None`.
pub(super) fn resolve(inline: PyValue, path: PyValue, file: &str, files: &dyn Files) -> Result<PyValue, Refusal> {
    match (inline, path) {
        (inline, PyValue::None) => Ok(inline),
        (PyValue::None, PyValue::Str(path)) => {
            load(&path, file, files).map(PyValue::Str).map_err(|refusal| refusal.field("rubric_path"))
        }
        (PyValue::None, path) => {
            let why = format!("`rubric_path` is {}, it must be text", path.type_name());
            Err(Refusal::new("TypeError", why).field("rubric_path"))
        }
        _ => Err(Refusal::new("ValueError", "there are both `rubric` and `rubric_path`").field("rubric_path")),
    }
}

fn load(path: &PyText, file: &str, files: &dyn Files) -> Result<PyText, Refusal> {
    let Some(path) = path.as_str() else { return Err(unencodable(path)) };
    if path.contains('\0') {
        return Err(Refusal::new("ValueError", "`rubric_path` holds a NUL character"));
    }
    if path.split('/').all(|step| step.is_empty() || step == ".") {
        return Err(Refusal::new("IsADirectoryError", "`rubric_path` is a folder"));
    }
    let loaded = files.load(file, path.trim_end_matches('/')).map_err(|error| match error {
        FilesError::Missing(path) => Refusal::new("ValueError", format!("there is no file `{path}`")),
        FilesError::Unreadable { path, source } => {
            Refusal::new(io_class(&source), format!("`{path}` cannot be read, {source}"))
        }
        error => Refusal::of_file(&error),
    })?;
    match String::from_utf8(loaded.bytes) {
        Ok(text) => Ok(text.replace("\r\n", "\n").replace('\r', "\n").into()),
        Err(_) => Err(Refusal::new("UnicodeDecodeError", format!("`{path}` is not UTF-8 text"))),
    }
}

/// A path with lone surrogates: those that stand for raw bytes name a file that is not there, others are no path.
fn unencodable(path: &PyText) -> Refusal {
    let bytes = path.as_bytes();
    let surrogates = bytes.windows(3).filter(|bytes| bytes[0] == 0xed && bytes[1] >= 0xa0);
    let mut units = surrogates.map(|bytes| 0xd000 | u32::from(bytes[1] & 0x3f) << 6 | u32::from(bytes[2] & 0x3f));
    match units.all(|unit| (0xdc80..=0xdcff).contains(&unit)) {
        true => Refusal::new("ValueError", "there is no file `rubric_path`"),
        false => Refusal::new("UnicodeEncodeError", "`rubric_path` holds a lone surrogate"),
    }
}

fn io_class(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::IsADirectory => "IsADirectoryError",
        std::io::ErrorKind::PermissionDenied => "PermissionError",
        std::io::ErrorKind::NotFound => "ValueError",
        _ => "OSError",
    }
}
