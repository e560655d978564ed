//! `heldset prepare`.

mod asked;
mod told;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::prepare::{Preparation, TargetFormat, read};
use heldset_core::value::{Object, Value};
use heldset_dialect::write::WriteOptions;
use heldset_engine::export::{ExportRequest, export};
use heldset_engine::prepare::{PrepareRequest, Prepared, prepare, recorded};
use heldset_engine::session::Session;

use super::convert::{Told, beside, written};
use crate::args::{Cli, target};
use crate::disk::STDIN;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{self, Severity, json};
use crate::whole;

#[derive(Args)]
pub(crate) struct PrepareArgs {
    /// The dataset and version, such as `trips@3`
    #[arg(value_name = "SLUG[@V]", required_unless_present = "show")]
    cite: Option<String>,
    /// The preparation, in YAML or JSON; `-` is standard input. Options are laid over it
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The dataset that is made, or gets a new version (default: `<slug>-prepared`)
    #[arg(long, value_name = "SLUG")]
    to: Option<String>,
    /// Also write the records to a file; with several splits one for each: `out.train.jsonl`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What the file is: json, jsonl, csv, parquet (default: by its name)
    #[arg(long, value_name = "FORMAT")]
    target_format: Option<String>,
    /// Write the file also if the format cannot carry all of it exactly
    #[arg(long)]
    lossy: bool,
    #[command(flatten)]
    asked: asked::Asked,
    /// Only records that this means, as JSON: `{"field","operator","value"}`; may be repeated
    #[arg(long, value_name = "JSON")]
    filter: Vec<String>,
    /// What is new
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Why more audiences may see something; logged, and kept with the version
    #[arg(long, value_name = "REASON")]
    declassify: Option<String>,
    /// Print what is on record of a preparation: its rules, and the ids it left out
    #[arg(long, value_name = "ID", conflicts_with_all = ["cite", "file", "to", "output"])]
    show: Option<String>,
    #[command(flatten)]
    goes: super::PlaceArgs,
}

/// Makes a dataset of what is seen of another.
pub(crate) fn run(cli: &Cli, args: &PrepareArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    if let Some(id) = &args.show {
        return show(cli, &session, id);
    }
    let start = Instant::now();
    let preparation = preparation(cli, args)?;
    let cite = args.cite.as_deref().unwrap_or_default();
    let request = PrepareRequest {
        cite,
        preparation: &preparation,
        to: args.to.as_deref(),
        message: args.message.clone(),
        declassify: args.declassify.clone().filter(|reason| !reason.trim().is_empty()),
        place: args.goes.place()?,
        product: env!("CARGO_PKG_VERSION"),
    };
    if let Some(path) = args.output.as_deref() {
        check_output(path)?;
    }
    let mut listener = Told::of(cli, cite);
    let prepared = prepare(&session, &request, &mut listener);
    listener.end();
    let prepared = prepared?;
    let (files, exit) = match args.output.as_deref() {
        Some(path) => write(cli, args, &session, &preparation, &prepared, path)?,
        None => (Vec::new(), Exit::Fine),
    };
    told::tell(cli, &prepared);
    let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let text = match cli.json {
        true => json::text(&told::object(&prepared, &files, milliseconds)) + "\n",
        false => told::text(cli, &prepared, &files),
    };
    io::stdout().write_all(text.as_bytes()).map(|()| exit).map_err(|error| super::broken(&error))
}

/// Refuses an output that cannot be written, before anything is made.
fn check_output(path: &std::path::Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let why = match () {
        () if path.as_os_str() == STDIN => "a preparation writes a file for each split, not standard output",
        () if path.is_dir() => "it is a folder",
        () if !folder.is_dir() => "its folder is not there",
        () => return Ok(()),
    };
    let message = format!("`{}` cannot be written: {why}", path.display());
    Err(Failure::usage(Code::E104, message, "name a file in a folder that is there"))
}

