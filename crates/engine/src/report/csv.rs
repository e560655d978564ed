//! A report as CSV by RFC 4180: one line for each session.
//!
//! *Invariant:* every cell reads back to its text, whatever is in it.

use std::io::Write;

use heldset_core::value::Value;

use super::{Sheet, put};
use crate::refusal::Outcome;
use crate::results::{Row, balance_words};
use crate::summary::plain;

const FIRST: [&str; 5] = ["id", "scenario", "repeat", "outcome", "reason"];
const LAST: [&str; 18] = [
    "output",
    "run_ms",
    "queue_ms",
    "model_ms",
    "input_tokens",
    "output_tokens",
    "cost",
    "retries",
    "cached",
    "category",
    "labels",
    "run",
    "dataset",
    "version",
    "digest",
    "plan_digest",
    "balance",
    "session_id",
];

impl Sheet<'_> {
    /// Writes the report as CSV.
    pub(super) fn csv(&self, out: &mut dyn Write) -> Outcome<()> {
        let metrics: Vec<&str> = self.summary.metrics.iter().map(|metric| metric.name.as_str()).collect();
        let mut names: Vec<String> = FIRST.iter().map(|name| (*name).to_owned()).collect();
        for metric in &metrics {
            names.extend(["score", "pass", "rationale"].map(|what| format!("{metric}.{what}")));
        }
        names.extend(LAST.iter().map(|name| (*name).to_owned()));
        put(out, &line(&names))?;
        (self.each)(&mut |row| put(out, &line(&self.cells(row, &metrics))))
    }

    fn cells(&self, row: &Row, metrics: &[&str]) -> Vec<String> {
        let doc = self.doc;
        let mut cells = vec![
            row.record_id.clone(),
            row.scenario.clone(),
            row.repeat.to_string(),
            row.outcome.name().to_owned(),
            row.reason.clone().unwrap_or_default(),
        ];
        for metric in metrics {
            let score = row.scores.iter().find(|score| score.name == *metric);
            let text = |value: Option<String>| value.unwrap_or_default();
            cells.push(text(score.and_then(|score| score.score).map(|value| value.to_string())));
            cells.push(text(score.and_then(|score| score.pass).map(|pass| pass.to_string())));
            cells.push(text(score.and_then(|score| score.rationale.clone().or_else(|| score.problem.clone()))));
        }
        cells.push(row.output.as_ref().map(plain).unwrap_or_default());
        cells.extend([row.run_ms, row.queue_ms, row.model_ms].map(|time| time.to_string()));
        let usage = row.usage.as_ref().and_then(Value::as_object);
        let used = |name: &str| usage.and_then(|usage| usage.get(name)).map(plain).unwrap_or_default();
        cells.extend(["input_tokens", "output_tokens", "cost"].map(used));
        cells.push(row.retries.to_string());
        cells.push(row.cached.is_some().to_string());
        cells.push(row.category.clone().unwrap_or_default());
        cells.push(if row.labels.is_empty() { String::new() } else { plain(&Value::Object(row.labels.clone())) });
        cells.extend([doc.id.clone(), doc.dataset.clone(), doc.version.to_string(), doc.digest.clone()]);
        cells.extend([doc.plan_digest.clone(), balance_words(doc), row.session_id.clone()]);
        cells
    }
}

fn line(cells: &[String]) -> String {
    let quoted = |cell: &String| match cell.contains([',', '"', '\n', '\r']) || cell.trim() != cell {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}
