//! A plain record to a record.

use heldset_core::case;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};

use crate::map::{IdRule, Mapper, Notes};

/// Reads plain records.
pub(crate) struct RecordsMapper {
    pub(crate) id: IdRule,
    /// Whether a row that looks like a case is held to a case's shapes.
    pub(crate) cases: bool,
}

impl Mapper for RecordsMapper {
    fn map<'a>(&self, row: Value<'a>, notes: &mut Notes<'_>) -> Option<Record<'a>> {
        let mut fields = notes.object(row)?;
        let id = match notes.asked_id(&self.id, &mut fields) {
            Some(asked) => asked,
            None => notes.id_from_field("id", &mut fields),
        };
        for (name, _) in fields.iter() {
            notes.tally.as_is(name);
        }
        if self.cases && is_case(&fields) {
            case::problems(&fields, &mut notes.problems);
        }
        Some(Record { id: id?, fields })
    }

    fn looks_into(&self, field: &str) -> bool {
        self.cases && case::looks_into(field)
    }

    fn id_fields(&self) -> Vec<&str> {
        vec![self.id.field()]
    }
}

/// Whether a row has `input` and any other field of a case, or an answer.
fn is_case(fields: &Object<'_>) -> bool {
    let other = |name: &str| name != "input" && (case::is_field(name) || case::is_answer(name));
    fields.contains("input") && fields.iter().any(|(name, _)| other(name))
}
