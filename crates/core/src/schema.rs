//! Declared fields of a dataset and the types they may have.

use std::fmt;

use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::value::{Object, Value};

/// The declared fields, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    fields: Vec<(String, FieldType)>,
}

/// The type of a declared field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// Text.
    String,
    /// A 64-bit integer.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A point in time, as text.
    Timestamp,
    /// Any value.
    Json,
    /// A list of values of one type.
    List,
    /// One of some texts.
    Enum,
}

const NAMES: &[&str] = &["string", "integer", "number", "boolean", "timestamp", "json", "list", "enum"];

impl Schema {
    /// A schema of fields whose names are known to be distinct.
    pub fn new(fields: Vec<(String, FieldType)>) -> Self {
        Schema { fields }
    }

    /// Reads `{"fields": [{"name", "type", …}]}`.
    pub fn from_value(value: &Value<'_>) -> Result<Self, Problem> {
        let fields = value.as_object().and_then(|object| object.get("fields")).and_then(Value::as_array);
        let Some(fields) = fields else {
            let problem = Problem::new(Code::E037, Path::root(), "a schema is a mapping with a list `fields`");
            return Err(problem.help("write `{\"fields\": [{\"name\": \"score\", \"type\": \"number\"}]}`"));
        };
        let mut schema = Schema::default();
        for (index, field) in fields.iter().enumerate() {
            let (name, kind) = field_of(field, &Path::key("fields").then_index(index))?;
            if schema.type_of(&name).is_some() {
                let path = Path::key("fields").then_index(index).then_key("name");
                return Err(Problem::new(Code::E037, path, format!("`{name}` is declared twice")));
            }
            schema.fields.push((name, kind));
        }
        Ok(schema)
    }

    /// The declared type of a field.
    pub fn type_of(&self, name: &str) -> Option<FieldType> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind)
    }

    /// The schema as a value, as it is written beside a file.
    pub fn to_value(&self) -> Value<'static> {
        let field = |(name, kind): &(String, FieldType)| {
            let mut object = Object::new();
            object.set("name", Value::from(name.clone()));
            object.set("type", Value::from(kind.to_string()));
            Value::Object(object)
        };
        let mut object = Object::new();
        object.set("fields", Value::Array(self.fields.iter().map(field).collect()));
        Value::Object(object)
    }
}

impl FieldType {
    /// Whether values of this type are text.
    pub fn is_text(self) -> bool {
        matches!(self, FieldType::String | FieldType::Timestamp | FieldType::Enum)
    }

    /// Whether a value has this type; null fits every type.
    pub fn admits(self, value: &Value<'_>) -> bool {
        match (self, value) {
            (FieldType::Json, _) | (_, Value::Null) => true,
            (FieldType::Integer, Value::Number(number)) => number.is_integer(),
            (FieldType::Number, Value::Number(_)) | (FieldType::Boolean, Value::Bool(_)) => true,
            (FieldType::List, Value::Array(_)) => true,
            (kind, Value::String(_)) => kind.is_text(),
            _ => false,
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "string" => FieldType::String,
            "integer" => FieldType::Integer,
            "number" => FieldType::Number,
            "boolean" => FieldType::Boolean,
            "timestamp" => FieldType::Timestamp,
            "json" => FieldType::Json,
            "enum" => FieldType::Enum,
            _ if name == "list" || (name.starts_with("list<") && name.ends_with('>')) => FieldType::List,
            _ => return None,
        })
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            FieldType::String => "string",
            FieldType::Integer => "integer",
            FieldType::Number => "number",
            FieldType::Boolean => "boolean",
            FieldType::Timestamp => "timestamp",
            FieldType::Json => "json",
            FieldType::List => "list",
            FieldType::Enum => "enum",
        })
    }
}

fn field_of(field: &Value<'_>, path: &Path) -> Result<(String, FieldType), Problem> {
    let member = |name: &str| field.as_object().and_then(|object| object.get(name)).and_then(Value::as_str);
    let (Some(name), Some(kind)) = (member("name"), member("type")) else {
        return Err(Problem::new(Code::E037, path.clone(), "a field needs `name` and `type`"));
    };
    let Some(found) = FieldType::parse(kind) else {
        let near = nearest(kind, NAMES.iter().copied());
        let help = near.map_or_else(
            || format!("use one of {}", crate::case::quoted(NAMES)),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(Problem::new(Code::E037, path.then_key("type"), format!("unknown type `{kind}`")).help(help));
    };
    Ok((name.to_owned(), found))
}
