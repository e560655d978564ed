//! Plans of every dialect: experiments of mas-lab, suites of Letta, and our own form.
//!
//! *Invariant:* a plan that was read is complete: the files it names are read into it, except for data and scripts,
//! which are named. All faults of a plan are told, not only the first.

mod datasets;
mod dialects;
mod execution;
mod experiment;
mod gates;
mod graders;
mod letta;
mod letta_target;
mod manifests;
mod overlays;
mod quoting;
mod reader;
mod scenarios;
mod seeds;
mod selection;

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::plan::Plan;
use heldset_core::value::{Object, Value};

use crate::document::Document;
use crate::files::Files;
use dialects::Dialect;
use reader::Reader;

/// How a plan is read.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// What an accuracy of at most 1 means in a suite of Letta.
    pub accuracy_unit: Option<AccuracyUnit>,
    /// Stands for the target that the plan names, which is then not looked for.
    pub target: Option<Object<'static>>,
    /// Prompts and manifests whose files are missing stay named, with a note: for a plan that is translated, not run.
    pub keep_names: bool,
}

/// What an accuracy of at most 1 means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccuracyUnit {
    /// A share of 1, as Letta's documents say.
    Fraction,
    /// A share of 100, as its code had it.
    Percent,
}

/// A plan that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPlan {
    /// The plan.
    pub plan: Plan,
    /// What was done otherwise than the file may have meant.
    pub notes: Vec<String>,
    /// Every file that was read along or is named, the plan itself not included, each by a name to open it from where
    /// the plan's own name was opened: no agent may look into them.
    pub files: Vec<String>,
}

/// Reads a plan in YAML or JSON; `name` is its path, which other paths start from.
pub fn read(name: &str, bytes: &[u8], files: &dyn Files, options: &PlanOptions) -> Result<ReadPlan, Vec<Fault>> {
    let document = parse(bytes).map_err(|fault| vec![quoting::advise(*fault, bytes).in_file(Some(name))])?;
    let mut reader = Reader::new(&document, name, files, options.keep_names);
    reader.faults.extend(document.faults(None).into_iter().map(|fault| fault.in_file(Some(name))));
    let root = document.root();
    let plan = match &root {
        Value::Object(root) => plan_of(&mut reader, root, options),
        other => {
            let message = format!("a plan is a mapping, not {}", other.type_name());
            reader.problem(Problem::new(Code::E051, Path::root(), message).help("see `heldset explain E051`"));
            None
        }
    };
    let Reader { faults, notes, named, .. } = reader;
    match plan {
        Some(plan) if faults.is_empty() => Ok(ReadPlan { plan, notes, files: named }),
        _ => Err(told(faults, name)),
    }
}

/// Faults in the order of the file, those of other files last; a line that holds a secret is not shown.
fn told(mut faults: Vec<Fault>, name: &str) -> Vec<Fault> {
    let of_plan = |fault: &Fault| fault.file.as_deref() == Some(name);
    let line = |fault: &Fault| fault.place.map(|place| place.line);
    let secret: Vec<_> = faults.iter().filter(|fault| fault.code == Code::E057).map(line).collect();
    for fault in faults.iter_mut().filter(|fault| secret.contains(&line(fault))) {
        fault.excerpt = None;
    }
    faults.sort_by_cached_key(|fault| {
        (!of_plan(fault), fault.file.clone(), fault.place.map(|place| (place.line, place.column)))
    });
    faults
}

fn parse(bytes: &[u8]) -> Result<Document, Box<Fault>> {
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    if is_json && let Ok(document) = Document::parse(bytes.to_vec(), false) {
        return Ok(document);
    }
    Document::parse(bytes.to_vec(), true)
}

fn plan_of(reader: &mut Reader<'_>, root: &Object<'_>, options: &PlanOptions) -> Option<Plan> {
    let dialect = match dialects::find(root) {
        Ok(dialect) => dialect,
        Err(problem) => {
            reader.problem(*problem);
            return None;
        }
    };
    let (plan, base) = match dialect {
        Dialect::Letta => (letta::read(reader, root, options), Path::root()),
        Dialect::Native => (experiment::read(reader, root, &Path::root(), Dialect::Native, options), Path::root()),
        Dialect::Lab => {
            let (inner, base) = dialects::lab_body(root);
            (experiment::read(reader, &inner, &base, Dialect::Lab, options), base)
        }
    };
    for problem in plan.problems() {
        let path = problem.path.under(&base);
        reader.problem(Problem { path, ..problem });
    }
    Some(plan)
}
