//! AgentHealth test cases.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::record::Record;
use heldset_core::value::Value;

use crate::document::Plan;
use crate::map::{IdRule, Mapper, Notes};

/// What a document of this dialect holds.
pub(crate) fn plan(_root: &Value<'_>, _id: &IdRule) -> Result<Plan, Problem> {
    Err(Problem::new(Code::E024, Path::root(), "agenthealth is not read yet"))
}

/// Reads items of this dialect.
pub(crate) struct AgentHealthMapper {
    pub(crate) id: IdRule,
}

impl Mapper for AgentHealthMapper {
    fn map<'a>(&self, _row: Value<'a>, notes: &mut Notes<'_>) -> Option<Record<'a>> {
        notes.problem(Problem::new(Code::E024, Path::root(), "not read yet"));
        None
    }

    fn id_field(&self) -> &str {
        match &self.id {
            IdRule::Field(name) => name,
            _ => "id",
        }
    }
}
