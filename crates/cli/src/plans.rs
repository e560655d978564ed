//! Plans that the user named: read with the files around them, and the dataset they name found or imported.
//!
//! *Invariant:* a dataset that a plan names by a path is imported first, so that every run has a version and a digest.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heldset_core::plan::{DatasetRef, Origin, Plan, file_slug};
use heldset_core::value::Object;
use heldset_dialect::plan::{AccuracyUnit, PlanOptions, read};
use heldset_dialect::{Format, IdRule, ReadOptions};
use heldset_engine::import::{About, ImportRequest, Labelling, import};
use heldset_engine::init::init;
use heldset_engine::ports::Clock;
use heldset_engine::session::Session;
use heldset_store::NoProbe;

use crate::args::Cli;
use crate::commands::import::ImportListener;
use crate::disk::Disk;
use crate::exit::Failure;
use crate::place::{self, FOLDER, System};
use crate::print::{self, Severity};
use crate::sources::NamedFiles;

/// A plan with all around it.
pub(crate) struct NamedPlan {
    pub(crate) plan: Plan,
    /// What was done otherwise than the file may have meant.
    pub(crate) notes: Vec<String>,
    /// The folder of the plan.
    pub(crate) base: PathBuf,
    /// Files that no agent may look into.
    pub(crate) hidden: Vec<PathBuf>,
}

/// What is said about a plan beside it.
#[derive(clap::Args, Default)]
pub(crate) struct PlanArgs {
    /// The target that is run instead of the plan's: a YAML or JSON file
    #[arg(long, value_name = "FILE")]
    target: Option<PathBuf>,
    /// What an accuracy of at most 1 means in a Letta suite
    #[arg(long, value_name = "UNIT", value_parser = ["fraction", "percent"])]
    accuracy_unit: Option<String>,
}

impl PlanArgs {
    fn options(&self) -> Result<PlanOptions, Failure> {
        let accuracy_unit = self.accuracy_unit.as_deref().map(|unit| match unit {
            "percent" => AccuracyUnit::Percent,
            _ => AccuracyUnit::Fraction,
        });
        let target = self.target.as_deref().map(load_target).transpose()?;
        Ok(PlanOptions { accuracy_unit, target, ..PlanOptions::default() })
    }
}

/// Reads a plan; all its faults are told, the last of them as the failure.
pub(crate) fn load(cli: &Cli, path: &Path, args: &PlanArgs) -> Result<NamedPlan, Failure> {
    let options = args.options()?;
    let bytes = fs::read(path).map_err(|error| Failure::open(path, &error))?;
    let name = path.display().to_string();
    let files = Disk::around(path, true);
    let found = match read(&name, &bytes, &files, &options) {
        Ok(found) => found,
        Err(mut faults) => {
            let last = faults.pop();
            let styled = print::styled(cli.color, &io::stderr());
            for fault in faults.iter().filter(|_| !cli.json) {
                let file = fault.file.clone().unwrap_or_else(|| name.clone());
                // Nobody is left to be told when the terminal is gone.
                drop(writeln!(io::stderr(), "{}\n", print::fault::text(&file, fault, Severity::Error, styled)));
            }
            let fault = last.expect("a plan that cannot be read has a fault");
            let file = fault.file.clone().unwrap_or(name);
            return Err(Failure::configuration(&file, fault));
        }
    };
    let base = path.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let base = base.canonicalize().map_err(|error| Failure::open(base, &error))?;
    let named = found.files.iter().map(PathBuf::from).chain([path.to_owned()]).chain(args.target.clone());
    let hidden = named.filter_map(|file| file.canonicalize().ok()).collect();
    Ok(NamedPlan { plan: found.plan, notes: found.notes, base, hidden })
}

fn load_target(path: &Path) -> Result<Object<'static>, Failure> {
    let value = crate::commands::load_document(path)?;
    let found = value.type_name();
    let heldset_core::value::Value::Object(mut target) = value else {
        let message = format!("`{}` is {found}, and a target is a mapping", path.display());
        return Err(Failure::usage(heldset_core::code::Code::E058, message, "write `kind:` and what it needs"));
    };
    // A file with a `target:` in it is a plan, or part of one.
    if let Some(heldset_core::value::Value::Object(inner)) = target.get("target").filter(|_| !target.contains("kind")) {
        target = inner.clone();
    }
    Ok(target)
}

/// The session of a run: at the store that is named or near, or at one that is made beside the plan.
pub(crate) fn session(cli: &Cli, base: &Path) -> Result<Session, Failure> {
    if place::find(cli).is_ok() {
        return place::session(cli);
    }
    let near = base.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
    let folder = near.clone().unwrap_or_else(|| base.join(FOLDER));
    if near.is_none() {
        init(&folder, place::viewer(cli)?, &System, &System.now(), Arc::new(NoProbe))?;
        // Nobody is left to be told when the terminal is gone.
        drop(writeln!(io::stderr(), "note: there was no store; made {}", folder.display()));
    }
    place::session_at(cli, &folder)
}

/// The dataset and version of a plan; one that is named by a path is imported first.
pub(crate) fn dataset(cli: &Cli, session: &Session, found: &mut NamedPlan) -> Result<String, Failure> {
    let path = match &found.plan.dataset {
        DatasetRef::Cite(cite) => return Ok(cite.clone()),
        DatasetRef::Path(path) => found.base.join(path),
    };
    let path = path.canonicalize().map_err(|error| Failure::open(&path, &error))?;
    found.hidden.push(path.clone());
    let slug = file_slug(&path.display().to_string());
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default().to_ascii_lowercase();
    let is_letta = found.plan.origin == Origin::Letta && matches!(suffix.as_str(), "jsonl" | "csv");
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let format = is_letta.then_some(Format::Letta);
    let reading = ReadOptions { format, id: IdRule::Auto, schema: None, threads };
    let (labelling, about) = (Labelling::default(), About::default());
    let request = ImportRequest {
        slug: &slug,
        split: "default",
        reading: &reading,
        labelling: &labelling,
        about: &about,
        keep_valid: false,
    };
    let sources = NamedFiles::new(std::slice::from_ref(&path), false)?;
    let mut listener = ImportListener::new(cli);
    let imported = import(session, &request, &sources, &mut listener)?;
    let Some(committed) = imported.committed else {
        let message = format!("`{}` has faults, so nothing is run", path.display());
        return Err(Failure::faulty(&message));
    };
    Ok(format!("{slug}@{}", committed.version.number))
}

/// The plan of a run, as it was kept.
pub(crate) fn from_value(native: &heldset_core::value::Value<'_>) -> Result<Plan, Failure> {
    let bytes = heldset_core::canonical::bytes(native);
    let options = PlanOptions { keep_names: true, ..PlanOptions::default() };
    let found = read("the plan of the run", &bytes, &heldset_dialect::NoFiles, &options);
    let first = |faults: Vec<heldset_core::fault::Fault>| faults.into_iter().next().expect("a refusal has a fault");
    found.map(|found| found.plan).map_err(|faults| Failure::configuration("the plan of the run", first(faults)))
}
