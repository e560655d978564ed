//! Field mappings: paths in what a source gives become fields of records.
//!
//! *Invariant:* a path that matches nothing is told, with the keys that are nearest. No two mappings fill one field.

mod declared;
mod path;
mod rest;
mod secret;
mod seen;

pub use declared::{Scope, SourceDeclaration};
pub use path::{FieldPath, Found, Step};
pub(crate) use secret::in_the_clear;
pub use secret::{is_secret_name, secret_in_address, secrets};
pub use seen::Seen;

use crate::code::Code;
use crate::fault::Problem;
use crate::path::Path;
use crate::record::{RecordId, name_problem};
use crate::value::{Object, Value};
use rest::Taken;

/// The field that says which source a record came from.
pub const SOURCE_FIELD: &str = "_source";
/// The field that holds the id.
const ID: &str = "id";

/// How rows of a source become records.
#[derive(Clone, Debug)]
pub struct Mapping {
    fields: Vec<(FieldPath, FieldPath)>,
    id_from: Option<FieldPath>,
    /// What is mapped, if the rest stays.
    kept: Option<Taken>,
}

/// How often each path of a mapping led to something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// How many rows there were.
    pub rows: u64,
    /// For each mapping in order, in how many rows its path led to something.
    pub matched: Vec<u64>,
}

/// A row that became a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The id.
    pub id: RecordId<'static>,
    /// The fields, without the id.
    pub fields: Object<'static>,
}

