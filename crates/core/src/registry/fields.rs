//! The fields of a dataset and the rule of each, for those who create, update or declare one.
//!
//! *Invariant:* one table for all of them. Everything that is wrong is told at once, each with its field; nothing that
//! is given is dropped.

use super::{Deletion, Level, Status};
use crate::cite::slug_problem;
use crate::code::Code;
use crate::declaration::part::{Kind, Part, Reader, TEXT, did_you_mean};
use crate::fault::Problem;
use crate::path::Path;
use crate::record::name_problem;
use crate::value::{Object, Value};

/// What the fields are given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A new dataset: `name` and `slug` must be there.
    Create,
    /// A change of some fields: `null` takes an optional one away.
    Update,
    /// A declaration, which is the one and the other.
    Declare,
}

const FIELDS: &[(&str, Kind)] = &[
    ("name", TEXT),
    ("slug", TEXT),
    ("description", Kind::Prose),
    ("license", TEXT),
    ("tags", Kind::Texts),
    ("connector_id", TEXT),
    ("external_id", Kind::Text(500)),
    ("owner_id", Kind::Uuid),
    ("team", Kind::Text(200)),
    ("data_residency", Kind::Text(50)),
    ("status", Kind::OneOf(Status::NAMES)),
    ("certification_level", Kind::OneOf(Level::NAMES)),
    ("categories", Kind::Texts),
    ("policy_tags", Kind::Texts),
    ("legal_basis", TEXT),
    ("consent", Kind::Any),
    ("deletion_status", Kind::OneOf(Deletion::NAMES)),
    ("retention", Kind::Mapping),
    ("quality_score", Kind::Number),
    ("record_count", Kind::Count),
    ("size_bytes", Kind::Count),
];

/// The names of all fields, in the order they are shown.
pub const NAMES: [&str; FIELDS.len()] = {
    let (mut names, mut index) = ([""; FIELDS.len()], 0);
    while index < FIELDS.len() {
        names[index] = FIELDS[index].0;
        index += 1;
    }
    names
};

const REQUIRED: [&str; 2] = ["name", "slug"];
/// What every dataset has, so that an update cannot take it away.
const KEPT: [&str; 4] = ["name", "slug", "status", "deletion_status"];
/// What is computed too; only an update may say otherwise.
const COMPUTED: [&str; 3] = ["quality_score", "record_count", "size_bytes"];

pub(crate) const RETENTION: &[(&str, Kind)] = &[("until", Kind::Day), ("retain_days", Kind::Count)];

/// Reads the fields of a dataset, or tells everything that is wrong with them. An absent field and, unless it is an
/// update, one that is `null` are left out.
pub fn read(value: &Value<'_>, purpose: Purpose) -> Result<Object<'static>, Vec<Problem>> {
    let mut reader = Reader::with_code(Code::E046);
    let Some(object) = value.as_object() else {
        let message = format!("a dataset is described by a mapping of fields, not {}", value.type_name());
        reader.wrong(Path::root(), message, None);
        return Err(reader.problems);
    };
    let fields = take(&Part { object, path: Path::root() }, purpose, &mut reader);
    if reader.problems.is_empty() { Ok(fields) } else { Err(reader.problems) }
}

/// The fields of a mapping, each checked.
pub(crate) fn take(part: &Part<'_, '_>, purpose: Purpose, reader: &mut Reader) -> Object<'static> {
    for (name, _) in part.object.iter().filter(|(name, _)| !known(name, purpose)) {
        unknown(part, name, purpose, reader);
    }
    let mut fields = Object::new();
    for (name, kind) in FIELDS.iter().filter(|(name, _)| known(name, purpose)) {
        let given = part.object.get(name).filter(|value| !value.is_null() || purpose != Purpose::Create);
        match given {
            None if REQUIRED.contains(name) && purpose != Purpose::Update => {
                reader.wrong(part.at(name), format!("`{name}` is missing"), None);
            }
            None => {}
            Some(Value::Null) if purpose == Purpose::Update && !KEPT.contains(name) => {
                fields.set(*name, Value::Null);
            }
            Some(_) => field(part, name, *kind, purpose, reader, &mut fields),
        }
    }
    fields
}

fn known(name: &str, purpose: Purpose) -> bool {
    NAMES.contains(&name)
        && !(purpose == Purpose::Create && COMPUTED.contains(&name))
        && !(purpose == Purpose::Declare && name == "retention")
}

fn unknown(part: &Part<'_, '_>, name: &str, purpose: Purpose, reader: &mut Reader) {
    let (message, help) = match name {
        _ if COMPUTED.contains(&name) => (
            format!("`{name}` is computed, and a new dataset has nothing to count"),
            Some("give it in an update, with `heldset dataset update`".to_owned()),
        ),
        "retention" => ("`retention` belongs under `spec`".to_owned(), None),
        _ => {
            let known: Vec<&str> = NAMES.into_iter().filter(|name| known(name, purpose)).collect();
            (format!("`{name}` is not known here"), did_you_mean(name, &known))
        }
    };
    reader.wrong(part.at(name), message, help);
}

fn field(
    part: &Part<'_, '_>,
    name: &'static str,
    kind: Kind,
    purpose: Purpose,
    reader: &mut Reader,
    fields: &mut Object<'static>,
) {
    // Files that people write may give one tag as it is; programs send lists.
    let kind = if matches!(kind, Kind::Texts) && purpose != Purpose::Declare { Kind::List } else { kind };
    if name == "retention" {
        if let Some(retention) = reader.mapping(part, name, RETENTION) {
            fields.set(name, Value::Object(retention));
        }
        return;
    }
    let Some(value) = reader.member(part, name, kind) else { return };
    let problem: fn(&str) -> Option<&'static str> = match name {
        "name" => dataset_name_problem,
        "slug" => slug_problem,
        _ => |_| None,
    };
    if let Some((text, why)) = value.as_str().and_then(|text| Some((text, problem(text)?))) {
        reader.wrong(part.at(name), format!("{name} `{text}` {why}"), None);
    }
    let value = match (kind, value) {
        (Kind::Texts, Value::String(_)) => Value::Array(vec![value.clone()]),
        _ => value.clone(),
    };
    fields.set(name, value.into_owned());
}

fn dataset_name_problem(name: &str) -> Option<&'static str> {
    match name.chars().count() {
        ..3 => Some("is shorter than 3 characters"),
        201.. => Some("is longer than 200 characters"),
        _ => name_problem(name),
    }
}
