//! `heldset history`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::history::{Entry, history};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct HistoryArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
}

/// Lists the versions of a dataset.
pub(crate) fn run(cli: &Cli, args: &HistoryArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let entries = history(&session, &args.slug)?;
    let out = match cli.json {
        true => super::list_text(entries.iter().map(value)),
        false => entries.iter().map(line).collect(),
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn line(entry: &Entry) -> String {
    let version = &entry.version;
    let tags: String = entry.tags.iter().map(|tag| format!(" [{tag}]")).collect();
    let message = version.message.as_deref().map_or_else(String::new, |message| format!("  {}", clean::line(message)));
    let (number, time, digest, rows) = (version.number, &version.created_at, &version.digest, entry.rows);
    format!("{number}  {time}  {digest}  {rows} rows{tags}{message}\n")
}

fn value(entry: &Entry) -> Value<'_> {
    let version = &entry.version;
    let texts = |texts: &'_ [String]| Value::Array(texts.iter().map(|text| Value::from(text.clone())).collect());
    let members = json::object([
        ("version", json::number(version.number)),
        ("digest", Value::from(version.digest.as_str())),
        ("created_at", Value::from(version.created_at.as_str())),
        ("message", json::optional(version.message.as_deref())),
        ("rows", json::number(entry.rows)),
        ("tags", texts(&entry.tags)),
        ("mode", Value::from(version.mode.as_str())),
        ("parents", texts(&version.parents)),
        ("created_by", Value::from(version.created_by.as_str())),
        ("declassified", json::optional(version.declassified.as_deref())),
    ]);
    Value::Object(members)
}
