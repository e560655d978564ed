//! What is handed in to be registered: a schema, maybe with what is claimed and said of the change.

use super::read::{text, unknown_members};
use super::{ChangeKind, Schema};
use crate::code::Code;
use crate::fault::Problem;
use crate::path::Path;
use crate::value::Value;

/// A schema to be registered.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    /// The schema.
    pub schema: Schema,
    /// What the change is claimed to be.
    pub claim: Option<ChangeKind>,
    /// What is said of the change.
    pub summary: Option<String>,
}

/// The members of a registration.
const MEMBERS: &[&str] = &["schema_definition", "change_type", "change_summary"];

impl Registration {
    /// Reads `{"schema_definition", "change_type", "change_summary"}`, or a schema by itself.
    pub fn read(value: &Value<'_>) -> Result<Registration, Vec<Problem>> {
        let Some(object) = value.as_object().filter(|object| is_registration(object)) else {
            return Schema::read(value).map(|schema| Registration { schema, claim: None, summary: None });
        };
        let mut problems = unknown_members(object, MEMBERS, &Path::root());
        let claim = text(object, "change_type", &Path::root(), &mut problems);
        let claim = claim.and_then(|claim| match ChangeKind::parse(&claim) {
            Some(kind) => Some(kind),
            None => {
                let message = format!("unknown change type `{claim}`");
                let help = "write `breaking` or `non_breaking`, or leave it out: it is computed";
                problems.push(Problem::new(Code::E037, Path::key("change_type"), message).help(help));
                None
            }
        });
        let summary = text(object, "change_summary", &Path::root(), &mut problems);
        let schema = match object.get("schema_definition") {
            Some(schema) => Schema::read(schema).map_err(|found| {
                let outer = Path::key("schema_definition");
                problems
                    .extend(found.into_iter().map(|problem| Problem { path: problem.path.under(&outer), ..problem }));
            }),
            None => {
                let help = "put the schema under `schema_definition`";
                problems.push(Problem::new(Code::E037, Path::root(), "there is no `schema_definition`").help(help));
                Err(())
            }
        };
        match schema {
            Ok(schema) if problems.is_empty() => Ok(Registration { schema, claim, summary }),
            _ => Err(problems),
        }
    }
}

/// A schema by itself has none of the members of a registration.
fn is_registration(object: &crate::value::Object<'_>) -> bool {
    MEMBERS.iter().any(|member| object.contains(member))
}
