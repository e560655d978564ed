//! `heldset migrate`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use heldset_core::code::Code;
use heldset_core::value::{Object, Value};
use heldset_dialect::plan::{AccuracyUnit, PlanOptions};
use heldset_engine::Listener;
use heldset_engine::migrate::{Migrated, migrate};

use super::convert::{Told, written};
use crate::args::Cli;
use crate::disk::{Disk, STDIN};
use crate::exit::{Exit, Failure};
use crate::print::{clean, json};
use crate::whole;

#[derive(Args)]
pub(crate) struct MigrateArgs {
    /// A suite of Letta, an experiment of mas-lab, or a plan of our own
    #[arg(value_name = "SUITE")]
    suite: PathBuf,
    /// Where to write; standard output when absent
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A target that stands for the one of the plan
    #[arg(long, value_name = "FILE")]
    target: Option<PathBuf>,
    /// What an accuracy of at most 1 means in a gate of Letta
    #[arg(long, value_name = "UNIT")]
    accuracy_unit: Option<Unit>,
    /// Follow paths in the plan that lead out of its folder
    #[arg(long)]
    allow_outside: bool,
}

/// What an accuracy of at most 1 means.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    Fraction,
    Percent,
}

impl From<Unit> for AccuracyUnit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Fraction => AccuracyUnit::Fraction,
            Unit::Percent => AccuracyUnit::Percent,
        }
    }
}

/// Prints a plan in its native form.
pub(crate) fn run(cli: &Cli, args: &MigrateArgs) -> Result<Exit, Failure> {
    let name = args.suite.display().to_string();
    let bytes = std::fs::read(&args.suite).map_err(|error| Failure::open(&args.suite, &error))?;
    let target = args.target.as_deref().map(target).transpose()?;
    let options = PlanOptions { accuracy_unit: args.accuracy_unit.map(Unit::into), target, keep_names: true };
    let made = migrate(&name, &bytes, &Disk::around(&args.suite, args.allow_outside), &options);
    let made = match made {
        Ok(made) => made,
        Err(faults) => {
            let mut told = Told::of(cli, &name);
            for fault in &faults {
                // A closed stderr is no reason to go on.
                drop(told.fault(fault));
            }
            return match told.end() {
                Some(fault) if cli.json => Err(Failure::invalid(&name, fault)),
                _ => Ok(Exit::Invalid),
            };
        }
    };
    tell(cli, &notes(args, &made));
    hand_out(cli, args, &made).map(|()| Exit::Fine)
}

/// The target that a file holds.
fn target(path: &Path) -> Result<Object<'static>, Failure> {
    match super::load_document(path)? {
        Value::Object(target) => Ok(target),
        other => {
            let message = format!("`{}` holds {}, not a target", path.display(), other.type_name());
            Err(Failure::usage(Code::E058, message, "a target is a mapping with `kind`"))
        }
    }
}

fn notes(args: &MigrateArgs, made: &Migrated) -> Vec<String> {
    let mut notes = made.notes.clone();
    let folder = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    };
    let output = args.output.as_deref().filter(|path| path.as_os_str() != STDIN);
    if output.is_some_and(|output| folder(output) != folder(&args.suite)) {
        notes.push(format!("paths in the plan start from the folder of `{}`: put it there", args.suite.display()));
    }
    notes
}

fn tell(cli: &Cli, notes: &[String]) {
    for note in notes.iter().filter(|_| !cli.json && !cli.quiet) {
        // A closed stderr is no reason to keep the plan back.
        drop(writeln!(io::stderr(), "note: {}", clean::line(note)));
    }
}

fn hand_out(cli: &Cli, args: &MigrateArgs, made: &Migrated) -> Result<(), Failure> {
    let output = args.output.as_deref().filter(|path| path.as_os_str() != STDIN);
    if let Some(path) = output {
        whole::clean_up_when_interrupted();
        written(path, |out| out.write_all(made.yaml().as_bytes()))?.0.keep()?;
    }
    let text = match (cli.json, output) {
        (true, _) => {
            let notes = notes(args, made).into_iter().map(Value::from).collect();
            json::text(&json::object([("plan", made.plan.clone().into()), ("notes", Value::Array(notes))])) + "\n"
        }
        (false, None) => made.yaml(),
        (false, Some(_)) => return Ok(()),
    };
    io::stdout().write_all(text.as_bytes()).map_err(|error| super::broken(&error))
}
