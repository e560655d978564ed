//! `heldset export`.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use heldset_core::value::{Object, Value};
use heldset_dialect::write::WriteOptions;
use heldset_engine::export::{Export, ExportRequest, export};

use super::convert::{Told, beside, written};
use crate::args::{Cli, target, target_names};
use crate::disk::STDIN;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::json;
use crate::whole;

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The dataset and version, such as `trips@3`
    #[arg(value_name = "SLUG[@V]")]
    cite: String,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_parser = target_names())]
    to: String,
    /// Where to write; standard output when absent
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The split; needed when several can be seen
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Write also what the target cannot carry exactly
    #[arg(long)]
    lossy: bool,
    /// Guard CSV cells that a spreadsheet would take for formulas
    #[arg(long)]
    for_spreadsheet: bool,
    #[command(flatten)]
    goes: super::PlaceArgs,
}

/// Writes records as an audience sees them; nothing appears unless all of it can be written.
pub(crate) fn run(cli: &Cli, args: &ExportArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let output = args.output.as_deref().filter(|path| path.as_os_str() != STDIN);
    let request = ExportRequest {
        cite: &args.cite,
        split: args.split.as_deref(),
        place: args.goes.place()?,
        target: target(&args.to),
        write: WriteOptions { typed: output.is_some(), for_spreadsheet: args.for_spreadsheet },
        lossy: args.lossy,
    };
    whole::clean_up_when_interrupted();
    let temporary = tempfile::tempfile().map_err(|error| Failure::write(&std::env::temp_dir(), &error))?;
    let mut told = Told::of(cli, &args.cite);
    let exported = export(&session, &request, Box::new(temporary), &mut told);
    let first = told.end();
    let exported = exported?;
    match (exported.refused, first) {
        (true, Some(fault)) if cli.json => Err(Failure::invalid(&args.cite, fault)),
        (true, _) => Ok(Exit::Invalid),
        (false, _) => hand_out(cli, exported, output).map(|()| Exit::Fine),
    }
}

fn hand_out(cli: &Cli, mut exported: Export<'_>, output: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = output else {
        exported.keep("standard output")?;
        let mut out = BufWriter::new(io::stdout());
        let written = exported.write_to(&mut out).and_then(|_| out.flush());
        return written.map_err(|error| super::broken(&error));
    };
    let (file, sidecar) = written(path, |out| exported.write_to(out))?;
    let about = exported.keep(&absolute(path))?;
    let text = json::text(&about);
    let about_file = written(&beside(path, ".heldset.json"), |out| writeln!(out, "{text}"))?.0;
    if let Some(schema) = sidecar.schema {
        written(&beside(path, ".schema.json"), |out| out.write_all(&schema))?.0.keep()?;
    }
    about_file.keep()?;
    file.keep()?;
    print(cli, &exported, about, path).map_err(|error| super::broken(&error))
}

fn print(cli: &Cli, exported: &Export<'_>, mut about: Object<'static>, path: &Path) -> io::Result<()> {
    if cli.json {
        about.set("dropped", json::number(exported.dropped));
        about.set("file", Value::from(path.display().to_string()));
        return writeln!(io::stdout(), "{}", json::text(&about));
    }
    if cli.quiet {
        return Ok(());
    }
    let text = |name: &str| about.get(name).map(json::value_text).unwrap_or_default().replace('"', "");
    let (dataset, version, audience) = (text("dataset"), text("version"), text("audience"));
    writeln!(io::stderr(), "{dataset}@{version} for {audience}: {} rows in {}", exported.rows, path.display())
}

/// Where a file is, whoever looks from wherever.
pub(super) fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
