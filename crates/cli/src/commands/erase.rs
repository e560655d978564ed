//! `heldset erase`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::erase::{Erased, Erasure, erase};
use heldset_store::documents::CopyDoc;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct EraseArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
    /// The id of the record
    #[arg(value_name = "ID")]
    id: String,
    /// Only in this split (default: in all)
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Why; kept in the audit log
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Erase a record from all versions.
pub(crate) fn run(cli: &Cli, args: &EraseArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let (slug, id, split) = (args.slug.as_str(), args.id.as_str(), args.split.as_deref());
    let erased = erase(&session, &Erasure { slug, id, split, reason: &args.reason })?;
    let out = if cli.json { json_text(args, &erased) } else { text(cli, args, &erased) };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn json_text(args: &EraseArgs, erased: &Erased) -> String {
    let copy = |(name, copy): &(String, CopyDoc)| {
        Value::Object(json::object([
            ("copy", Value::from(name.clone())),
            ("kind", Value::from(copy.kind.clone())),
            ("owner", Value::from(copy.owner.clone())),
            ("at", Value::from(copy.at.clone())),
            ("version", json::number(copy.version)),
            ("state", Value::from("outstanding")),
        ]))
    };
    let derived = |(slug, number): &(String, u64)| Value::from(format!("{slug}@{number}"));
    let object = json::object([
        ("dataset", Value::from(args.slug.as_str())),
        ("id", Value::from(args.id.as_str())),
        ("rows", json::number(erased.rows)),
        ("splits", Value::Array(erased.splits.iter().map(|split| Value::from(split.as_str())).collect())),
        ("versions", Value::Array(erased.versions.iter().map(|number| json::number(*number)).collect())),
        ("copies", Value::Array(erased.copies.iter().map(copy).collect())),
        ("derived", Value::Array(erased.derived.iter().map(derived).collect())),
        ("runs", Value::Array(erased.runs.iter().map(|run| Value::from(run.as_str())).collect())),
    ]);
    format!("{}\n", json::text(&object))
}

fn text(cli: &Cli, args: &EraseArgs, erased: &Erased) -> String {
    let mut out = String::new();
    if !cli.quiet {
        let numbers: Vec<String> = erased.versions.iter().map(u64::to_string).collect();
        out = format!(
            "erased `{}` from {} (versions {}); its leaf stays, so old digests verify\n",
            clean::line(&args.id),
            args.slug,
            numbers.join(", ")
        );
    }
    for (_, copy) in &erased.copies {
        let (kind, at, owner) = (&copy.kind, clean::line(&copy.at), clean::line(&copy.owner));
        out.push_str(&format!("must act: the {kind} at {at} of {owner}, version {}\n", copy.version));
    }
    for (slug, number) in &erased.derived {
        out.push_str(&format!("must act: {slug}@{number} comes from it\n"));
    }
    for run in &erased.runs {
        out.push_str(&format!("must act: the results of run {run} may quote it\n"));
    }
    out
}
