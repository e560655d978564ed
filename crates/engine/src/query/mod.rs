//! `query`: which records hold what, in which order, page by page, as an audience sees them.
//!
//! *Invariant:* a field that the audience may not see is unknown here: it cannot be filtered by, sorted by, asked for,
//! or told from one that does not exist.

mod answer;
mod desk;
mod live;
mod stored;

pub use answer::{Answered, Over};
pub use desk::{Desk, Memory};
pub use live::query_live;

use std::borrow::Cow;

use heldset_core::cite::LOG;
use heldset_core::code::Code;
use heldset_core::fault::{Problem, nearest};
use heldset_core::query::Query;
use heldset_query::QueryError;
use heldset_store::StoreError;
use heldset_store::documents::{Document, prefix};
use heldset_store::registry::FeedDoc;

use crate::refusal::{Outcome, Refusal};
use crate::resolve::{dataset, parse};
use crate::session::Session;

/// Answers a query over a version, the results of a run (`run:ID`), or the access log (`access-log`).
pub fn query(session: &Session, memory: &Memory, what: &str, query: &Query) -> Outcome<Answered> {
    let query = with_sources(session, what, query)?;
    Desk::open(session, memory, what, query.split.as_deref())?.answer(&query)
}

/// The query with sources by their ids; who runs the store is told of one that there is not.
fn with_sources<'q>(session: &Session, what: &str, query: &'q Query) -> Outcome<Cow<'q, Query>> {
    if query.source_ids.is_empty() || what == LOG || what.starts_with("run:") {
        return Ok(Cow::Borrowed(query));
    }
    let dataset = dataset(&session.store, &parse(what)?.slug)?;
    let feeds = session.store.catalog().scan("feed", &prefix(&[&dataset.id]))?;
    let feeds = feeds.iter().map(|(_, bytes)| FeedDoc::from_bytes(bytes, "catalog: a source"));
    let feeds: Vec<FeedDoc> = feeds.collect::<Result<_, _>>()?;
    let mut query = query.clone();
    for id in &mut query.source_ids {
        match feeds.iter().find(|feed| feed.id == *id || feed.display_name == *id) {
            Some(feed) => id.clone_from(&feed.id),
            None if session.viewer.manages() => {
                let known = feeds.iter().map(|feed| feed.display_name.as_str());
                return Err(Refusal::unknown(format!("dataset `{}` has no source `{id}`", dataset.slug), id, known));
            }
            None => {}
        }
    }
    Ok(Cow::Owned(query))
}

/// A problem of a query as a refusal.
pub(crate) fn refused(problem: Problem) -> Box<Refusal> {
    let help = problem.help.unwrap_or_else(|| format!("see `heldset explain {}`", problem.code));
    Refusal::usage(problem.code, problem.message, help)
}

/// A field that there is not, or that cannot be seen.
pub(crate) fn unknown_field<'n>(of: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> Box<Refusal> {
    let known: Vec<&str> = known.into_iter().collect();
    let listed = || known.iter().take(12).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "it has no field that can be seen".to_owned(),
        None => format!("there is {}{}", listed(), if known.len() > 12 { ", …" } else { "" }),
    };
    Refusal::usage(Code::E062, format!("{of} has no field `{name}`"), help)
}

/// What the engine of queries says, as a refusal.
pub(crate) fn failed(error: QueryError) -> Box<Refusal> {
    match error {
        QueryError::Source(inner) => match inner.downcast::<StoreError>() {
            Ok(error) => (*error).into(),
            Err(error) => Refusal::usage(Code::E064, error.to_string(), "look at the query again"),
        },
        QueryError::UnknownTable { name } => {
            Refusal::usage(Code::E102, format!("there is no dataset `{name}`"), "list them with `heldset ls`")
        }
        QueryError::UnknownField { name, known } => {
            unknown_field("the statement", &name, known.iter().map(String::as_str))
        }
        QueryError::Refused(message) => {
            Refusal::usage(Code::E066, message, "write one `select`; data changes through `import` and `record edit`")
        }
        QueryError::Invalid(message) => {
            let message = message.lines().next().unwrap_or_default().to_owned();
            Refusal::usage(
                Code::E064,
                lower(&message),
                "look at the statement again; names with odd letters stand in double quotes",
            )
        }
    }
}

/// A message of others in the way of ours: it starts small.
fn lower(message: &str) -> String {
    let mut letters = message.chars();
    match letters.next() {
        Some(first) if !letters.as_str().starts_with(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => message.to_owned(),
    }
}
