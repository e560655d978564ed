//! Writing a schema: in our own form, and as a JSON Schema.
//!
//! *Invariant:* what is written says the same as the schema: read again, nothing has changed.

use super::{Field, Schema, Type};
use crate::value::{Object, Value};

/// The dialect of JSON Schema that is written.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

impl Schema {
    /// The schema as a value: the JSON Schema as it was given, else our own form.
    pub fn to_value(&self) -> Value<'static> {
        self.given.clone().unwrap_or_else(|| self.to_fields())
    }

    /// The schema in our own form, as far as that can say it.
    pub fn to_fields(&self) -> Value<'static> {
        let mut object = Object::new();
        object.set("fields", Value::Array(self.fields.iter().map(Field::to_value).collect()));
        if self.closed {
            object.set("closed", Value::Bool(true));
        }
        Value::Object(object)
    }

    /// The schema as a JSON Schema (2020-12).
    pub fn to_json_schema(&self) -> Value<'static> {
        if let Some(given) = &self.given {
            return given.clone();
        }
        let properties = self.fields.iter().map(|field| (field.name.clone().into(), field.to_json_schema()));
        let required = self.fields.iter().filter(|field| field.required).map(|field| Value::from(field.name.clone()));
        let required: Vec<Value<'static>> = required.collect();
        let mut object = Object::new();
        object.set("$schema", DIALECT.into());
        object.set("type", "object".into());
        object.set("properties", Value::Object(properties.collect()));
        if !required.is_empty() {
            object.set("required", Value::Array(required));
        }
        if self.closed {
            object.set("additionalProperties", Value::Bool(false));
        }
        Value::Object(object)
    }
}

impl Field {
    /// The field as a value in our own form.
    pub fn to_value(&self) -> Value<'static> {
        let mut object = Object::new();
        object.set("name", Value::from(self.name.clone()));
        let (kind, values) = opened(&self.kind);
        object.set("type", Value::from(kind.to_string()));
        if !values.is_empty() {
            object.set("values", Value::Array(values.iter().map(|value| Value::from(value.clone())).collect()));
        }
        if let Some(description) = &self.description {
            object.set("description", Value::from(description.clone()));
        }
        if self.required {
            object.set("required", Value::Bool(true));
        }
        if let Some(visibility) = &self.visibility {
            object.set("visibility", Value::from(visibility.clone()));
        }
        Value::Object(object)
    }

    fn to_json_schema(&self) -> Value<'static> {
        let mut object = written(&self.kind, self.nullable);
        if let Some(description) = &self.description {
            object.set("description", Value::from(description.clone()));
        }
        if let Some(visibility) = &self.visibility {
            object.set("x-visibility", Value::from(visibility.clone()));
        }
        Value::Object(object)
    }
}

/// The type and, apart from it, the values of the enum in it: they may have any sign in them.
fn opened(kind: &Type) -> (Type, &[String]) {
    match kind {
        Type::Enum(values) => (Type::Enum(Vec::new()), values),
        Type::List(Some(element)) => {
            let (element, values) = opened(element);
            (Type::List(Some(Box::new(element))), values)
        }
        kind => (kind.clone(), &[]),
    }
}

fn written(kind: &Type, nullable: bool) -> Object<'static> {
    let mut object = Object::new();
    let name = match kind {
        Type::String | Type::Timestamp | Type::Enum(_) => "string",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "boolean",
        Type::List(_) => "array",
        Type::Json => {
            if !nullable {
                let all = ["boolean", "number", "string", "array", "object"];
                object.set("type", Value::Array(all.into_iter().map(Value::from).collect()));
            }
            return object;
        }
    };
    object.set("type", if nullable { Value::Array(vec![name.into(), "null".into()]) } else { name.into() });
    match kind {
        Type::Timestamp => object.set("format", "date-time".into()),
        Type::Enum(values) if !values.is_empty() => {
            let null = nullable.then_some(Value::Null);
            let values = values.iter().map(|value| Value::from(value.clone())).chain(null).collect();
            object.set("enum", Value::Array(values));
        }
        Type::List(Some(element)) if **element != Type::Json => object.set("items", written(element, true).into()),
        _ => {}
    }
    object
}
