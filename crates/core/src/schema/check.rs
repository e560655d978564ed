//! Holding a record to a schema of our own form.
//!
//! *Invariant:* every problem of a record is told, each with the path of the field. A schema that was given as a JSON
//! Schema is not looked at here: whoever compiles it is its judge.

use super::{Field, Schema, Type};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::json;
use crate::path::Path;
use crate::record::Record;
use crate::value::{Object, Value};

/// How many values of an enum are listed.
const LISTED: usize = 8;

impl Schema {
    /// Adds what is wrong with a record.
    pub fn check(&self, record: &Record<'_>, problems: &mut Vec<Problem>) {
        let mut known = 0;
        for (index, field) in self.fields.iter().enumerate() {
            if field.name == "id" {
                check_id(field, record.id.as_str(), problems);
                continue;
            }
            // Records mostly have their fields in the order of the schema.
            let value = match record.fields.entry(index) {
                Some((name, value)) if name == field.name => Some(value),
                _ => record.fields.get(&field.name),
            };
            known += usize::from(value.is_some());
            field.check(value, problems);
        }
        if self.closed && known < record.fields.len() {
            self.check_closed(&record.fields, problems);
        }
    }

    fn check_closed(&self, fields: &Object<'_>, problems: &mut Vec<Problem>) {
        for (name, _) in fields.iter().filter(|(name, _)| self.field(name).is_none()) {
            let near = nearest(name, self.fields.iter().map(|field| field.name.as_str()));
            let help = near.map_or_else(
                || "take the field out, or declare it in a new schema".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("`{name}` is not in the schema, and the schema is closed");
            problems.push(Problem::new(Code::E035, Path::key(name), message).help(help));
        }
    }
}

impl Field {
    fn check(&self, value: Option<&Value<'_>>, problems: &mut Vec<Problem>) {
        let name = &self.name;
        let missing = match value {
            None => "the record does not have it",
            Some(Value::Null) => "it is null",
            Some(value) => {
                if !self.kind.admits(value) {
                    explain(&self.kind, value, &Path::key(name), problems);
                }
                return;
            }
        };
        if self.required {
            let message = format!("`{name}` is required, and {missing}");
            problems.push(Problem::new(Code::E035, Path::key(name), message).help(format!("give `{name}` a value")));
        }
    }
}

/// An id is text, whatever it was in the file: what it reads as counts.
fn check_id(field: &Field, id: &str, problems: &mut Vec<Problem>) {
    let read = match field.kind {
        Type::Integer | Type::Number => json::read(id).ok().filter(|value| matches!(value, Value::Number(_))),
        _ => None,
    };
    field.check(Some(&read.unwrap_or_else(|| Value::from(id))), problems);
}

/// Says why a value does not have a type, element by element.
fn explain(kind: &Type, value: &Value<'_>, path: &Path, problems: &mut Vec<Problem>) {
    if let (Type::List(Some(element)), Value::Array(items)) = (kind, value) {
        for (index, item) in items.iter().enumerate().filter(|(_, item)| !element.admits(item)) {
            explain(element, item, &path.then_index(index), problems);
        }
        return;
    }
    let problem = match (kind, value) {
        (Type::Timestamp, Value::String(_)) => {
            let message = format!("`{path}` is declared as timestamp, and this text is no instant of RFC 3339");
            Problem::new(Code::E035, path.clone(), message)
                .help("write it like `2026-05-01T12:00:00Z`, with its offset")
        }
        (Type::Enum(values), Value::String(text)) => not_listed(values, text, path),
        _ => {
            let is = match (kind, value) {
                (Type::Integer, Value::Number(_)) => "a number with a fraction",
                _ => value.type_name(),
            };
            let message = format!("`{path}` is declared as {}, and this is {is}", name_of(kind));
            Problem::new(Code::E035, path.clone(), message).help("correct the value, or register another schema")
        }
    };
    problems.push(problem);
}

/// The type in messages: the values of an enum can be many.
fn name_of(kind: &Type) -> String {
    match kind {
        Type::Enum(_) => "enum".to_owned(),
        kind => kind.to_string(),
    }
}

fn not_listed(values: &[String], text: &str, path: &Path) -> Problem {
    let listed: Vec<String> = values.iter().take(LISTED).map(|value| format!("`{value}`")).collect();
    let more = if values.len() > LISTED { ", …" } else { "" };
    let message = format!("`{path}` is none of {}{more}", listed.join(", "));
    let near = nearest(text, values.iter().map(String::as_str));
    let help = near.map_or_else(
        || "use one of the values, or add the new one to the schema".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Problem::new(Code::E035, path.clone(), message).help(help)
}
