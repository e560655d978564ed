//! A source of a dataset as it is declared.
//!
//! *Invariant:* all problems of a declaration are told at once; a secret in it is named, never shown.

use super::secret::secrets;
use super::{FieldPath, Mapping};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::privacy::Filters;
use crate::value::{Object, Value};

/// The keys of a declaration.
const KEYS: [&str; 11] = [
    "connector_instance_id",
    "operation_id",
    "operation_config",
    "display_name",
    "credential_scope_type",
    "credential_scope_id",
    "id_from",
    "field_mappings",
    "keep_unmapped",
    "privacy",
    "split",
];

/// Whose credential is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One principal's.
    User,
    /// A team's.
    Team,
    /// An organisation's.
    Organization,
}

/// A source that was declared and checked.
#[derive(Clone, Debug)]
pub struct SourceDeclaration {
    /// The id or the name of the connector.
    pub connector: String,
    /// What is asked of it; empty for the one thing it does.
    pub operation: String,
    /// How it is asked.
    pub operation_config: Object<'static>,
    /// The name for people.
    pub display_name: Option<String>,
    /// Whose credential is used.
    pub scope: Option<(Scope, Option<String>)>,
    /// How rows become records.
    pub mapping: Mapping,
    /// What is taken out of them.
    pub privacy: Filters,
    /// The split they go into.
    pub split: String,
}

impl Scope {
    /// Every scope type.
    pub const ALL: [Scope; 3] = [Scope::User, Scope::Team, Scope::Organization];

    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Team => "team",
            Scope::Organization => "organization",
        }
    }

    /// The scope type of that name.
    pub fn parse(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl SourceDeclaration {
    /// Checks a declaration.
    pub fn from_value(value: &Value<'_>) -> Result<SourceDeclaration, Vec<Problem>> {
        let Value::Object(object) = value else {
            let message = format!("a source is declared as a mapping, not as {}", value.type_name());
            return Err(vec![Problem::new(Code::E067, Path::root(), message).help("see `heldset source add --help`")]);
        };
        let mut reader = Reader { object, problems: Vec::new() };
        reader.keys();
        let connector = reader.text("connector_instance_id");
        if connector.is_none() && !object.contains("connector_instance_id") {
            let message = "`connector_instance_id` is missing";
            reader.problem("connector_instance_id", message, "name a connector, by its id or its name");
        }
        let mappings = reader.mapping("field_mappings");
        let id_from = reader.text("id_from");
        let keep = reader.flag("keep_unmapped");
        let mapping = match Mapping::new(&mappings, id_from.as_deref(), keep) {
            Ok(mapping) => Some(mapping),
            Err(problems) => {
                reader.problems.extend(problems);
                None
            }
        };
        let privacy = match object.get("privacy").map_or_else(|| Ok(Filters::default()), Filters::from_value) {
            Ok(privacy) => Some(privacy),
            Err(problems) => {
                reader.problems.extend(problems);
                None
            }
        };
        if let (Some(mapping), Some(privacy)) = (&mapping, &privacy) {
            reader.problems.extend(uncovered(mapping, privacy));
        }
        let operation_config = reader.mapping("operation_config");
        secrets(&operation_config, &Path::key("operation_config"), &mut reader.problems);
        let scope = reader.scope();
        let operation = reader.text("operation_id").unwrap_or_default();
        let display_name = reader.text("display_name");
        let split = reader.text("split").unwrap_or_else(|| "default".to_owned());
        match (mapping, privacy, connector) {
            (Some(mapping), Some(privacy), Some(connector)) if reader.problems.is_empty() => Ok(SourceDeclaration {
                connector,
                operation,
                operation_config,
                display_name,
                scope,
                mapping,
                privacy,
                split,
            }),
            _ => Err(reader.problems),
        }
    }

    /// What happens to rows, as text for people.
    pub fn describe(&self) -> Vec<String> {
        self.mapping.describe().into_iter().chain(self.privacy.describe()).collect()
    }
}

/// A filter on a field does not reach the id that is taken from the same place.
fn uncovered(mapping: &Mapping, privacy: &Filters) -> Option<Problem> {
    let id = mapping.id_path();
    if privacy.covers(&FieldPath::field("id")) {
        return None;
    }
    let field = mapping.fields_of(&id).into_iter().find(|field| privacy.covers(field))?;
    let message =
        format!("the id is taken from `{id}`, and what a privacy filter takes out of `{field}` would stay in it");
    let help = "take the id from elsewhere with `id_from`, or add a filter for the field `id`";
    Some(Problem::new(Code::E067, Path::key("privacy"), message).help(help))
}

struct Reader<'r> {
    object: &'r Object<'r>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, key: &str, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(Code::E067, Path::key(key), message).help(help));
    }

    fn keys(&mut self) {
        for (key, _) in self.object.iter().filter(|(key, _)| !KEYS.contains(key)) {
            let help = match nearest(key, KEYS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use {}", crate::case::quoted(&KEYS)),
            };
            self.problems
                .push(Problem::new(Code::E067, Path::key(key), format!("`{key}` is no key of a source")).help(help));
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.object.get(key)? {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone().into_owned()),
            Value::Null => None,
            other => {
                let what = if other.as_str().is_some() { "not empty" } else { "not this" };
                let message = format!("`{key}` is text, {what}");
                self.problem(key, message, format!("write `{key}: TEXT`"));
                None
            }
        }
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.object.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                let message = format!("`{key}` is `true` or `false`, not {}", other.type_name());
                self.problem(key, message, format!("write `{key}: true`"));
                false
            }
        }
    }

    fn mapping(&mut self, key: &str) -> Object<'static> {
        match self.object.get(key) {
            None | Some(Value::Null) => Object::new(),
            Some(Value::Object(object)) => object.clone().into_owned(),
            Some(other) => {
                let message = format!("`{key}` is a mapping, not {}", other.type_name());
                self.problem(key, message, format!("write `{key}: {{NAME: VALUE}}`"));
                Object::new()
            }
        }
    }

    fn scope(&mut self) -> Option<(Scope, Option<String>)> {
        let id = self.text("credential_scope_id");
        let Some(name) = self.text("credential_scope_type") else {
            if id.is_some() {
                let message = "`credential_scope_id` says whose, and `credential_scope_type` is missing";
                self.problem("credential_scope_type", message, "write `user`, `team` or `organization`");
            }
            return None;
        };
        let scope = Scope::parse(&name);
        if scope.is_none() {
            let help = nearest(&name, Scope::ALL.map(Scope::name))
                .map_or("write `user`, `team` or `organization`".to_owned(), |near| format!("did you mean `{near}`?"));
            self.problem("credential_scope_type", format!("there is no scope type `{name}`"), help);
        }
        scope.map(|scope| (scope, id))
    }
}
