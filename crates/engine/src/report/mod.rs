//! `report`: the results of a run for people, spreadsheets and programs.
//!
//! *Invariant:* every form names dataset, version, digest, run, plan and balance; only who may see scores gets one, and
//! one that leaves as a file is on record before it has its name.

mod csv;
mod html;
mod markdown;
mod plot;
mod rows;
mod table;
mod text;

pub(crate) use markdown::cell;
pub(crate) use rows::{head as run_head, row as row_value};
pub(crate) use table::one_line;

use std::io::Write;

use heldset_core::canonical;
use heldset_core::value::Value;
use heldset_core::visibility::Place;
use heldset_store::run::RunDoc;

use crate::cat::unwritten;
use crate::copies;
use crate::refusal::Outcome;
use crate::results::{Row, RunResults};
use crate::session::Session;
use crate::summary::{Summary, Tally};

/// What is reported, and how.
pub struct ReportRequest<'r> {
    /// The run.
    pub run: &'r str,
    /// In which form.
    pub form: Form,
    /// The kind of place it goes to; the usual one of the audience when absent.
    pub place: Option<Place>,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tables for a terminal.
    Text,
    /// One document for programs.
    Json,
    /// Markdown.
    Markdown,
    /// One page with plots.
    Html,
    /// A row for each session, for spreadsheets.
    Csv,
    /// A row for each session, for programs.
    Jsonl,
}

impl Form {
    /// Every form with its name.
    pub const ALL: [(Form, &'static str); 6] = [
        (Form::Text, "text"),
        (Form::Json, "json"),
        (Form::Markdown, "md"),
        (Form::Html, "html"),
        (Form::Csv, "csv"),
        (Form::Jsonl, "jsonl"),
    ];

    /// The form of that name.
    pub fn parse(name: &str) -> Option<Form> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(form, _)| *form)
    }
}

/// A report that can be written.
pub struct Report<'s> {
    session: &'s Session,
    results: RunResults<'s>,
    summary: Summary,
    gate: Option<Value<'static>>,
    form: Form,
    place: Place,
}

/// What a report is made from.
pub(crate) struct Sheet<'s> {
    pub(crate) doc: &'s RunDoc,
    pub(crate) summary: &'s Summary,
    /// What the gate said when the run ended.
    pub(crate) gate: Option<&'s Value<'static>>,
    /// Hands out all rows, as often as it is asked.
    pub(crate) each: &'s Each<'s>,
}

/// Hands out all rows.
pub(crate) type Each<'e> = dyn Fn(&mut dyn FnMut(&Row) -> Outcome<()>) -> Outcome<()> + 'e;

/// Reads the results of a run.
pub fn report<'s>(session: &'s Session, request: &ReportRequest<'_>) -> Outcome<Report<'s>> {
    let results = RunResults::open(session, request.run, "report")?;
    let place = request.place.unwrap_or_else(|| session.viewer.place());
    copies::may_travel(session, &results.doc, place)?;
    let mut tally = Tally::new();
    results.each(|row| {
        tally.add(&row);
        Ok(())
    })?;
    let summary = tally.finish(results.doc.primary.as_deref(), None, None);
    let kept = results.summary()?;
    let gate = kept.as_ref().and_then(|kept| kept.as_object()?.get("gate")).filter(|gate| !gate.is_null()).cloned();
    Ok(Report { session, results, summary, gate, form: request.form, place })
}

impl Report<'_> {
    /// The run.
    pub fn doc(&self) -> &RunDoc {
        &self.results.doc
    }

    /// Puts it on record that the results leave the store.
    pub fn keep(&self, at: &str) -> Outcome<()> {
        copies::keep_results(self.session, &self.results.doc, "report", self.place, at).map(|_| ())
    }

    /// Writes it.
    pub fn write_to(&self, out: &mut dyn Write) -> Outcome<()> {
        let each = |take: &mut dyn FnMut(&Row) -> Outcome<()>| self.results.each(|row| take(&row));
        let sheet = Sheet { doc: &self.results.doc, summary: &self.summary, gate: self.gate.as_ref(), each: &each };
        sheet.write(self.form, out)
    }
}

impl Sheet<'_> {
    /// Writes the report in a form.
    pub(crate) fn write(&self, form: Form, out: &mut dyn Write) -> Outcome<()> {
        match form {
            Form::Text => put(out, &self.text()?),
            Form::Json => self.json(out),
            Form::Markdown => self.markdown(out),
            Form::Html => self.html(out),
            Form::Csv => self.csv(out),
            Form::Jsonl => self.jsonl(out),
        }
    }

    fn json(&self, out: &mut dyn Write) -> Outcome<()> {
        let mut head = rows::head(self.doc);
        if let Value::Object(summary) = self.summary.to_value() {
            summary.into_iter().for_each(|(name, value)| head.set(name, value));
        }
        head.set("gate", self.gate.cloned().unwrap_or(Value::Null));
        let mut text = Vec::new();
        canonical::write_entries(head.iter(), &mut text);
        // The rows come as they are read.
        text.pop();
        text.extend_from_slice(b",\"rows\":[");
        let mut first = true;
        (self.each)(&mut |row| {
            if !std::mem::take(&mut first) {
                text.push(b',');
            }
            canonical::write_entries(rows::row(row).iter(), &mut text);
            put_bytes(out, &mut text)
        })?;
        text.extend_from_slice(b"]}\n");
        put_bytes(out, &mut text)
    }

    fn jsonl(&self, out: &mut dyn Write) -> Outcome<()> {
        let head = rows::head(self.doc);
        let mut text = Vec::new();
        (self.each)(&mut |row| {
            let mut line = rows::row(row);
            head.iter().for_each(|(name, value)| line.set(name.to_owned(), value.clone()));
            canonical::write_entries(line.iter(), &mut text);
            text.push(b'\n');
            put_bytes(out, &mut text)
        })
    }
}

fn put(out: &mut dyn Write, text: &str) -> Outcome<()> {
    out.write_all(text.as_bytes()).map_err(|error| unwritten(&error))
}

fn put_bytes(out: &mut dyn Write, bytes: &mut Vec<u8>) -> Outcome<()> {
    out.write_all(bytes).map_err(|error| unwritten(&error))?;
    bytes.clear();
    Ok(())
}

#[cfg(test)]
mod tests;
