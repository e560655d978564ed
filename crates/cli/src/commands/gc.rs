//! `heldset gc`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::gc::{Collected, gc};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct GcArgs {
    /// Say what would be dropped, and drop nothing
    #[arg(long)]
    dry_run: bool,
}

/// Drop what nothing refers to.
pub(crate) fn run(cli: &Cli, args: &GcArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let collected = gc(&session, args.dry_run)?;
    let out = if cli.json { json_text(&collected, args.dry_run) } else { text(&collected, cli.quiet, args.dry_run) };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn json_text(collected: &Collected, dry_run: bool) -> String {
    let cite = |slug: &str, number: u64| Value::from(format!("{slug}@{number}"));
    let dropped = collected.dropped_versions.iter().map(|(slug, number)| cite(slug, *number));
    let kept = collected.kept.iter().map(|(slug, number, why)| {
        Value::Object(json::object([("version", cite(slug, *number)), ("why", Value::from(why.as_str()))]))
    });
    let object = json::object([
        ("dry_run", Value::Bool(dry_run)),
        ("dropped_objects", json::number(collected.dropped_objects)),
        ("freed_bytes", json::number(collected.freed_bytes)),
        ("dropped_versions", Value::Array(dropped.collect())),
        ("kept", Value::Array(kept.collect())),
        ("merged_packs", json::number(collected.merged_packs)),
    ]);
    format!("{}\n", json::text(&object))
}

fn text(collected: &Collected, quiet: bool, dry_run: bool) -> String {
    let mut out = String::new();
    let verb = if dry_run { "would drop" } else { "dropped" };
    for (slug, number) in &collected.dropped_versions {
        out.push_str(&format!("{verb} {slug}@{number}: past its time\n"));
    }
    for (slug, number, why) in &collected.kept {
        out.push_str(&format!("kept {slug}@{number}: {}\n", clean::line(why)));
    }
    if !quiet {
        let (objects, bytes) = (collected.dropped_objects, collected.freed_bytes);
        out.push_str(&format!("{verb} {objects} objects, {bytes} bytes\n"));
        if collected.merged_packs > 0 {
            out.push_str(&format!("merged {} small packs\n", collected.merged_packs));
        }
    }
    out
}
