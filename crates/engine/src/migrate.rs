//! `migrate`: a plan of any dialect in its native form.

use heldset_core::fault::Fault;
use heldset_core::value::Object;
use heldset_dialect::plan::{PlanOptions, read};
use heldset_dialect::{Files, write};

/// A plan in its native form.
#[derive(Clone, Debug)]
pub struct Migrated {
    /// The plan.
    pub plan: Object<'static>,
    /// What was done otherwise than the file may have meant.
    pub notes: Vec<String>,
}

impl Migrated {
    /// The plan as YAML, which reads back as the same plan.
    pub fn yaml(&self) -> String {
        write::yaml(&self.plan)
    }
}

/// Reads a plan and writes it in its native form; all its faults when it has any.
pub fn migrate(name: &str, bytes: &[u8], files: &dyn Files, options: &PlanOptions) -> Result<Migrated, Vec<Fault>> {
    let read = read(name, bytes, files, options)?;
    let plan = read.plan.to_value().as_object().cloned().unwrap_or_default();
    Ok(Migrated { plan, notes: read.notes })
}
