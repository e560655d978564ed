//! The counts of a reading, for people.

use std::fmt::Write;

use heldset_dialect::Report;

use super::clean;

/// How many names are listed in a line.
const LISTED: usize = 40;

/// The report as a few lines.
pub(crate) fn text(file: &str, report: &Report, dropped: u64) -> String {
    let mut out = format!(
        "{}: {}, {} read, {} kept, {} refused, {dropped} dropped",
        clean::line(file),
        report.format,
        report.read,
        report.kept,
        report.refused
    );
    let mut line = |name: &str, items: Vec<String>| {
        let items: Vec<String> = items.iter().map(|item| clean::line(item)).collect();
        let more = items.len().saturating_sub(LISTED);
        let mut items: Vec<String> = items.into_iter().take(LISTED).collect();
        if more > 0 {
            items.push(format!("and {more} more"));
        }
        if !items.is_empty() {
            // Writing to a String cannot fail.
            let _infallible = write!(out, "\n  {name}: {}", items.join(", "));
        }
    };
    line("mapped", report.mapped.iter().map(|((from, to), count)| format!("{from} → {to} ({count})")).collect());
    line("kept as they are", report.as_is.iter().map(|(name, count)| format!("{name} ({count})")).collect());
    if report.older > 0 {
        line("older versions", vec![report.older.to_string()]);
    }
    if report.ids_given > 0 {
        line("ids given by row", vec![report.ids_given.to_string()]);
    }
    line("older shapes", report.legacy.iter().map(|shape| (*shape).to_owned()).collect());
    line("files read along", report.files.iter().map(|file| file.name.clone()).collect());
    out
}
