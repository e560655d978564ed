//! Jira as a service over HTTP whose paths and pages are known.
//!
//! *Invariant:* nothing here asks anybody; it only says how to ask.

use heldset_core::value::Value;

use super::http::{Kind, Operation, Paging};
use super::keys::Keys;

/// Where searches are: the newest way first.
const SEARCHES: [&str; 3] = ["/rest/api/3/search/jql", "/rest/api/3/search", "/rest/api/2/search"];

/// Reads the configuration of `list_issues`.
pub(super) fn operation(config: &mut Keys<'_>, keys: &mut Keys<'_>, name: &str) -> Operation {
    if !matches!(name, "" | "list_issues") {
        keys.wrong(format!("a `jira` connector has no operation `{name}`"), "did you mean `list_issues`?");
    }
    let version = config.word("api", &["2", "3"]);
    let mut paths: Vec<String> = match (keys.text("path"), version) {
        (Some(path), _) => vec![path.to_owned()],
        (None, Some("2")) => vec![SEARCHES[2].to_owned()],
        (None, Some(_)) => SEARCHES[..2].iter().map(|path| (*path).to_owned()).collect(),
        (None, None) => SEARCHES.iter().map(|path| (*path).to_owned()).collect(),
    };
    let fields = match keys.get("fields") {
        Some(Value::String(text)) => text.clone().into_owned(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        Some(_) => {
            keys.wrong("`operation_config.fields` is neither text nor a list", "write `[summary, status]`");
            String::new()
        }
        // The newest search answers with bare ids unless it is asked for more.
        None => "*navigable".to_owned(),
    };
    let mut params = vec![("fields".to_owned(), fields)];
    params.extend(keys.text("jql").map(|jql| ("jql".to_owned(), jql.to_owned())));
    params.extend(keys.text("expand").map(|expand| ("expand".to_owned(), expand.to_owned())));
    Operation {
        path: paths.remove(0),
        other_paths: paths,
        params,
        records: Some("issues".to_owned()),
        paging: Paging {
            kind: Kind::Token,
            parameter: "nextPageToken".to_owned(),
            offset_parameter: "startAt".to_owned(),
            size_parameter: Some("maxResults".to_owned()),
            page_size: Some(keys.count("maxResults", 1, 5000).unwrap_or(100)),
            cursor: Some("nextPageToken".to_owned()),
            is_last: Some("isLast".to_owned()),
            total: Some("total".to_owned()),
            ..Paging::none()
        },
        per_second: keys.inside("rate_limit", |keys| keys.number("per_second")).flatten(),
        retries: keys.count("retries", 0, 100),
        ..Operation::plain()
    }
}
