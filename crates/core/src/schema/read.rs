//! Reading our own form of a schema: a list of fields.
//!
//! *Invariant:* all problems of a schema are told at once, each with its path.

use super::kind::{NAMES, Type};
use super::{Field, Schema, json_schema};
use crate::case::quoted;
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::record::name_problem;
use crate::value::{Object, Value};

/// The members of a schema.
const MEMBERS: &[&str] = &["fields", "closed", "additionalProperties"];
/// The members of a field.
const FIELD: &[&str] = &["name", "type", "description", "required", "visibility", "values", "items"];
/// What other forms of schemas call the list of fields.
const ELSEWHERE: &[&str] = &["columns", "attributes", "features", "field"];

/// Reads a schema of either form.
pub(super) fn schema(value: &Value<'_>) -> Result<Schema, Vec<Problem>> {
    let Some(object) = value.as_object() else { return Err(vec![shapeless()]) };
    if !object.contains("fields") && json_schema::looks_like(object) {
        return json_schema::read(value);
    }
    let mut problems = unknown_members(object, MEMBERS, &Path::root());
    let closed = flag(object, "closed", &Path::root(), &mut problems).unwrap_or(false);
    let open = flag(object, "additionalProperties", &Path::root(), &mut problems).unwrap_or(true);
    let mut fields: Vec<Field> = Vec::new();
    match object.get("fields") {
        Some(Value::Array(given)) => {
            for (index, field) in given.iter().enumerate() {
                let path = Path::key("fields").then_index(index);
                let Some(field) = read_field(field, &path, &mut problems) else { continue };
                if fields.iter().any(|known| known.name == field.name) {
                    let message = format!("`{}` is declared twice", field.name);
                    problems.push(Problem::new(Code::E037, path.then_key("name"), message).help("keep one of the two"));
                    continue;
                }
                fields.push(field);
            }
        }
        _ => problems.insert(0, shapeless()),
    }
    match problems.is_empty() {
        true => Ok(Schema { fields, closed: closed || !open, ..Schema::default() }),
        false => Err(problems),
    }
}

fn shapeless() -> Problem {
    Problem::new(Code::E037, Path::root(), "a schema is a mapping with a list `fields`, or a JSON Schema")
        .help("write `{\"fields\": [{\"name\": \"score\", \"type\": \"number\"}]}`")
}

/// Members that are not among those known, with the nearest.
pub(super) fn unknown_members(object: &Object<'_>, known: &[&str], path: &Path) -> Vec<Problem> {
    let strange = object.iter().filter(|(name, _)| !known.contains(name));
    let problem = |(name, _): (&str, &Value<'_>)| {
        let near = match ELSEWHERE.contains(&name) && known.contains(&"fields") {
            true => Some("fields"),
            false => nearest(name, known.iter().copied()),
        };
        let help = near.map_or_else(|| format!("use {}", quoted(known)), |near| format!("did you mean `{near}`?"));
        Problem::new(Code::E037, path.then_key(name), format!("unknown key `{name}`")).help(help)
    };
    strange.map(problem).collect()
}

fn read_field(value: &Value<'_>, path: &Path, problems: &mut Vec<Problem>) -> Option<Field> {
    let Some(object) = value.as_object() else {
        let message = format!("a field is a mapping, not {}", value.type_name());
        let help = "write `{\"name\": \"score\", \"type\": \"number\"}`";
        problems.push(Problem::new(Code::E037, path.clone(), message).help(help));
        return None;
    };
    let before = problems.len();
    problems.extend(unknown_members(object, FIELD, path));
    let name = read_name(object, path, problems);
    let kind = read_type(object, path, problems);
    let description = text(object, "description", path, problems);
    let visibility = text(object, "visibility", path, problems);
    let required = flag(object, "required", path, problems).unwrap_or(false);
    if name.as_deref() == Some("id") && visibility.is_some() {
        let message = "the `id` always has the label of its split";
        problems.push(Problem::new(Code::E037, path.then_key("visibility"), message).help("leave `visibility` out"));
    }
    let (Some(name), Some(kind), true) = (name, kind, problems.len() == before) else { return None };
    Some(Field { description, visibility, ..Field::new(name, kind, required) })
}

fn read_name(object: &Object<'_>, path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    let wrong = match object.get("name") {
        None => Problem::new(Code::E037, path.clone(), "a field needs a `name`").help("add `name`"),
        Some(Value::String(name)) => match fit(name) {
            None => return Some(name.clone().into_owned()),
            Some(why) => {
                let message = format!("the field name `{}` {why}", name.escape_debug());
                Problem::new(Code::E037, path.then_key("name"), message).help("choose another name")
            }
        },
        Some(other) => {
            let message = format!("`name` is text, not {}", other.type_name());
            Problem::new(Code::E037, path.then_key("name"), message).help("write the name of the field")
        }
    };
    problems.push(wrong);
    None
}