/// The preparation of the file, with the options laid over it.
fn preparation(cli: &Cli, args: &PrepareArgs) -> Result<Preparation, Failure> {
    let name = args.file.as_ref().map_or_else(|| "options".to_owned(), |path| path.display().to_string());
    let mut value = match args.file.as_deref() {
        Some(path) if path.as_os_str() == STDIN => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::open(path, &error))?;
            let read = heldset_dialect::read_document(&bytes);
            read.map_err(|fault| Failure::configuration("standard input", *fault))?
        }
        Some(path) => {
            let bytes = std::fs::read(path).map_err(|error| Failure::open(path, &error))?;
            heldset_dialect::read_document(&bytes).map_err(|fault| Failure::configuration(&name, *fault))?
        }
        None => Value::Object(Object::new()),
    };
    if let Value::Object(object) = &mut value {
        args.asked.lay_over(object)?;
        asked::filters(object, &args.filter)?;
        if let Some(format) = &args.target_format {
            object.set("target_format", Value::from(format.clone()));
        }
    }
    read(&value).map_err(|problems| refused(cli, &name, problems))
}

/// All that is wrong, the last of it as the failure.
fn refused(cli: &Cli, name: &str, problems: Vec<Problem>) -> Failure {
    let mut faults: Vec<Fault> = problems.into_iter().map(Problem::of_file).collect();
    let Some(mut last) = faults.pop() else { return Failure::faulty("the preparation has faults") };
    if cli.json && !faults.is_empty() {
        let messages: Vec<&str> = faults.iter().chain([&last]).map(|fault| fault.message.as_str()).collect();
        last.message = messages.join("; ");
        last.field = faults.first().and_then(|first| first.field.clone());
    } else {
        let styled = print::styled(cli.color, &io::stderr());
        for fault in &faults {
            // Nobody is left to be told when the terminal is gone.
            drop(writeln!(io::stderr(), "{}\n", print::fault::text(name, fault, Severity::Error, styled)));
        }
    }
    Failure::configuration(name, last)
}

/// Writes the records that were prepared, each split to a file of its own if there are several.
fn write(
    cli: &Cli,
    args: &PrepareArgs,
    session: &Session,
    preparation: &Preparation,
    prepared: &Prepared,
    path: &Path,
) -> Result<(Vec<String>, Exit), Failure> {
    let by_name = || TargetFormat::named(path.extension()?.to_str()?);
    let format = preparation.target_format.or_else(by_name).unwrap_or(TargetFormat::Jsonl);
    let cite = format!("{}@{}", prepared.committed.dataset.slug, prepared.committed.version.number);
    let (mut files, several) = (Vec::new(), prepared.splits.len() > 1);
    whole::clean_up_when_interrupted();
    for (split, ..) in &prepared.splits {
        let file = if several { named_after(path, split) } else { path.to_owned() };
        let request = ExportRequest {
            cite: &cite,
            split: Some(split),
            place: args.goes.place()?,
            target: target(format.name()),
            write: WriteOptions { typed: true, for_spreadsheet: false },
            lossy: args.lossy,
        };
        let temporary = tempfile::tempfile().map_err(|error| Failure::write(&std::env::temp_dir(), &error))?;
        let mut told = Told::of(cli, &cite);
        let exported = export(session, &request, Box::new(temporary), &mut told);
        let first = told.end();
        let mut exported = exported?;
        if exported.refused {
            return match first {
                Some(fault) if cli.json => Err(Failure::invalid(&cite, fault)),
                _ => Ok((files, Exit::Invalid)),
            };
        }
        let (whole, sidecar) = written(&file, |out| exported.write_to(out))?;
        let about = json::text(&exported.keep(&super::export::absolute(&file))?);
        written(&beside(&file, ".heldset.json"), |out| writeln!(out, "{about}"))?.0.keep()?;
        if let Some(schema) = sidecar.schema {
            written(&beside(&file, ".schema.json"), |out| out.write_all(&schema))?.0.keep()?;
        }
        whole.keep()?;
        files.push(file.display().to_string());
    }
    Ok((files, Exit::Fine))
}

/// `out.jsonl` for split `train` is `out.train.jsonl`.
fn named_after(path: &Path, split: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}.{split}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{split}"),
    };
    path.with_file_name(name)
}

fn show(cli: &Cli, session: &Session, id: &str) -> Result<Exit, Failure> {
    let found = recorded(session, id)?;
    let mut object = json::object([
        ("preparation_id", Value::from(found.doc.id)),
        ("dataset", Value::from(found.doc.dataset)),
        ("audience", Value::from(found.doc.audience)),
        ("time", Value::from(found.doc.time)),
        ("who", Value::from(found.doc.who)),
    ]);
    if let Value::Object(record) = found.record {
        record.into_iter().for_each(|(name, value)| object.set(name, value));
    }
    let text = if cli.json { json::text(&object) + "\n" } else { told::shown(&object) };
    io::stdout().write_all(text.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}
