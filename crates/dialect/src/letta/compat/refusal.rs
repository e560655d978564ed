//! Where and why the released loader stops.
//!
//! *Invariant:* the words are ours; only the name of the exception is the loader's.

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Place, Problem};
use heldset_core::path::Path;

use super::json::{FailKind, JsonFail};
use crate::files::FilesError;
use crate::map::files_problem;
use crate::place::{excerpt_of, place_of};

/// Why the loader stops.
#[derive(Debug)]
pub(super) struct Refusal {
    problem: Problem,
    /// The byte of the file where it shows.
    at: Option<usize>,
}

impl Refusal {
    /// The loader raises `class`.
    pub(super) fn new(class: &str, why: impl AsRef<str>) -> Self {
        let message = format!("the released loader stops here: {} ({class})", why.as_ref());
        let help = "without `--compat` the file is read by Heldset's own rules";
        Refusal { problem: Problem::new(Code::E039, Path::root(), message).help(help), at: None }
    }

    /// A file that the row names cannot be had; the loader itself would not mind the limits of ours.
    pub(super) fn of_file(error: &FilesError) -> Self {
        Refusal { problem: files_problem(error, Path::key("rubric_path")), at: None }
    }

    /// JSON that cannot be read, when the exception of plain bad syntax is `syntax`.
    pub(super) fn of_json(fail: JsonFail, syntax: &str) -> Self {
        match fail.kind {
            FailKind::Syntax => Refusal::new(syntax, format!("invalid JSON, {}", fail.why)),
            FailKind::Digits => Refusal::new("ValueError", fail.why),
            FailKind::Depth => Refusal::new("RecursionError", fail.why),
        }
    }

    /// The same about a field.
    pub(super) fn field(mut self, name: &str) -> Self {
        if self.problem.path.is_root() {
            self.problem.path = Path::key(name);
        }
        self
    }

    /// The same with its place, unless it has one.
    pub(super) fn at(mut self, offset: usize) -> Self {
        self.at.get_or_insert(offset);
        self
    }

    /// The same where Heldset itself is known to be content.
    pub(super) fn read_natively(mut self) -> Self {
        self.problem.help = Some("natively Heldset reads this: run without `--compat`".to_owned());
        self
    }

    /// The same with its place counted from `start`.
    pub(super) fn moved(mut self, start: usize) -> Self {
        self.at = self.at.map(|at| at + start);
        self
    }

    /// The field it is about.
    pub(super) fn path(&self) -> &Path {
        &self.problem.path
    }

    /// Whether its place is known.
    pub(super) fn is_placed(&self) -> bool {
        self.at.is_some()
    }

    /// The fault in the file with these bytes.
    pub(super) fn into_fault(self, bytes: &[u8]) -> Fault {
        let Some(at) = self.at else { return self.problem.of_file() };
        let (before, after) = bytes.split_at(at.min(bytes.len()));
        let mut text = String::from_utf8_lossy(before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before)).into_owned();
        let offset = text.len();
        let line_end = after.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(after.len());
        text.push_str(&String::from_utf8_lossy(&after[..line_end]));
        let width = text[offset..].chars().next().map_or(0, char::len_utf8);
        let place = place_of(&text, Place { line: 1, column: 1 }, offset);
        self.problem.at(Some(place), Some(excerpt_of(&text, offset, offset + width)))
    }
}
