//! A verdict for GitHub: annotations of the job, and a summary of the step.
//!
//! *Invariant:* names and numbers only; nothing that is named can end an annotation or start another one.

use super::{Ending, Gated};
use crate::report::cell;
use crate::results::RowOutcome;

/// GitHub shows this many annotations of a kind for a step.
const SHOWN: usize = 10;

impl Gated {
    /// The annotations, a line each: the verdict, then what did not pass.
    pub fn annotations(&self) -> String {
        let level = match self.ending() {
            Ending::Pass => "notice",
            Ending::Inconclusive => "warning",
            Ending::Fail | Ending::Incomplete => "error",
        };
        let title = format!("heldset gate: {}@{}", self.doc.dataset, self.doc.version);
        let mut lines = annotation(level, &title, &self.line());
        let failed = |outcome: &RowOutcome| matches!(outcome, RowOutcome::Fail | RowOutcome::Error);
        let failures: Vec<_> = self.cases.iter().filter(|case| failed(&case.outcome)).collect();
        // The verdict may be one of the warnings.
        for case in failures.iter().take(SHOWN - 1) {
            let message =
                format!("{} in {}, repeat {}: {}", case.name, case.scenario, case.repeat, case.outcome.name());
            lines.push_str(&annotation("warning", "heldset", &message));
        }
        lines
    }

    /// The summary of the step, as Markdown.
    pub fn step_summary(&self) -> String {
        let mut text = format!("### heldset gate: {}\n\n{}\n\n", self.answer(), cell(&self.line()));
        text.push_str("| | |\n|---|---|\n");
        for (name, value) in self.facts() {
            text.push_str(&format!("| {name} | {} |\n", cell(&value)));
        }
        text.push('\n');
        text
    }
}

fn annotation(level: &str, title: &str, message: &str) -> String {
    format!("::{level} title={}::{}\n", property(title), data(message))
}

/// Text as GitHub reads it back from a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