impl Mapping {
    /// Checks mappings as they are declared: path in the source, field.
    pub fn new(mappings: &Object<'_>, id_from: Option<&str>, keep_unmapped: bool) -> Result<Mapping, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut fields: Vec<(FieldPath, FieldPath)> = Vec::new();
        let at = Path::key("field_mappings");
        for (from, to) in mappings.iter() {
            let at = at.then_key(from);
            match pair(from, to, &at) {
                Ok((from, to)) => {
                    if let Some((other, field)) = fields.iter().find(|(_, field)| field.overlaps(&to)) {
                        problems.push(two(&at, other, field, &from, &to));
                    }
                    fields.push((from, to));
                }
                Err(problem) => problems.push(*problem),
            }
        }
        let id_from = id_from.and_then(|text| match FieldPath::parse(text) {
            Ok(path) => Some(path),
            Err(why) => {
                problems.push(not_a_path(Path::key("id_from"), text, &why));
                None
            }
        });
        if let (Some(path), Some((other, _))) = (&id_from, fields.iter().find(|(_, to)| to.as_field() == Some(ID))) {
            let message = format!("`id_from` takes the id from `{path}`, and `{other}` is mapped to `id` too");
            problems.push(Problem::new(Code::E068, Path::key("id_from"), message).help("leave one of the two out"));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let kept = keep_unmapped.then(|| Taken::of(fields.iter().map(|(from, _)| from)));
        Ok(Mapping { fields, id_from, kept })
    }

    /// What it does, as text for people: `fields.summary → title`.
    pub fn describe(&self) -> Vec<String> {
        let id = self.id_from.iter().map(|path| format!("{path} → id"));
        id.chain(self.fields.iter().map(|(from, to)| format!("{from} → {to}"))).collect()
    }

    /// The paths that are mapped.
    pub fn paths(&self) -> impl Iterator<Item = &FieldPath> {
        self.fields.iter().map(|(from, _)| from)
    }

    /// Where the id comes from: a path in the source.
    pub fn id_path(&self) -> FieldPath {
        let mapped = self.fields.iter().find(|(_, to)| to.as_field() == Some(ID)).map(|(from, _)| from);
        self.id_from.as_ref().or(mapped).cloned().unwrap_or_else(|| FieldPath::field(ID))
    }

    /// Fields of the record, other than the id, that hold what a path in the source leads to.
    pub fn fields_of(&self, path: &FieldPath) -> Vec<FieldPath> {
        let mapped = self.fields.iter().filter(|(from, _)| from.overlaps(path)).map(|(_, to)| to.clone());
        let mut fields: Vec<FieldPath> = mapped.filter(|to| to.as_field() != Some(ID)).collect();
        if self.keeps_all() && path.as_field() != Some(ID) {
            fields.push(path.clone());
        }
        fields
    }

    /// The record that a row becomes.
    pub fn apply(&self, row: Value<'static>, matches: &mut Matches) -> Result<Mapped, Problem> {
        matches.rows += 1;
        matches.matched.resize(self.fields.len(), 0);
        if !matches!(row, Value::Object(_)) {
            let message = format!("a row is a mapping of fields, not {}", row.type_name());
            return Err(Problem::new(Code::E032, Path::root(), message));
        }
        let id = self.id_of(&row)?;
        let mut fields = match (&row, &self.kept) {
            (Value::Object(object), Some(taken)) if !self.fields.is_empty() => taken.rest(object),
            _ => Object::new(),
        };
        for ((from, to), count) in self.fields.iter().zip(&mut matches.matched) {
            let value = match from.find(&row) {
                Found::Nothing => continue,
                Found::One(value) => value.clone(),
                Found::All(values) => Value::Array(values.into_iter().cloned().collect()),
            };
            *count += 1;
            put(&mut fields, to.steps(), value);
        }
        if self.fields.is_empty()
            && let Value::Object(object) = row
        {
            fields = object;
        }
        fields.remove(ID);
        if fields.contains(SOURCE_FIELD) {
            let message = format!("the row has a field `{SOURCE_FIELD}`, which is kept for the id of the source");
            let help = format!("map it to another name with `field_mappings: {{{SOURCE_FIELD}: NAME}}`");
            return Err(Problem::new(Code::E068, Path::key(SOURCE_FIELD), message).help(help));
        }
        Ok(Mapped { id, fields })
    }

    fn keeps_all(&self) -> bool {
        self.fields.is_empty() || self.kept.is_some()
    }

    fn id_of(&self, row: &Value<'static>) -> Result<RecordId<'static>, Problem> {
        let path = self.id_path();
        let help = "name the path of the id with `id_from`";
        match path.find(row) {
            Found::One(value) => RecordId::from_value(value.clone(), &path.to_string()),
            Found::Nothing => {
                let message = format!("there is no id: `{path}` leads to nothing");
                Err(Problem::new(Code::E011, Path::key(&path.to_string()), message).help(help))
            }
            Found::All(_) => {
                let message = format!("`{path}` leads to many values, and an id is one");
                Err(Problem::new(Code::E013, Path::key(&path.to_string()), message).help(help))
            }
        }
    }

    /// Warnings of the paths that matched nothing in any row.
    pub fn unmatched(&self, matches: &Matches, seen: &Seen) -> Vec<Problem> {
        let none = self.fields.iter().enumerate().filter(|(place, _)| matches.matched.get(*place) == Some(&0));
        let warn = |(_, (from, _)): (usize, &(FieldPath, FieldPath))| {
            let rows = matches.rows;
            let message =
                format!("path `{from}` matches nothing in any of {rows} row{}", if rows == 1 { "" } else { "s" });
            Problem::new(Code::H006, Path::key(&from.to_string()), message).help(seen.near(from))
        };
        if matches.rows == 0 { Vec::new() } else { none.map(warn).collect() }
    }
}

impl Matches {
    /// Both together.
    pub fn add(&mut self, other: &Matches) {
        self.rows += other.rows;
        let longest = self.matched.len().max(other.matched.len());
        self.matched.resize(longest, 0);
        self.matched.iter_mut().zip(&other.matched).for_each(|(sum, more)| *sum += more);
    }
}

fn pair(from: &str, to: &Value<'_>, at: &Path) -> Result<(FieldPath, FieldPath), Box<Problem>> {
    let path = FieldPath::parse(from).map_err(|why| Box::new(not_a_path(at.clone(), from, &why)))?;
    let Some(text) = to.as_str() else {
        let message = format!("`{from}` is mapped to {}, not to the name of a field", to.type_name());
        return Err(Box::new(Problem::new(Code::E068, at.clone(), message).help("write `path in the source: field`")));
    };
    let field = FieldPath::parse(text).map_err(|why| Box::new(not_a_path(at.clone(), text, &why)))?;
    let refused = |why: &str| {
        let message = format!("`{text}` cannot be the field that `{from}` is mapped to: it {why}");
        Box::new(Problem::new(Code::E068, at.clone(), message).help("write a name, or names with dots between them"))
    };
    for step in field.steps() {
        match step {
            Step::Key(name) => name_problem(name).map_or(Ok(()), |why| Err(refused(why)))?,
            Step::Index(_) | Step::All => return Err(refused("leads into a list")),
        }
    }
    match field.steps() {
        [Step::Key(name), ..] if name == SOURCE_FIELD => Err(refused("is kept for the id of the source")),
        [Step::Key(name), _, ..] if name == ID => Err(refused("leads into the id")),
        _ => Ok((path, field)),
    }
}

fn two(at: &Path, other: &FieldPath, field: &FieldPath, from: &FieldPath, to: &FieldPath) -> Problem {
    let message = match field == to {
        true => format!("`{other}` and `{from}` are both mapped to `{to}`"),
        false => format!("`{other}` is mapped to `{field}`, and `{from}` to `{to}`: one lies in the other"),
    };
    Problem::new(Code::E068, at.clone(), message).help("give each a field of its own")
}

fn not_a_path(at: Path, text: &str, why: &str) -> Problem {
    let help = "write names with dots between them, `[0]` or `[*]` for lists, `[\"a.b\"]` for a name with a dot";
    Problem::new(Code::E068, at, format!("`{text}` is not a path: {why}")).help(help)
}

/// Puts a value where the names lead to, making mappings on the way.
fn put(fields: &mut Object<'static>, steps: &[Step], value: Value<'static>) {
    let Some((Step::Key(name), rest)) = steps.split_first() else { return };
    if rest.is_empty() {
        return fields.set(name.clone(), value);
    }
    if !matches!(fields.get(name), Some(Value::Object(_))) {
        fields.set(name.clone(), Value::Object(Object::new()));
    }
    if let Some(Value::Object(inner)) = fields.get_mut(name) {
        put(inner, rest, value);
    }
}
