//! One thing that is wrong with a file: what, where, and what to do about it.
//!
//! *Invariant:* a message is one line, lowercase, without a period; advice stands apart in `help`.

use crate::code::Code;
use crate::path::Path;

/// A fault of a record before it is known where in the file it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which kind of fault.
    pub code: Code,
    /// The part of the record it is about.
    pub path: Path,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// A fault with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which kind of fault.
    pub code: Code,
    /// The file it is in, when several files are read as one.
    pub file: Option<String>,
    /// Where it shows; absent when it is about the file as a whole.
    pub place: Option<Place>,
    /// The field it is about.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The source line, cut to a readable window.
    pub excerpt: Option<Excerpt>,
}

/// A place in a text, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The character in the line.
    pub column: u64,
}

/// A window on the line a fault is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text of the window.
    pub text: String,
    /// The first byte of the window that the caret marks.
    pub start: usize,
    /// The byte after the last marked one.
    pub end: usize,
}

impl Problem {
    /// A problem of the part that `path` names.
    pub fn new(code: Code, path: Path, message: impl Into<String>) -> Self {
        Problem { code, path, message: message.into(), help: None }
    }

    /// The same problem with advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The fault this becomes once its place is known.
    pub fn at(self, place: Option<Place>, excerpt: Option<Excerpt>) -> Fault {
        let field = (!self.path.is_root()).then(|| self.path.to_string());
        Fault { code: self.code, file: None, place, field, message: self.message, help: self.help, excerpt }
    }

    /// The fault this becomes when it is about the file as a whole.
    pub fn of_file(self) -> Fault {
        self.at(None, None)
    }
}

impl Fault {
    /// The same fault, in a file of that name.
    #[must_use]
    pub fn in_file(mut self, file: Option<&str>) -> Self {
        self.file = file.map(str::to_owned);
        self
    }
}

/// The name in `known` that is nearest to `name`, for a help that says "did you mean".
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let scored = known.into_iter().map(|known| (strsim::damerau_levenshtein(name, known), known));
    let (distance, best) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + best.chars().count() / 4).then_some(best)
}
