//! A query as it is asked: filter, order, page, projection; and its text form.
//!
//! *Invariant:* the order of rows is total: whatever is sorted by, ties go by id, ascending.

mod cursor;
mod key;
mod kind;
mod request;
mod text;

pub use cursor::{Cursor, CursorError, PageKey};
pub use key::sort_key;
pub use kind::{Kind, check_kinds, with_text_ids};
pub use text::{WhereError, parse_where};

use crate::fault::Problem;
use crate::filter::Filter;
use crate::value::Value;

/// How many rows a page has when nothing is said.
pub const DEFAULT_LIMIT: u64 = 50;
/// How many rows a page has at most.
pub const MAX_LIMIT: u64 = 10_000;

/// A query over the records of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// What must hold of a record.
    pub filter: Filter,
    /// What rows are sorted by; ties go by id.
    pub sort: Vec<Sort>,
    /// How many rows a page has.
    pub limit: u64,
    /// How many rows come before the page.
    pub offset: u64,
    /// Where to go on, in place of an offset.
    pub cursor: Option<String>,
    /// The fields that are wanted; all when absent.
    pub fields: Option<Vec<String>>,
    /// The sources whose rows are wanted; all when empty.
    pub source_ids: Vec<String>,
    /// The split; all when absent.
    pub split: Option<String>,
    /// The version; the newest when absent.
    pub version: Option<String>,
    /// Whether the sources are read now.
    pub live: bool,
}

/// One thing that rows are sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// A dotted path.
    pub field: String,
    /// Whether the largest comes first. What is null or missing comes last either way.
    pub descending: bool,
}

impl Default for Query {
    fn default() -> Self {
        Query {
            filter: Filter::And(Vec::new()),
            sort: Vec::new(),
            limit: DEFAULT_LIMIT,
            offset: 0,
            cursor: None,
            fields: None,
            source_ids: Vec::new(),
            split: None,
            version: None,
            live: false,
        }
    }
}

impl Query {
    /// Reads a query from a document, or tells everything that is wrong with it.
    pub fn from_value(value: &Value<'_>) -> Result<Query, Vec<Problem>> {
        request::read(value)
    }

    /// All filters in one, those of sources included.
    pub fn whole_filter(&self) -> Filter {
        let mut parts = vec![with_text_ids(&self.filter)];
        if !self.source_ids.is_empty() {
            let ids = self.source_ids.iter().map(|id| Value::from(id.clone())).collect();
            parts.push(Filter::Test(crate::filter::Test {
                field: SOURCE_FIELD.to_owned(),
                operator: crate::filter::Operator::In,
                value: Value::Array(ids),
            }));
        }
        if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) }
    }
}

impl Sort {
    /// Reads `field`, or `-field` for the largest first.
    pub fn parse(text: &str) -> Sort {
        match text.strip_prefix('-') {
            Some(field) => Sort { field: field.to_owned(), descending: true },
            None => Sort { field: text.strip_prefix('+').unwrap_or(text).to_owned(), descending: false },
        }
    }
}

/// The field that tells which source a row came from.
pub const SOURCE_FIELD: &str = "_source";
