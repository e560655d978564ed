//! A query from a document: `{filters | filter, sort_by, sort_order, limit, offset | cursor, fields, …}`.
//!
//! *Invariant:* a key that is not known is a problem, with the nearest known one; all problems are told at once.

use super::{MAX_LIMIT, Query, Sort};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::filter::Filter;
use crate::path::Path;
use crate::value::{Object, Value};

const KEYS: &[&str] = &[
    "filters",
    "filter",
    "where",
    "sort_by",
    "sort_order",
    "limit",
    "offset",
    "cursor",
    "fields",
    "source_ids",
    "version",
    "split",
    "live",
];

pub(super) fn read(value: &Value<'_>) -> Result<Query, Vec<Problem>> {
    let Some(object) = value.as_object() else {
        return Err(vec![wrong("", format!("a query is a mapping, not {}", value.type_name()))]);
    };
    let mut reader = Reader { object, problems: Vec::new() };
    reader.known();
    let query = Query {
        filter: reader.filter(),
        sort: reader.sort(),
        limit: reader.limit(),
        offset: reader.count("offset").unwrap_or(0),
        cursor: reader.text("cursor"),
        fields: reader.texts("fields"),
        source_ids: reader.texts("source_ids").unwrap_or_default(),
        split: reader.text("split"),
        version: reader.version(),
        live: reader.flag("live"),
    };
    if query.cursor.is_some() && query.offset > 0 {
        reader.problems.push(wrong("cursor", "`cursor` and `offset` both say where the page begins"));
    }
    if reader.problems.is_empty() { Ok(query) } else { Err(reader.problems) }
}

struct Reader<'r, 'a> {
    object: &'r Object<'a>,
    problems: Vec<Problem>,
}

impl<'r, 'a> Reader<'r, 'a> {
    fn known(&mut self) {
        for (key, _) in self.object.iter().filter(|(key, _)| !KEYS.contains(key)) {
            let mut problem = wrong(key, format!("`{key}` is not known in a query"));
            problem.help = nearest(key, KEYS.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            self.problems.push(problem);
        }
    }

    /// A member that is there and not null.
    fn member(&self, key: &str) -> Option<&'r Value<'a>> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    fn filter(&mut self) -> Filter {
        let mut parts = Vec::new();
        for key in ["filters", "filter"] {
            let Some(value) = self.member(key) else { continue };
            match Filter::from_value(value, &Path::key(key)) {
                Ok(filter) => parts.push(filter),
                Err(problem) => self.problems.push(problem),
            }
        }
        if let Some(text) = self.text("where") {
            match super::parse_where(&text) {
                Ok(filter) => parts.push(filter),
                Err(error) => self.problems.push(wrong("where", error.message)),
            }
        }
        if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) }
    }

    fn sort(&mut self) -> Vec<Sort> {
        let order = self.text("sort_order");
        let descending = match order.as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(other) => {
                self.problems.push(wrong("sort_order", format!("`sort_order` is `asc` or `desc`, not `{other}`")));
                false
            }
        };
        let fields = match self.member("sort_by") {
            Some(Value::Array(_)) => self.texts("sort_by").unwrap_or_default(),
            _ => self.text("sort_by").into_iter().collect(),
        };
        let sort = |field: String| {
            let sort = Sort::parse(&field);
            Sort { descending: sort.descending || descending, ..sort }
        };
        fields.into_iter().map(sort).collect()
    }

    fn limit(&mut self) -> u64 {
        let limit = self.count("limit").unwrap_or(super::DEFAULT_LIMIT);
        if limit > MAX_LIMIT {
            let problem = wrong("limit", format!("`limit` is at most {MAX_LIMIT}, not {limit}"));
            self.problems.push(problem.help("page on with `cursor`"));
        }
        limit
    }

    fn count(&mut self, key: &str) -> Option<u64> {
        let value = self.member(key)?;
        let count = match value {
            Value::Number(number) => number.as_u64().or_else(|| u64::try_from(number.as_i64()?).ok()),
            _ => None,
        };
        if count.is_none() {
            self.problems.push(wrong(key, format!("`{key}` is a count, not {}", value.type_name())));
        }
        count
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let value = self.member(key)?;
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.problems.push(wrong(key, format!("`{key}` is text, not {}", value.type_name())));
        }
        text
    }

    fn version(&mut self) -> Option<String> {
        match self.member("version")? {
            Value::Number(number) if number.is_integer() => Some(number.to_string()),
            _ => self.text("version"),
        }
    }

    fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let value = self.member(key)?;
        let texts =
            value.as_array().and_then(|items| items.iter().map(|item| Some(item.as_str()?.to_owned())).collect());
        if texts.is_none() {
            self.problems.push(wrong(key, format!("`{key}` is a list of texts, not {}", value.type_name())));
        }
        texts
    }

    fn flag(&mut self, key: &str) -> bool {
        match self.member(key) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.problems.push(wrong(key, format!("`{key}` is true or false, not {}", other.type_name())));
                false
            }
        }
    }
}

fn wrong(key: &str, message: impl Into<String>) -> Problem {
    let path = if key.is_empty() { Path::root() } else { Path::key(key) };
    Problem::new(Code::E064, path, message)
}
