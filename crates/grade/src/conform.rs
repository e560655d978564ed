//! Holding records to a JSON Schema.
//!
//! *Invariant:* judges by the schema as it was given, and by nothing else: a reference that leads elsewhere is refused
//! when it is compiled. The values of a record are not in its messages.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::path::{Path, Step};
use heldset_core::record::Record;
use heldset_core::schema::{FieldType, Schema, is_instant};
use heldset_core::value::{Object, Value};
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};

/// A JSON Schema that records are held to.
#[derive(Debug)]
pub struct Conform {
    validator: Validator,
    /// What the schema takes the id for; it is not looked at when the schema does not name it.
    id: Option<FieldType>,
}

impl Conform {
    /// Compiles the JSON Schema that a schema was given as; nothing if it was not given as one.
    pub fn to(schema: &Schema) -> Result<Option<Conform>, Problem> {
        let Some(given) = schema.given() else { return Ok(None) };
        let built = jsonschema::options()
            .should_validate_formats(true)
            .with_format("date-time", is_instant)
            .build(&foreign(given));
        let validator = built.map_err(|error| {
            let message = match error.kind() {
                ValidationErrorKind::Referencing(_) => "a reference in the JSON Schema leads nowhere".to_owned(),
                _ => format!("invalid JSON Schema: {}", plain(&error.to_string())),
            };
            Problem::new(Code::E037, path_of(error.instance_path()), message)
                .help("see https://json-schema.org/draft/2020-12; references must stay within the document")
        })?;
        Ok(Some(Conform { validator, id: schema.type_of("id") }))
    }

    /// Adds what is wrong with a record.
    pub fn check(&self, record: &Record<'_>, problems: &mut Vec<Problem>) {
        let mut instance = serde_json::Map::with_capacity(record.fields.len() + 1);
        if let Some(kind) = self.id {
            instance.insert("id".to_owned(), id_of(record.id.as_str(), kind));
        }
        fill(&mut instance, &record.fields);
        let instance = serde_json::Value::Object(instance);
        if self.validator.is_valid(&instance) {
            return;
        }
        self.validator.iter_errors(&instance).for_each(|error| tell(&error, problems));
    }
}

/// An id is text at rest; a schema that takes it for a number gets the number that it reads as.
fn id_of(id: &str, kind: FieldType) -> serde_json::Value {
    let number = match kind {
        FieldType::Integer | FieldType::Number => json::read(id).ok().filter(|value| matches!(value, Value::Number(_))),
        _ => None,
    };
    number.map_or_else(|| id.into(), |number| converted(&number))
}

fn tell(error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
    let path = path_of(error.instance_path());
    let problem = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let path = path.then_key(property.as_str().unwrap_or_default());
            let message = format!("`{path}` is required, and the record does not have it");
            Problem::new(Code::E035, path.clone(), message).help(format!("give `{path}` a value"))
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            problems.extend(unexpected.iter().map(|name| {
                let path = path.then_key(name);
                let message = format!("`{path}` is not in the schema, and the schema is closed");
                Problem::new(Code::E035, path, message).help("take the field out, or declare it in a new schema")
            }));
            return;
        }
        _ => {
            let why = plain(&error.masked_with("the value").to_string());
            let message = match path.is_root() {
                true => format!("the record does not fit the schema: {why}"),
                false => format!("`{path}` does not fit the schema: {why}"),
            };
            Problem::new(Code::E035, path, message).help("correct the value, or register another schema")
        }
    };
    problems.push(problem);
}

/// A message of the validator, in our form.
fn plain(message: &str) -> String {
    message.replace('"', "`").replace(['\n', '\r'], " ").trim_end_matches('.').to_owned()
}

fn path_of(location: &Location) -> Path {
    let steps = location.into_iter().map(|segment| match segment {
        LocationSegment::Property(name) => Step::Key(name.into_owned()),
        LocationSegment::Index(index) => Step::Index(index),
    });
    Path::from(steps.collect::<Vec<Step>>())
}

fn foreign(value: &Value<'_>) -> serde_json::Value {
    serde_json::from_slice(&canonical::bytes(value)).unwrap_or(serde_json::Value::Null)
}

fn fill(map: &mut serde_json::Map<String, serde_json::Value>, object: &Object<'_>) {
    for (name, value) in object.iter() {
        map.insert(name.to_owned(), converted(value));
    }
}

fn converted(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.as_f64().into(),
        },
        Value::String(text) => serde_json::Value::String(text.as_ref().to_owned()),
        Value::Array(items) => serde_json::Value::Array(items.iter().map(converted).collect()),
        Value::Object(object) => {
            let mut map = serde_json::Map::with_capacity(object.len());
            fill(&mut map, object);
            serde_json::Value::Object(map)
        }
    }
}
