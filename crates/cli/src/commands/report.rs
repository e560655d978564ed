//! `heldset report`.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::report::{Form, Report, ReportRequest, report};

use super::export::absolute;
use crate::args::Cli;
use crate::disk::STDIN;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::json;
use crate::whole::{self, WholeFile};

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// The run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// What to write (default: text, or json with `--json`)
    #[arg(long, value_name = "FORM", value_parser = ["text", "json", "md", "html", "csv", "jsonl"])]
    to: Option<String>,
    /// Where to write; standard output when absent
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    goes: super::PlaceArgs,
}

/// Writes the results of a run; a file appears whole or not at all.
pub(crate) fn run(cli: &Cli, args: &ReportArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let output = args.output.as_deref().filter(|path| path.as_os_str() != STDIN);
    let usual = if cli.json && output.is_none() { Form::Json } else { Form::Text };
    let form = args.to.as_deref().and_then(Form::parse).unwrap_or(usual);
    let request = ReportRequest { run: &args.run, form, place: args.goes.place()? };
    let made = report(&session, &request)?;
    match output {
        Some(path) => to_file(cli, &made, path),
        None => to_stdout(&made, args.to.is_some()),
    }
}

fn to_stdout(made: &Report<'_>, asked: bool) -> Result<Exit, Failure> {
    // What somebody asked for in a form is rather kept than looked at.
    if asked {
        made.keep("standard output")?;
    }
    let mut out = BufWriter::new(io::stdout());
    made.write_to(&mut out)?;
    out.flush().map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn to_file(cli: &Cli, made: &Report<'_>, path: &Path) -> Result<Exit, Failure> {
    whole::clean_up_when_interrupted();
    let mut file = WholeFile::create(path)?;
    let mut out = BufWriter::new(&mut file);
    made.write_to(&mut out)?;
    out.flush().map_err(|error| Failure::write(path, &error))?;
    drop(out);
    made.keep(&absolute(path))?;
    file.keep()?;
    let doc = made.doc();
    let shown = path.display().to_string();
    let said = match (cli.json, cli.quiet) {
        (true, _) => {
            let value = json::object([
                ("run", Value::from(doc.id.as_str())),
                ("dataset", Value::from(doc.dataset.as_str())),
                ("version", json::number(doc.version)),
                ("digest", Value::from(doc.digest.as_str())),
                ("rows", json::number(doc.balance.planned)),
                ("file", Value::from(shown)),
            ]);
            writeln!(io::stdout(), "{}", json::text(&value))
        }
        (false, false) => writeln!(io::stderr(), "run {}: {} rows in {shown}", doc.id, doc.balance.planned),
        (false, true) => Ok(()),
    };
    said.map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}
