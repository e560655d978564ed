//! What the parser could not read, in our words and with our codes.

use granit_parser::{ErrorKind, ScanError};
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Place, Problem};
use heldset_core::path::Path;

use super::scalar::ScalarError;
use crate::place::{excerpt_of, place_of};
use heldset_core::number::NumberError;

/// A fault at some bytes of the text.
pub(super) fn mark(text: &str, problem: Problem, start: u32, end: u32) -> Box<Fault> {
    let (start, end) = (start as usize, end as usize);
    let place = place_of(text, Place { line: 1, column: 1 }, start);
    Box::new(problem.at(Some(place), Some(excerpt_of(text, start, end.max(start + 1)))))
}

/// The fault that an error of the parser is.
pub(super) fn of_scan(text: &str, error: &ScanError, path: Path) -> Box<Fault> {
    let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let at_end = text[at..].trim().is_empty();
    let kind = match error.kind() {
        ErrorKind::InvalidQuotedScalarIndent if at_end => &ErrorKind::UnclosedQuotedScalar,
        kind => kind,
    };
    let (code, message, help) = words(kind);
    let problem = Problem::new(code, path, message);
    let at = at as u32;
    mark(text, if help.is_empty() { problem } else { problem.help(help) }, at, at + 1)
}

fn words(kind: &ErrorKind) -> (Code, String, &'static str) {
    use ErrorKind as K;
    let invalid = |message: &str, help| (Code::E025, message.to_owned(), help);
    match kind {
        K::InvalidLowSurrogateHexEscape | K::InvalidLowSurrogate | K::MissingLowSurrogate | K::UnpairedLowSurrogate => {
            (
                Code::E006,
                "half a surrogate pair in an escape".to_owned(),
                "write both halves of the pair, or the character itself",
            )
        }
        K::RecursionLimitExceeded => too_deep(),
        K::UnknownAnchor => invalid("this alias names no anchor before it", "define it first with `&name`"),
        K::MappingValueNotAllowed => {
            invalid("a `:` cannot stand here", "put text that holds `: ` in quotes, or check the indentation")
        }
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabInPlainScalar => {
            invalid("a tab cannot indent", "indent with spaces")
        }
        K::UnclosedQuotedScalar => invalid("this text has no closing quote", ""),
        K::UnclosedFlowCollection { .. } | K::UnexpectedEofFlowSequence | K::UnexpectedEofFlowMapping => {
            invalid("this list or mapping is not closed", "")
        }
        K::SimpleKeyExpected | K::ExpectedBlockMappingKey => {
            invalid("expected a key and a `:` here", "check the indentation of this line and of those before it")
        }
        K::UndeclaredTagHandle => (Code::E027, "this tag is of no known family".to_owned(), TAG_HELP),
        other => {
            let message = other.to_string();
            (Code::E025, lower_first(message.trim_end_matches('.')), "")
        }
    }
}

/// What to do about a tag.
pub(super) const TAG_HELP: &str = "leave the tag out: only `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!map` \
                                   and `!!seq` are known";

/// Too many levels.
pub(super) fn too_deep() -> (Code, String, &'static str) {
    (Code::E007, "nested deeper than 64 levels".to_owned(), "flatten the value, or store it as text")
}

/// What is wrong with a scalar.
pub(super) fn of_scalar(error: ScalarError, path: Path, text: &str, tag: &str) -> Problem {
    match error {
        ScalarError::NotOfTag => Problem::new(Code::E025, path, format!("this does not fit its tag `!!{tag}`")),
        ScalarError::Number(NumberError::Inexact) => Problem::new(Code::E004, path, "integer beyond 64 bits")
            .help("write it as text, in quotes: as a number it would be rounded"),
        ScalarError::Number(other) => {
            let shown: String = text.chars().take(40).collect();
            Problem::new(Code::E005, path, format!("`{shown}`: {other}")).help("write it as text, in quotes")
        }
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if !text.starts_with("YAML") => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}