/// Why a name cannot be that of a field, if it cannot.
pub(super) fn fit(name: &str) -> Option<&'static str> {
    if name.is_empty() { Some("is empty") } else { name_problem(name) }
}

fn read_type(object: &Object<'_>, path: &Path, problems: &mut Vec<Problem>) -> Option<Type> {
    let place = path.then_key("type");
    let kind = match object.get("type") {
        None => {
            let help = format!("use one of {}", quoted(NAMES));
            problems.push(Problem::new(Code::E037, path.clone(), "a field needs a `type`").help(help));
            return None;
        }
        Some(Value::String(text)) => known_type(text, &place, problems)?,
        Some(other) => {
            let message = format!("`type` is text, not {}", other.type_name());
            let help = format!("use one of {}; a field may be null unless it is `required`", quoted(NAMES));
            problems.push(Problem::new(Code::E037, place, message).help(help));
            return None;
        }
    };
    let kind = match (kind, object.get("items")) {
        (Type::List(None), Some(Value::String(text))) => {
            Type::List(Some(Box::new(known_type(text, &path.then_key("items"), problems)?)))
        }
        (kind, None) => kind,
        (kind, Some(_)) => {
            let message = format!("`items` names the type of the elements of a `list`, and this is `{kind}`");
            problems.push(Problem::new(Code::E037, path.then_key("items"), message).help("write `list<string>`"));
            return None;
        }
    };
    with_values(kind, object, path, problems)
}

fn known_type(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Option<Type> {
    let near = match Type::parse(text) {
        Ok(kind) => return Some(kind),
        Err(near) => near,
    };
    let help = near.map_or_else(|| format!("use one of {}", quoted(NAMES)), |near| format!("did you mean `{near}`?"));
    problems.push(Problem::new(Code::E037, path.clone(), format!("unknown type `{text}`")).help(help));
    None
}

/// The type with the values that are listed beside it.
fn with_values(kind: Type, object: &Object<'_>, path: &Path, problems: &mut Vec<Problem>) -> Option<Type> {
    let place = path.then_key("values");
    let mut wrong = |path: Path, message: String| {
        problems.push(Problem::new(Code::E037, path, message).help("write `\"values\": [\"easy\", \"hard\"]`"));
        None
    };
    match (has_open_enum(&kind), object.get("values")) {
        (false, None) => {}
        (true, None) => return wrong(path.clone(), "an `enum` needs its `values`".to_owned()),
        (false, Some(_)) => return wrong(place, format!("`values` belong to an `enum`, and this is `{kind}`")),
        (true, Some(values)) => {
            let texts = |values: &[Value<'_>]| -> Option<Vec<String>> {
                values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
            };
            return match values.as_array().and_then(texts) {
                Some(values) if !values.is_empty() => match repeated(&values) {
                    Some(value) => wrong(place, format!("the value `{value}` is listed twice")),
                    None => Some(filled(kind, &values)),
                },
                _ => wrong(place, "`values` is a list of at least one text".to_owned()),
            };
        }
    }
    let inside = innermost(&kind);
    match inside {
        Type::Enum(values) if values.iter().any(String::is_empty) => {
            wrong(path.then_key("type"), "an `enum` has an empty value".to_owned())
        }
        Type::Enum(values) => match repeated(values) {
            Some(value) => wrong(path.then_key("type"), format!("the value `{value}` is listed twice")),
            None => Some(kind),
        },
        _ => Some(kind),
    }
}

fn repeated(values: &[String]) -> Option<&String> {
    values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)).map(|(_, value)| value)
}

fn innermost(kind: &Type) -> &Type {
    match kind {
        Type::List(Some(element)) => innermost(element),
        kind => kind,
    }
}

fn has_open_enum(kind: &Type) -> bool {
    matches!(innermost(kind), Type::Enum(values) if values.is_empty())
}

fn filled(kind: Type, values: &[String]) -> Type {
    match kind {
        Type::List(Some(element)) => Type::List(Some(Box::new(filled(*element, values)))),
        _ => Type::Enum(values.to_vec()),
    }
}

pub(super) fn text(object: &Object<'_>, name: &str, path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    match object.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone().into_owned()),
        Some(other) => {
            let message = format!("`{name}` is text, not {}", other.type_name());
            problems.push(Problem::new(Code::E037, path.then_key(name), message).help("write it in quotes"));
            None
        }
    }
}

fn flag(object: &Object<'_>, name: &str, path: &Path, problems: &mut Vec<Problem>) -> Option<bool> {
    match object.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::Bool(flag)) => Some(*flag),
        Some(other) => {
            let message = format!("`{name}` is true or false, not {}", other.type_name());
            problems.push(Problem::new(Code::E037, path.then_key(name), message).help("write `true` or `false`"));
            None
        }
    }
}
