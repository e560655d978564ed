//! `heldset mount`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::mount::{MountRequest, Mounted, mount};

use super::export::absolute;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::layout::FolderLayout;
use crate::place;
use crate::print::json;

#[derive(Args)]
pub(crate) struct MountArgs {
    /// The dataset and version, such as `trips@3`
    #[arg(value_name = "SLUG@V")]
    cite: String,
    /// The folder; new or empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    goes: super::PlaceArgs,
}

/// Lays out a version as a read-only folder.
pub(crate) fn run(cli: &Cli, args: &MountArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let place = args.goes.place()?;
    let mut layout = FolderLayout::start(&args.folder)?;
    let at = absolute(&args.folder);
    let mounted = mount(&session, &MountRequest { cite: &args.cite, place, at: &at }, &mut layout)?;
    layout.keep()?;
    let out = match cli.json {
        true => text_for_programs(&mounted, session.viewer.name(), &at),
        false => format!("{}@{} is in {at}", mounted.resolved.dataset.slug, mounted.resolved.version.number),
    };
    writeln!(io::stdout(), "{out}").map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn text_for_programs(mounted: &Mounted, audience: &str, at: &str) -> String {
    let split = |(name, label, files, rows): &(String, String, bool, u64)| {
        Value::Object(json::object([
            ("name", Value::from(name.clone())),
            ("label", Value::from(label.clone())),
            ("kind", Value::from(if *files { "files" } else { "records" })),
            ("rows", json::number(*rows)),
        ]))
    };
    let (dataset, version) = (&mounted.resolved.dataset, &mounted.resolved.version);
    json::text(&json::object([
        ("dataset", Value::from(dataset.slug.as_str())),
        ("version", json::number(version.number)),
        ("digest", Value::from(version.digest.as_str())),
        ("audience", Value::from(audience)),
        ("at", Value::from(at)),
        ("splits", Value::Array(mounted.splits.iter().map(split).collect())),
    ]))
}
