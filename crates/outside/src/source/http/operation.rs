//! What is asked of a service: which path, with what, and how the answer is to be read.
//!
//! *Invariant:* holds no secret.

use heldset_core::value::{Object, Value};
use reqwest::Method;

use super::Paging;
use crate::config::plain_text;
use crate::source::keys::Keys;

/// One operation of a service.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) path: String,
    /// Paths to try instead when there is nothing at the first.
    pub(crate) other_paths: Vec<String>,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) method: Method,
    pub(crate) body: Option<Value<'static>>,
    pub(crate) format: Format,
    pub(crate) records: Option<String>,
    pub(crate) paging: Paging,
    pub(crate) per_second: Option<f64>,
    pub(crate) retries: Option<u64>,
    pub(crate) max_pages: u64,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    JsonLines,
    Csv,
}

impl Operation {
    /// Asks for the service's own address.
    pub(crate) fn plain() -> Operation {
        Operation {
            path: String::new(),
            other_paths: Vec::new(),
            params: Vec::new(),
            method: Method::GET,
            body: None,
            format: Format::Json,
            records: None,
            paging: Paging::none(),
            per_second: None,
            retries: None,
            max_pages: 1_000_000,
        }
    }

    /// Reads the configuration of an operation.
    pub(super) fn read(keys: &mut Keys<'_>, name: &str) -> Operation {
        if !matches!(name, "" | "get" | "list" | "read" | "request") {
            keys.wrong(format!("an `http` connector has no operation `{name}`"), "leave it out, or write `get`");
        }
        let path = keys.text("path").unwrap_or_default().to_owned();
        if path.contains("://") || path.starts_with("//") {
            let help = "write a path such as `/items`; another address needs a connector of its own";
            keys.wrong(format!("`operation_config.path` is an address: `{path}`"), help);
        }
        let method = match keys.word("method", &["GET", "POST"]) {
            Some("POST") => Method::POST,
            _ => Method::GET,
        };
        let format = match keys.word("format", &["json", "jsonl", "ndjson", "csv"]) {
            Some("jsonl" | "ndjson") => Format::JsonLines,
            Some("csv") => Format::Csv,
            _ => Format::Json,
        };
        let operation = Operation {
            path,
            params: keys.mapping("params").map(params).unwrap_or_default(),
            body: keys.get("body").cloned(),
            records: keys.text("records").map(str::to_owned),
            paging: keys.inside("pagination", Paging::read).unwrap_or_else(Paging::none),
            per_second: keys.inside("rate_limit", |keys| keys.number("per_second")).flatten(),
            retries: keys.count("retries", 0, 100),
            max_pages: keys.count("max_pages", 1, u64::MAX).unwrap_or(1_000_000),
            method,
            format,
            ..Operation::plain()
        };
        operation.checked(keys);
        operation
    }

    fn checked(&self, keys: &mut Keys<'_>) {
        if self.body.is_some() && self.method == Method::GET {
            keys.wrong("a request with a `body` is not a `GET`", "write `method: POST`");
        }
        if self.records.is_some() && self.format != Format::Json {
            keys.wrong("`records` is for answers in JSON", "leave it out");
        }
        if self.paging.in_body && !matches!(self.body, Some(Value::Object(_))) {
            keys.wrong("`pagination` in the body needs a `body` that is a mapping", "write `body: {}`");
        }
    }
}

/// The parameters of a mapping; a list gives one for each element.
fn params(mapping: &Object<'static>) -> Vec<(String, String)> {
    let mut params = Vec::new();
    for (name, value) in mapping.iter().filter(|(_, value)| !value.is_null()) {
        match value {
            Value::Array(items) => params.extend(items.iter().map(|item| (name.to_owned(), plain_text(item)))),
            value => params.push((name.to_owned(), plain_text(value))),
        }
    }
    params
}
