//! A report for a terminal.
//!
//! *Invariant:* columns are aligned by letters, whatever is in them.

use std::fmt::Write;

use heldset_core::value::Value;

use super::Sheet;
use super::table::{Table, one_line};
use crate::refusal::Outcome;
use crate::results::balance_words;
use crate::summary::short;

/// How many rows that did not pass are listed.
pub(super) const LISTED: usize = 20;

impl Sheet<'_> {
    /// The report as text.
    pub(super) fn text(&self) -> Outcome<String> {
        // Writing to a String cannot fail.
        let mut out = String::new();
        for line in self.opening() {
            let _infallible = writeln!(out, "{line}");
        }
        let (failures, all) = self.failures(LISTED)?;
        if all > 0 {
            let _infallible = writeln!(out, "\nnot passed: {all}");
        }
        for failure in &failures {
            let (id, outcome) = (&failure.id, failure.outcome.name());
            let _infallible = writeln!(out, "  {outcome:8} {id}  ({})  {}", failure.place, failure.why);
            if !failure.output.is_empty() {
                let _infallible = writeln!(out, "           output: {}", failure.output);
            }
        }
        if all > failures.len() as u64 {
            let _infallible = writeln!(out, "  … and {} more", all - failures.len() as u64);
        }
        for table in self.tables() {
            out.push('\n');
            out.push_str(&aligned(&table));
        }
        Ok(out)
    }

    /// What is reported, line by line.
    pub(super) fn opening(&self) -> Vec<String> {
        let doc = self.doc;
        let mut lines = vec![
            format!("{}: {}@{} {}", one_line(&doc.name, 80), doc.dataset, doc.version, doc.digest),
            format!("run {}, plan {}, {}", doc.id, doc.plan_digest, doc.started_at),
            format!("{}; {} cached", balance_words(doc), doc.cached),
        ];
        if let Some(replay) = &doc.replay {
            lines.push(format!("the data was streamed; replay: {replay}"));
        }
        if let Some(latency) = self.summary.latency {
            let mut line = format!("latency p50 {} ms, p95 {} ms", short(latency.median), short(latency.p95));
            let usage = self.summary.usage;
            if let (Some(read), Some(written)) = (usage.input_tokens, usage.output_tokens) {
                let _infallible = write!(line, "; tokens {read} in, {written} out");
            }
            if let Some(cost) = usage.cost {
                let _infallible = write!(line, "; cost {}", short(cost));
            }
            lines.push(line);
        }
        if let Some(gate) = self.gate.and_then(Value::as_object) {
            let text = |name: &str| gate.get(name).and_then(Value::as_str).unwrap_or_default();
            lines.push(format!("gate: {}: {}", text("verdict"), one_line(text("reason"), 200)));
        }
        lines
    }
}

fn aligned(table: &Table) -> String {
    let widths: Vec<usize> = (0..table.head.len())
        .map(|column| {
            let cells = std::iter::once(&table.head).chain(&table.rows).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for row in std::iter::once(&table.head).chain(&table.rows) {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        // Writing to a String cannot fail.
        let _infallible = writeln!(out, "{}", line.trim_end());
    }
    out
}
