//! Files that items name: loaded through the port, read once, with their digests noted.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashMap;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::value::Value;

use crate::detect::{self, Shape};
use crate::document::Document;
use crate::files::Loaded;
use crate::map::Notes;
use crate::report::FileUse;

/// The files that the items of one dataset name.
#[derive(Default)]
pub(super) struct SideFiles(Mutex<HashMap<String, Arc<Side>>>);

/// One such file.
pub(super) struct Side {
    used: FileUse,
    document: Result<Document, Box<Fault>>,
    root: OnceLock<Value<'static>>,
    seeds: OnceLock<Result<Value<'static>, Vec<Problem>>>,
}

impl SideFiles {
    /// The file that the field at `at` names; `None` when the problem has been told.
    pub(super) fn open(&self, path: &str, at: &Path, notes: &mut Notes<'_>) -> Option<Arc<Side>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let side = match known.get(path) {
            Some(side) => Arc::clone(side),
            None => {
                let side = Arc::new(Side::read(notes.load(path, at)?));
                known.insert(path.to_owned(), Arc::clone(&side));
                side
            }
        };
        drop(known);
        if !notes.tally.files.contains(&side.used) {
            notes.tally.files.push(side.used.clone());
        }
        if let Err(fault) = &side.document {
            notes.problem(told_at(fault, path, at));
            return None;
        }
        Some(side)
    }
}

impl Side {
    fn read(loaded: Loaded) -> Self {
        let used = FileUse::of(&loaded);
        let shape = detect::shape_of(&loaded.bytes, true, &loaded.name);
        let is_yaml = !matches!(shape, Shape::JsonDocument | Shape::JsonArray | Shape::JsonLines);
        let document = Document::parse(loaded.bytes, is_yaml).and_then(|document| {
            let first = document.faults(None).into_iter().next();
            first.map_or(Ok(document), |fault| Err(Box::new(fault)))
        });
        Side { used, document, root: OnceLock::new(), seeds: OnceLock::new() }
    }

    /// What the file holds.
    pub(super) fn root(&self) -> &Value<'static> {
        self.root.get_or_init(|| match &self.document {
            Ok(document) => document.root().into_owned(),
            Err(_) => Value::Null,
        })
    }

    /// The seeds that `read` finds in it, read once.
    pub(super) fn seeds(
        &self,
        read: fn(&Value<'static>) -> Result<Value<'static>, Vec<Problem>>,
    ) -> Result<&Value<'static>, &[Problem]> {
        self.seeds.get_or_init(|| read(self.root())).as_ref().map_err(Vec::as_slice)
    }

    /// A problem of this file, told where the dataset names it.
    pub(super) fn name_place(&self, problem: &Problem, path: &str, at: &Path) -> Problem {
        match &self.document {
            Ok(document) => told_at(&document.fault(problem.clone()), path, at),
            Err(_) => problem.clone(),
        }
    }
}

fn told_at(fault: &Fault, path: &str, at: &Path) -> Problem {
    let line = fault.place.map_or_else(String::new, |place| format!(", line {}", place.line));
    let problem = Problem::new(fault.code, at.clone(), format!("in `{path}`{line}: {}", fault.message));
    match &fault.help {
        Some(help) => problem.help(help.clone()),
        None => problem,
    }
}
