//! `heldset register`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use heldset_core::declaration::Declaration;
use heldset_core::value::{Object, Value};
use heldset_dialect::{IdRule, ReadOptions, Report};
use heldset_engine::Listener;
use heldset_engine::register::{Change, RegisterRequest, Registered, RegisteredSplit, register};

use super::import::ImportListener;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::json;
use crate::shelf::DiskShelf;

#[derive(Args)]
pub(crate) struct RegisterArgs {
    /// The declaration of the dataset, in YAML or JSON
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// What the version is about
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Why more audiences may see something than before
    #[arg(long, value_name = "REASON")]
    declassify: Option<String>,
}

/// Registers a dataset from its declaration.
pub(crate) fn run(cli: &Cli, args: &RegisterArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    session.must_manage("register")?;
    let mut listener = ImportListener::new(cli);
    let declaration = declaration(args, &mut listener)?;
    let shelf = DiskShelf::of(&args.file, &declaration);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let reading = ReadOptions { format: None, id: IdRule::Auto, schema: None, threads };
    let request = RegisterRequest {
        declaration: &declaration,
        shelf: &shelf,
        reading: &reading,
        message: args.message.clone(),
        declassify: args.declassify.clone(),
        dry_run: args.dry_run,
    };
    listener.start(cli, &declaration.slug, None);
    let done = register(&session, &request, &mut listener);
    listener.finish();
    let done = done?;
    let text = match cli.json {
        true => json::text(&object(args, &declaration, &done, &listener)),
        false => text(args, &declaration, &done),
    };
    writeln!(io::stdout(), "{text}").map_err(|error| super::broken(&error))?;
    Ok(if done.change.is_none() { Exit::Invalid } else { Exit::Fine })
}

fn declaration(args: &RegisterArgs, listener: &mut ImportListener) -> Result<Declaration, Failure> {
    let value = super::load_document(&args.file)?;
    let name = args.file.display().to_string();
    Declaration::from_value(&value).map_err(|mut problems| {
        let last = problems.pop();
        for problem in problems {
            // A closed stderr is no reason to go on.
            drop(listener.fault(&problem.of_file().in_file(Some(&name))));
        }
        let unknown = || {
            heldset_core::fault::Problem::new(
                heldset_core::code::Code::E021,
                heldset_core::path::Path::root(),
                "the declaration cannot be read",
            )
        };
        Failure::invalid(&name, last.unwrap_or_else(unknown).of_file())
    })
}

fn object(
    args: &RegisterArgs,
    declared: &Declaration,
    done: &Registered,
    listener: &ImportListener,
) -> Object<'static> {
    let count = |of: fn(&Report) -> u64| json::number(done.reports.iter().map(of).sum::<u64>());
    let mut report = json::object([
        ("read", count(|report| report.read)),
        ("kept", count(|report| report.kept)),
        ("refused", count(|report| report.refused)),
        ("dropped", json::number(0)),
    ]);
    report.set("files", Value::Array(done.reports.iter().map(|report| json::report(report, 0).into()).collect()));
    let split = |split: &RegisteredSplit| {
        Value::Object(json::object([
            ("name", Value::from(split.name.clone())),
            ("label", Value::from(split.label.clone())),
            ("rows", json::number(split.rows)),
            ("kind", Value::from(if split.files { "files" } else { "records" })),
        ]))
    };
    let digest = done.committed.as_ref().map_or(Value::Null, |done| Value::from(done.version.digest.clone()));
    let mut object = json::object([
        ("dataset", Value::from(declared.slug.clone())),
        ("version", done.version.map_or(Value::Null, json::number)),
        ("digest", digest),
        ("created", Value::Bool(done.committed.as_ref().is_some_and(|committed| committed.created))),
        ("dry_run", Value::Bool(args.dry_run)),
        ("change", done.change.map_or(Value::Null, |change| Value::from(change_name(change)))),
        ("splits", Value::Array(done.splits.iter().map(split).collect())),
        ("report", report.into()),
    ]);
    if done.change.is_none() {
        object.set("faults", Value::Array(listener.faults.clone()));
    }
    object
}

fn change_name(change: Change) -> &'static str {
    match change {
        Change::NewDataset => "new dataset",
        Change::NewVersion => "new version",
        Change::Description => "description",
        Change::Nothing => "nothing",
    }
}

fn text(args: &RegisterArgs, declared: &Declaration, done: &Registered) -> String {
    let Some(change) = done.change else {
        return "nothing was registered: mend the rows above".to_owned();
    };
    let (slug, version) = (&declared.slug, done.version.unwrap_or_default());
    let mut out = match (&done.committed, change) {
        (Some(done), Change::NewDataset | Change::NewVersion) => format!("{slug}@{version} {}", done.version.digest),
        (Some(done), Change::Description) => {
            format!("{slug}@{version} {} (same content, described anew)", done.version.digest)
        }
        (Some(done), Change::Nothing) => {
            format!("{slug}@{version} {} (same content, no new version)", done.version.digest)
        }
        (None, Change::Nothing) => format!("{slug}@{version} stays as it is"),
        (None, change) => format!("{slug}@{version} would be: {}", change_name(change)),
    };
    if args.dry_run || done.committed.as_ref().is_some_and(|done| done.created) {
        for split in &done.splits {
            let what = if split.files { "files" } else { "rows" };
            // Writing to a String cannot fail.
            let _infallible = write!(out, "\n  {}  {}  {} {what}", split.name, split.label, split.rows);
        }
    }
    out
}
