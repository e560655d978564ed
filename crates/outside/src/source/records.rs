//! Where rows and other facts are in a JSON answer, by dotted paths such as `data.items` or `pages[0].rows`.
//!
//! *Invariant:* pure; a key with a dot in it is found by its whole name first.

use heldset_core::fault::nearest;
use heldset_core::json;
use heldset_core::value::Value;

/// The value at a path.
pub(super) fn look<'v, 'a>(value: &'v Value<'a>, path: &str) -> Option<&'v Value<'a>> {
    find(value, &plain(path))
}

/// Takes the value at a path out of one.
pub(super) fn take<'a>(value: &mut Value<'a>, path: &str) -> Option<Value<'a>> {
    find_mut(value, &plain(path)).map(|found| std::mem::replace(found, Value::Null))
}

/// The rows of a document: the list at a path, or all of it.
pub(super) fn in_document(text: &str, path: &str) -> Result<Vec<Value<'static>>, String> {
    let mut document = json::read(text).map_err(|error| format!("{} at {}", error, place(text, error.offset)))?;
    rows(&mut document, Some(path))
}

/// Takes the rows out of an answer: the list at a path; without one a list, or a mapping that is the one row.
pub(super) fn rows(answer: &mut Value<'_>, path: Option<&str>) -> Result<Vec<Value<'static>>, String> {
    let found = match path {
        Some(path) => match take(answer, path) {
            Some(found) => found,
            None => return Err(missing(answer, path)),
        },
        None => std::mem::replace(answer, Value::Null),
    };
    let rows = match (found, path) {
        (Value::Array(rows), _) => rows,
        (Value::Null, Some(_)) => Vec::new(),
        (row @ Value::Object(_), None) => vec![row],
        (other, Some(path)) => return Err(format!("`{path}` is {}, not a list", other.type_name())),
        (other, None) => return Err(format!("it is {}, not a list", other.type_name())),
    };
    match rows.iter().position(|row| row.as_object().is_none()) {
        Some(at) => Err(format!("row {at} is {}, not a mapping", rows[at].type_name())),
        None => Ok(rows.into_iter().map(Value::into_owned).collect()),
    }
}

/// Where a byte is, for people.
pub(super) fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!("line {line}, column {column}")
}

/// What there is instead of a path.
fn missing(answer: &Value<'_>, path: &str) -> String {
    let plain = plain(path);
    let mut deepest = answer;
    let mut at = String::new();
    let mut rest = plain.as_str();
    while let Some((step, after)) = rest.split_once('.') {
        let Some(inner) = find(deepest, step) else { break };
        (deepest, rest) = (inner, after);
        at = if at.is_empty() { step.to_owned() } else { format!("{at}.{step}") };
    }
    let step = rest.split('.').next().unwrap_or(rest);
    let place = if at.is_empty() { "the answer".to_owned() } else { format!("`{at}`") };
    let Value::Object(object) = deepest else {
        return format!("there is no `{path}`: {place} is {}", deepest.type_name());
    };
    let keys: Vec<&str> = object.iter().map(|(key, _)| key).collect();
    let listed: Vec<String> = keys.iter().take(12).map(|key| format!("`{key}`")).collect();
    match (nearest(step, keys.iter().copied()), keys.is_empty()) {
        (Some(near), _) => {
            format!("there is no `{path}`: {place} has {}; did you mean `{near}`?", listed.join(", "))
        }
        (None, true) => format!("there is no `{path}`: {place} is empty"),
        (None, false) => format!("there is no `{path}`: {place} has {}", listed.join(", ")),
    }
}

/// `a[0].b` as `a.0.b`.
fn plain(path: &str) -> String {
    path.trim_start_matches("$.").replace('[', ".").replace(']', "").trim_start_matches('.').to_owned()
}

fn find<'v, 'a>(value: &'v Value<'a>, path: &str) -> Option<&'v Value<'a>> {
    if path.is_empty() {
        return Some(value);
    }
    if let Some(found) = step(value, path) {
        return Some(found);
    }
    let dots = path.match_indices('.').map(|(at, _)| at);
    dots.filter_map(|at| find(step(value, &path[..at])?, &path[at + 1..])).next()
}

fn find_mut<'v, 'a>(value: &'v mut Value<'a>, path: &str) -> Option<&'v mut Value<'a>> {
    if path.is_empty() {
        return Some(value);
    }
    if step(value, path).is_some() {
        return step_mut(value, path);
    }
    let fits = |at: &usize| step(value, &path[..*at]).is_some_and(|inner| find(inner, &path[at + 1..]).is_some());
    let at = path.match_indices('.').map(|(at, _)| at).find(fits)?;
    find_mut(step_mut(value, &path[..at])?, &path[at + 1..])
}

fn step<'v, 'a>(value: &'v Value<'a>, step: &str) -> Option<&'v Value<'a>> {
    match value {
        Value::Object(object) => object.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn step_mut<'v, 'a>(value: &'v mut Value<'a>, step: &str) -> Option<&'v mut Value<'a>> {
    match value {
        Value::Object(object) => object.get_mut(step),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, path: &str) -> String {
        match in_document(text, path) {
            Ok(rows) => format!("{} rows", rows.len()),
            Err(why) => why,
        }
    }

    #[test]
    fn rows_are_found_or_what_is_there_is_told() {
        for (text, path, expected) in [
            (r#"{"data": {"items": [{}, {}]}}"#, "data.items", "2 rows"),
            (r#"{"data": [{"rows": [{}]}]}"#, "data[0].rows", "1 rows"),
            (r#"{"a.b": [{}]}"#, "a.b", "1 rows"),
            (r#"{"items": null}"#, "items", "0 rows"),
            (
                r#"{"data": {"items": []}, "x": 1}"#,
                "data.itms",
                "there is no `data.itms`: `data` has `items`; did you mean `items`?",
            ),
            (r#"{"items": [], "total": 1}"#, "rows", "there is no `rows`: the answer has `items`, `total`"),
            (r#"{"items": {"a": 1}}"#, "items", "`items` is a mapping, not a list"),
            (r#"[1]"#, "items", "there is no `items`: the answer is a list"),
            (r#"{"items": [{}, 3]}"#, "items", "row 1 is a number, not a mapping"),
            ("{\"items\":\n [}", "items", "expected a value, found `}` at line 2, column 3"),
        ] {
            assert_eq!(told(text, path), expected, "{text}");
        }
    }

    #[test]
    fn a_key_with_dots_is_found_by_its_whole_name() {
        let value = json::read(r#"{"@odata.nextLink": "x", "a": {"b": {"c.d": 1}}}"#).expect("it is JSON");
        assert_eq!(look(&value, "@odata.nextLink").and_then(Value::as_str), Some("x"));
        assert!(look(&value, "a.b.c.d").is_some());
        assert!(look(&value, "a.b.c").is_none());
    }
}
