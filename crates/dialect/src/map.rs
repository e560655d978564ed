//! From a row to a record: what every dialect's mapping shares.

use std::borrow::Cow;

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::record::{Record, RecordId, name_problem};
use heldset_core::value::{Object, Value};

use crate::blocks::MAX_FIELDS;
use crate::files::{Files, FilesError, Loaded};
use crate::report::Tally;

/// Where a record's id comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IdRule {
    /// What the dialect says.
    #[default]
    Auto,
    /// The field of this name.
    Field(String),
    /// The place among the rows, from 0.
    Row,
    /// None yet: the row stays as it is, an `id` in it included, for whoever gives ids later. The record then has its
    /// place for an id.
    Later,
}

impl IdRule {
    /// The field where an id stands, as far as it stands in one.
    pub(crate) fn field(&self) -> &str {
        match self {
            IdRule::Field(name) => name,
            IdRule::Auto | IdRule::Row | IdRule::Later => "id",
        }
    }
}

/// How many fit names are remembered.
const KNOWN_NAMES: usize = 64;

/// How a dialect makes a record of a row.
pub(crate) trait Mapper: Sync {
    /// The record, or `None` with at least one problem in `notes`.
    fn map<'a>(&self, row: Value<'a>, notes: &mut Notes<'_>) -> Option<Record<'a>>;

    /// Which version of its record a row says it is. Rows of one id and several versions are one record: the newest.
    fn version(&self, _record: &Record<'_>) -> Option<u64> {
        None
    }

    /// Whether a rule of the dialect looks inside a field of this name.
    fn looks_into(&self, _field: &str) -> bool {
        true
    }

    /// The fields that an id is taken from, the first that is there, to show where a repeated one stands.
    fn id_fields(&self) -> Vec<&str>;
}

/// What a mapping may ask and must tell.
pub(crate) struct Notes<'f> {
    /// The place of the row among the rows, from 0.
    pub(crate) row: u64,
    /// The file the row is in.
    pub(crate) file: &'f str,
    /// Files beside it.
    pub(crate) files: &'f dyn Files,
    /// What is wrong with the row.
    pub(crate) problems: Vec<Problem>,
    /// What was met.
    pub(crate) tally: Tally,
    /// Names of fields that were found fit, in the order of the first row.
    pub(crate) names: Vec<String>,
}

impl Notes<'_> {
    /// Notes a problem of the row.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Takes what must be a mapping, with names fit for fields.
    pub(crate) fn object<'a>(&mut self, row: Value<'a>) -> Option<Object<'a>> {
        let Value::Object(object) = row else {
            self.problem(
                Problem::new(Code::E032, Path::root(), format!("a record is a mapping, not {}", row.type_name()))
                    .help("write each record as `{\"id\": …, …}`"),
            );
            return None;
        };
        if object.len() > MAX_FIELDS {
            let message = format!("the record has more than {MAX_FIELDS} fields");
            self.problem(
                Problem::new(Code::E008, Path::root(), message).help("put what belongs together into one field"),
            );
            return None;
        }
        for (index, (name, _)) in object.iter().enumerate() {
            if self.names.get(index).is_some_and(|known| known == name) {
                continue;
            }
            if let Some(why) = name_problem(name) {
                let message = format!("the field name `{}` {why}", name.escape_debug());
                self.problem(Problem::new(Code::E033, Path::key(name), message).help("rename the field"));
            } else if index == self.names.len() && index < KNOWN_NAMES {
                self.names.push(name.to_owned());
            }
        }
        Some(object)
    }

    /// Takes the id out of the fields by a rule that was asked for; `None` when the dialect decides.
    pub(crate) fn asked_id<'a>(&mut self, rule: &IdRule, fields: &mut Object<'a>) -> Option<Option<RecordId<'a>>> {
        match rule {
            IdRule::Auto => None,
            IdRule::Later => Some(Some(self.row_id())),
            IdRule::Row => {
                self.keep_own_id(fields);
                Some(Some(self.row_id()))
            }
            IdRule::Field(name) => {
                let id = self.id_from_field(name, fields);
                self.keep_own_id(fields);
                Some(id)
            }
        }
    }

    /// An `id` that is not the record's id stays, under another name.
    pub(crate) fn keep_own_id<'a>(&mut self, fields: &mut Object<'a>) {
        let Some(own) = fields.remove("id").filter(|own| !own.is_null()) else { return };
        self.tally.mapped("id", "original_id");
        self.put(fields, "original_id", own, "id");
    }

    /// The id in the field `name`, which must be there.
    pub(crate) fn id_from_field<'a>(&mut self, name: &str, fields: &mut Object<'a>) -> Option<RecordId<'a>> {
        let value = if name == "id" { fields.remove(name) } else { fields.get(name).cloned() };
        match value {
            None | Some(Value::Null) => {
                self.problem(
                    Problem::new(Code::E011, Path::root(), format!("there is no `{name}`"))
                        .help("name the field that holds the id with `--id FIELD`, or number the rows with `--id row`"),
                );
                None
            }
            Some(value) => self.check_id(value, name),
        }
    }

    /// An id as it stands in the field `name`.
    pub(crate) fn check_id<'a>(&mut self, value: Value<'a>, name: &str) -> Option<RecordId<'a>> {
        match RecordId::from_value(value, name) {
            Ok(id) => Some(id),
            Err(problem) => {
                self.problem(problem);
                None
            }
        }
    }

    /// The id of a row that has none.
    pub(crate) fn row_id(&mut self) -> RecordId<'static> {
        self.tally.ids_given += 1;
        RecordId::from_row(self.row)
    }

    /// The file that a field of the row names.
    pub(crate) fn load(&mut self, path: &str, at: &Path) -> Option<Loaded> {
        match self.files.load(self.file, path) {
            Ok(loaded) => Some(loaded),
            Err(error) => {
                self.problem(files_problem(&error, at.clone()));
                None
            }
        }
    }

    /// Gives a field another name; a second value for that name is a problem.
    pub(crate) fn rename(&mut self, fields: &mut Object<'_>, from: &str, to: &'static str) {
        if !fields.rename(from, to) {
            self.second_value(from, to);
        }
    }

    fn second_value(&mut self, from: &str, to: &str) {
        let message = match from == to {
            true => format!("another field already gives `{to}`"),
            false => format!("`{from}` gives a second value for `{to}`"),
        };
        self.problem(Problem::new(Code::E018, Path::key(from), message).help("keep one of the two"));
    }

    /// Adds a field; a second value for the same field is a problem.
    pub(crate) fn put<'a>(
        &mut self,
        fields: &mut Object<'a>,
        name: impl Into<Cow<'a, str>>,
        value: Value<'a>,
        from: &str,
    ) {
        let name = name.into();
        if fields.contains(&name) {
            return self.second_value(from, &name);
        }
        fields.push_unique(name, value);
    }
}

/// What is wrong when a referenced file cannot be had.
pub(crate) fn files_problem(error: &FilesError, at: Path) -> Problem {
    let message = error.to_string();
    match error {
        FilesError::Missing(_) => {
            Problem::new(Code::E019, at, message).help("paths are relative to the file that names them")
        }
        FilesError::Outside(_) => Problem::new(Code::E020, at, message)
            .help("move the file beside the dataset, or allow it with `--allow-outside`"),
        FilesError::TooLarge(_) => Problem::new(Code::E008, at, message),
        FilesError::Unreadable { .. } => Problem::new(Code::E019, at, message),
    }
}
