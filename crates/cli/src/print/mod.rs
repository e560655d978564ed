//! What people and programs see.

pub(crate) mod clean;
pub(crate) mod dataset;
pub(crate) mod fault;
pub(crate) mod json;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod run;

use std::io::{self, IsTerminal};

use heldset_core::fault::Fault;

use crate::args::Color;

/// How much a fault weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Warning,
    Hint,
}

impl Severity {
    /// Of a fault that was not asked for.
    pub(crate) fn of(fault: &Fault) -> Self {
        if fault.code.is_hint() { Severity::Hint } else { Severity::Error }
    }

    /// The word for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "hint",
        }
    }
}

/// Whether to use colours on a stream.
pub(crate) fn styled(color: Color, stream: &impl IsTerminal) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// An IO error in lowercase words, without the number.
pub(crate) fn io_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
