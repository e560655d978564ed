//! A report as Markdown: the tables, what did not pass, and a table of all rows.
//!
//! *Invariant:* no text of a row can end its cell or become markup.

use std::io::Write;

use super::table::{Table, one_line, place, why};
use super::text::LISTED;
use super::{Sheet, put};
use crate::refusal::Outcome;
use crate::summary::{plain, short};

/// How many rows are listed.
const ROWS: usize = 5_000;

impl Sheet<'_> {
    /// Writes the report as Markdown.
    pub(super) fn markdown(&self, out: &mut dyn Write) -> Outcome<()> {
        put(out, &format!("# {}\n\n", cell(&self.doc.name)))?;
        for line in self.opening() {
            put(out, &format!("- {}\n", cell(&line)))?;
        }
        let (failures, all) = self.failures(LISTED)?;
        if all > 0 {
            put(out, &format!("\n## Not passed: {all}\n\n"))?;
        }
        for failure in &failures {
            let (id, outcome) = (cell(&failure.id), failure.outcome.name());
            put(out, &format!("- **{outcome}** {id} ({}): {}\n", cell(&failure.place), cell(&failure.why)))?;
        }
        if all > failures.len() as u64 {
            put(out, &format!("- … and {} more\n", all - failures.len() as u64))?;
        }
        for table in self.tables() {
            put(out, &format!("\n## {}\n\n{}", capital(table.title), pipes(&table)))?;
        }
        self.all_rows(out)
    }

    fn all_rows(&self, out: &mut dyn Write) -> Outcome<()> {
        put(out, "\n## Rows\n\n| id | scenario | outcome | scores | output | ms | cached | reason |\n")?;
        put(out, "|---|---|---|---|---|---|---|---|\n")?;
        let mut listed = 0;
        (self.each)(&mut |row| {
            listed += 1;
            if listed > ROWS {
                return Ok(());
            }
            let score =
                |score: &crate::results::Score| format!("{} {}", score.name, score.score.map_or("–".to_owned(), short));
            let scores: Vec<String> = row.scores.iter().map(score).collect();
            let output = row.output.as_ref().map(|output| one_line(&plain(output), 200)).unwrap_or_default();
            let cells = [
                one_line(&row.record_id, 200),
                place(row),
                row.outcome.name().to_owned(),
                scores.join(", "),
                output,
                short(row.run_ms),
                if row.cached.is_some() { "cached" } else { "" }.to_owned(),
                if row.outcome == crate::results::RowOutcome::Pass { String::new() } else { why(row) },
            ];
            put(out, &line(&cells))
        })?;
        match listed > ROWS {
            true => put(out, &format!("\n… and {} more: see `--to jsonl`\n", listed - ROWS)),
            false => Ok(()),
        }
    }
}

fn pipes(table: &Table) -> String {
    let mut out = line(&table.head);
    out.push_str(&format!("|{}\n", "---|".repeat(table.head.len())));
    table.rows.iter().for_each(|row| out.push_str(&line(row)));
    out
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Text that is nothing but text, in a cell of a table.
pub(crate) fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
