//! An answer of a service: rows, and what leads to the next page.
//!
//! *Invariant:* an answer that is not what was asked for is told by its beginning, without any part of the secret.

use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::value::Value;
use heldset_engine::refusal::{Outcome, Refusal};
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderMap, LINK};

use super::ask::{Answer, Asker};
use super::operation::{Format, Operation};
use super::paging::Kind;
use crate::requests::excerpt;
use crate::source::{objects, records};

/// What an answer says.
#[derive(Default)]
pub(super) struct Parsed {
    pub(super) rows: Vec<Value<'static>>,
    pub(super) cursor: Option<Value<'static>>,
    pub(super) more: Option<bool>,
    pub(super) total: Option<u64>,
    pub(super) link: Option<String>,
    pub(super) revision: Option<String>,
}

/// Reads an answer. `what` names the page in messages.
pub(super) fn read(answer: Answer, operation: &Operation, asker: &Asker, what: &str) -> Outcome<Parsed> {
    let kind = answer.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    let headers = answer.headers;
    let text = String::from_utf8(answer.body)
        .map_err(|_| unexpected("the answer is not UTF-8", what, "see `format` of the source"))?;
    let text = if asker.secret.is_in(&text) { asker.secret.hidden(&text) } else { text };
    let text = text.trim_start_matches('\u{feff}');
    if is_page(&kind, text) {
        let shown = if kind.is_empty() { String::new() } else { format!(" (`{kind}`)") };
        let message = format!("HTML was answered{shown}: {}", excerpt(&text.chars().take(120).collect::<String>()));
        return Err(unexpected(&message, what, "see whether the address is right, and whether it wants a credential"));
    }
    let mut parsed = match operation.format {
        Format::Json => {
            of_json(text, operation).map_err(|why| unexpected(&why, what, "see `records` of the source"))?
        }
        Format::JsonLines => {
            Parsed { rows: lines(text).map_err(|why| unexpected(&why, what, HELP))?, ..Parsed::default() }
        }
        Format::Csv => {
            let rows = objects::rows_of("answer.csv", text.as_bytes().to_vec());
            Parsed { rows: rows.map_err(|why| unexpected(&why, what, HELP))?, ..Parsed::default() }
        }
    };
    if operation.paging.kind == Kind::Link && parsed.link.is_none() {
        parsed.link = next_link(&headers, &answer.url);
    }
    let resolved = |link: String| answer.url.join(&link).map_or(link, String::from);
    parsed.link = parsed.link.map(resolved).map(|link| asker.without_credential(&link));
    parsed.revision = headers.get(ETAG).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Ok(parsed)
}

const HELP: &str = "see `format` of the source";

fn of_json(text: &str, operation: &Operation) -> Result<Parsed, String> {
    let mut document = json::read(text).map_err(|error| {
        let start = excerpt(&text.chars().take(80).collect::<String>());
        format!("the answer is not JSON: {error} at {}: {start}", records::place(text, error.offset))
    })?;
    let paging = &operation.paging;
    let at = |path: &Option<String>| path.as_ref().and_then(|path| records::look(&document, path));
    let total = at(&paging.total).and_then(whole);
    let more = match (at(&paging.has_more).and_then(truth), at(&paging.is_last).and_then(truth)) {
        (Some(more), _) => Some(more),
        (None, last) => last.map(|last| !last),
    };
    let word = at(&paging.cursor).filter(|value| !is_nothing(value)).cloned().map(Value::into_owned);
    let (cursor, link) = match paging.kind {
        Kind::Link => (None, word.and_then(|link| Some(link.as_str()?.to_owned()))),
        _ => (word, None),
    };
    let rows = match (&operation.records, &document) {
        (None, Value::Object(object)) if paging.kind != Kind::None => {
            let lists: Vec<String> =
                object.iter().filter(|(_, v)| v.as_array().is_some()).map(|(key, _)| format!("`{key}`")).collect();
            return Err(format!(
                "the answer is a mapping, and `records` does not say which list: {}",
                lists.join(", ")
            ));
        }
        (path, _) => {
            records::rows(&mut document, path.as_deref()).map_err(|why| format!("the answer does not fit: {why}"))?
        }
    };
    Ok(Parsed { rows, cursor, more, total, link, revision: None })
}

fn lines(text: &str) -> Result<Vec<Value<'static>>, String> {
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match json::read(line) {
            Ok(row @ Value::Object(_)) => rows.push(row.into_owned()),
            Ok(other) => return Err(format!("line {} is {}, not a mapping", at + 1, other.type_name())),
            Err(error) => {
                let column = line.get(..error.offset).unwrap_or(line).chars().count() + 1;
                return Err(format!("the answer is not JSON lines: {error} at line {}, column {column}", at + 1));
            }
        }
    }
    Ok(rows)
}

/// Whether an answer is a page for people.
fn is_page(kind: &str, text: &str) -> bool {
    let start = text.trim_start().get(..9).unwrap_or_default().to_ascii_lowercase();
    kind.to_ascii_lowercase().starts_with("text/html") || start.starts_with("<!doctype") || start.starts_with("<html")
}

/// The next page by the header `Link`.
fn next_link(headers: &HeaderMap, asked: &reqwest::Url) -> Option<String> {
    let links = headers.get_all(LINK).into_iter().filter_map(|value| value.to_str().ok());
    let target = links.flat_map(targets).find(|(_, rel)| rel.split(' ').any(|rel| rel.eq_ignore_ascii_case("next")));
    asked.join(&target?.0).ok().map(String::from)
}

/// The targets of a `Link` header with their relations. Commas inside of `<…>` do not part them.
fn targets(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(open) = rest.find('<') {
        let Some(close) = rest[open..].find('>') else { break };
        let target = rest[open + 1..open + close].to_owned();
        let after = &rest[open + close + 1..];
        let end = after.find(",<").or_else(|| after.find(", <")).unwrap_or(after.len());
        let rel = after[..end].split(';').find_map(|part| {
            let (name, value) = part.trim().trim_end_matches(',').split_once('=')?;
            name.trim().eq_ignore_ascii_case("rel").then(|| value.trim().trim_matches('"').to_owned())
        });
        found.push((target, rel.unwrap_or_default()));
        rest = &after[end..];
    }
    found
}

fn whole(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn truth(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64().map(|number| number != 0),
        _ => None,
    }
}

fn is_nothing(value: &Value<'_>) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_str() == Some("")
}

fn unexpected(why: &str, what: &str, help: &str) -> Box<Refusal> {
    Refusal::invalid(Code::E071, format!("{why}, at {what}"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_told_apart() {
        let header = r#"<http://x/?page=1,2>; rel="prev", </y?page=3>; title="a"; rel="next last""#;
        let found = targets(header);
        assert_eq!(found[0], ("http://x/?page=1,2".to_owned(), "prev".to_owned()));
        assert_eq!(found[1], ("/y?page=3".to_owned(), "next last".to_owned()));
        assert_eq!(targets("nonsense"), []);
    }
}
