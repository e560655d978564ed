//! mas-lab manifests: three generations of items in three kinds of envelope.
//!
//! *Invariant:* every fault names the part of the file that it is about, not what that part became.

mod envelope;
mod inputs;
mod item;
mod messages;
mod seeds;
mod side;
mod source;

use heldset_core::record::Record;
use heldset_core::value::Value;

use crate::map::{IdRule, Mapper, Notes};
use side::SideFiles;

pub(crate) use envelope::{plan, plan_source};
pub(crate) use seeds::{all as seed_list, read_file as seeds_of_file};
pub(crate) use source::FieldMap;

/// Reads items of this dialect.
pub(crate) struct LabMapper {
    id: IdRule,
    fields: Option<FieldMap>,
    side: SideFiles,
}

impl LabMapper {
    pub(crate) fn new(id: IdRule) -> Self {
        LabMapper { id, fields: None, side: SideFiles::default() }
    }

    /// Reads rows of another shape, whose fields are told.
    fn of_source(id: IdRule, fields: FieldMap) -> Self {
        LabMapper { id, fields: Some(fields), side: SideFiles::default() }
    }
}

impl Mapper for LabMapper {
    fn map<'a>(&self, row: Value<'a>, notes: &mut Notes<'_>) -> Option<Record<'a>> {
        let row = notes.object(row)?;
        let Some(fields) = &self.fields else { return item::record(row, &self.id, &self.side, notes) };
        let row = fields.apply(row, notes);
        let record = item::record(row, &self.id, &self.side, notes);
        notes.problems.iter_mut().for_each(|problem| fields.point_at_source(problem));
        record
    }

    fn id_fields(&self) -> Vec<&str> {
        vec![match (&self.id, &self.fields) {
            (IdRule::Field(name), _) => name,
            (_, Some(fields)) => fields.id_field(),
            _ => "id",
        }]
    }
}
