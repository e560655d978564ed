//! Privacy filters as they are declared: `{field, action, pattern, replacement, keep_last, salt}`.
//!
//! *Invariant:* an option that an action has no use for is refused, never ignored.

use super::pattern::Patterns;
use super::{Action, Filter, REDACTED};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::mapping::FieldPath;
use crate::path::Path;
use crate::value::{Object, Value};

const ACTIONS: [&str; 4] = ["drop", "mask", "hash", "redact"];
const KEYS: [&str; 6] = ["field", "action", "pattern", "replacement", "keep_last", "salt"];

pub(super) fn filters(value: &Value<'_>) -> Result<Vec<Filter>, Vec<Problem>> {
    let at = Path::key("privacy");
    let Some(items) = value.as_array() else {
        if value.is_null() {
            return Ok(Vec::new());
        }
        let message = format!("`privacy` is a list of filters, not {}", value.type_name());
        return Err(vec![problem(at, message).help("write `privacy: [{field: email, action: hash}]`")]);
    };
    let (mut filters, mut problems) = (Vec::new(), Vec::new());
    for (place, item) in items.iter().enumerate() {
        let at = at.then_index(place);
        match item.as_object() {
            Some(object) => match filter(object, &at) {
                Ok(filter) => filters.push(filter),
                Err(problem) => problems.push(*problem),
            },
            None => {
                let message =
                    format!("`{at}` is a mapping such as `{{field: email, action: hash}}`, not {}", item.type_name());
                problems.push(problem(at, message));
            }
        }
    }
    if problems.is_empty() { Ok(filters) } else { Err(problems) }
}

fn filter(object: &Object<'_>, at: &Path) -> Result<Filter, Box<Problem>> {
    if let Some((key, _)) = object.iter().find(|(key, _)| !KEYS.contains(key)) {
        let help = match nearest(key, KEYS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use {}", crate::case::quoted(&KEYS)),
        };
        return Err(Box::new(
            problem(at.then_key(key), format!("`{}` is no key of a filter", at.then_key(key))).help(help),
        ));
    }
    let name = text(object, "action", at)?.ok_or_else(|| missing(at, "action", "drop, mask, hash or redact"))?;
    let action = action(name, object, at)?;
    let field = text(object, "field", at)?.ok_or_else(|| missing(at, "field", "a field, or `*` for all"))?;
    let path = match field {
        "*" => None,
        path => Some(FieldPath::parse(path).map_err(|why| {
            let message = format!("`{}` is not a path: {why}", at.then_key("field"));
            Box::new(problem(at.then_key("field"), message).help("write names with dots between them, `[0]` or `[*]`"))
        })?),
    };
    let patterns = object.get("pattern").filter(|value| !value.is_null());
    let patterns = patterns.map(|value| Patterns::read(value, &at.then_key("pattern"))).transpose()?;
    let whole = matches!(action, Action::Drop) && patterns.is_none();
    if whole && path.as_ref().is_none_or(|path| path.as_field() == Some("id")) {
        let what = if path.is_none() { "every field" } else { "the id" };
        let message = format!("`{at}` would drop {what}");
        return Err(Box::new(
            problem(at.then_key("field"), message).help("mask or hash it, or name the fields to drop"),
        ));
    }
    Ok(Filter { field: path, action, patterns })
}

fn action(name: &str, object: &Object<'_>, at: &Path) -> Result<Action, Box<Problem>> {
    let action = match name {
        "drop" => Action::Drop,
        "mask" => Action::Mask { keep_last: keep_last(object, at)? },
        "hash" => Action::Hash { salt: text(object, "salt", at)?.map(str::to_owned) },
        "redact" => Action::Redact { replacement: text(object, "replacement", at)?.unwrap_or(REDACTED).to_owned() },
        other => {
            let help = nearest(other, ACTIONS)
                .map_or("use `drop`, `mask`, `hash` or `redact`".to_owned(), |near| format!("did you mean `{near}`?"));
            let at = at.then_key("action");
            return Err(Box::new(problem(at, format!("there is no action `{other}`")).help(help)));
        }
    };
    for (key, belongs) in [("keep_last", "mask"), ("salt", "hash"), ("replacement", "redact")] {
        if name != belongs && object.contains(key) {
            let at = at.then_key(key);
            let message = format!("`{at}` goes with `{belongs}`, not with `{name}`");
            return Err(Box::new(problem(at, message).help("leave it out")));
        }
    }
    Ok(action)
}

fn keep_last(object: &Object<'_>, at: &Path) -> Result<usize, Box<Problem>> {
    let at = at.then_key("keep_last");
    match object.get("keep_last") {
        None | Some(Value::Null) => Ok(0),
        Some(Value::Number(number)) if number.to_string().parse::<u8>().is_ok() => {
            Ok(number.to_string().parse().unwrap_or_default())
        }
        Some(_) => Err(Box::new(problem(at.clone(), format!("`{at}` is a count of characters up to 255")))),
    }
}

fn text<'o>(object: &'o Object<'_>, key: &str, at: &Path) -> Result<Option<&'o str>, Box<Problem>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            let at = at.then_key(key);
            Err(Box::new(problem(at.clone(), format!("`{at}` is text, not {}", other.type_name()))))
        }
    }
}

fn missing(at: &Path, key: &str, what: &str) -> Box<Problem> {
    let at = at.then_key(key);
    Box::new(problem(at.clone(), format!("`{at}` is missing")).help(format!("say {what}")))
}

pub(super) fn problem(at: Path, message: impl Into<String>) -> Problem {
    Problem::new(Code::E067, at, message)
}
