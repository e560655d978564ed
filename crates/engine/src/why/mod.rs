//! `why`: everything about one record of a run: what was sent and answered, what graders said, and why it was run at all.
//!
//! *Invariant:* what is told about the cache is compared from what is stored, never guessed; what cannot be told is said.

mod cache;
mod text;

use heldset_core::code::Code;
use heldset_core::value::{Object, Value};
use heldset_store::run::{RunDoc, RunTargetDoc};

pub use cache::{CacheReason, KeyPart};

use crate::refusal::{Outcome, Refusal};
use crate::report::{row_value, run_head};
use crate::results::{Row, RunResults};
use crate::session::Session;
use crate::summary::count;

/// What is asked.
pub struct WhyRequest<'w> {
    /// The run.
    pub run: &'w str,
    /// The record.
    pub id: &'w str,
    /// One scenario.
    pub scenario: Option<&'w str>,
    /// One repetition, from 0.
    pub repeat: Option<u64>,
}

/// Everything about one record of a run.
#[derive(Debug)]
pub struct Explained {
    /// The run.
    pub doc: RunDoc,
    /// Its sessions with the record, in the order of the plan.
    pub sessions: Vec<ExplainedRow>,
}

/// One session.
#[derive(Debug)]
pub struct ExplainedRow {
    /// What became of it.
    pub row: Row,
    /// Its target.
    pub target: Option<RunTargetDoc>,
    /// Whether it came from the cache, or why not.
    pub cache: CacheReason,
}

/// Explains a record of a run.
pub fn why(session: &Session, request: &WhyRequest<'_>) -> Outcome<Explained> {
    let results = RunResults::open(session, request.run, "why")?;
    let mut rows = Vec::new();
    let mut known = Vec::new();
    results.each(|row| {
        let fits = row.record_id == request.id
            && request.scenario.is_none_or(|scenario| row.scenario == scenario)
            && request.repeat.is_none_or(|repeat| row.repeat == repeat);
        if fits {
            rows.push(row);
        } else if known.len() < 10_000 {
            known.push(row.record_id);
        }
        Ok(())
    })?;
    if rows.is_empty() {
        return Err(not_there(&results.doc, request, &known));
    }
    let reasons = cache::reasons(session, &results, &rows)?;
    let doc = results.doc;
    let target = |row: &Row| doc.targets.iter().find(|target| target.scenario == row.scenario).cloned();
    let explained = |(row, cache): (Row, CacheReason)| ExplainedRow { target: target(&row), row, cache };
    let sessions = rows.into_iter().zip(reasons).map(explained).collect();
    Ok(Explained { doc, sessions })
}

fn not_there(doc: &RunDoc, request: &WhyRequest<'_>, known: &[String]) -> Box<Refusal> {
    if known.iter().any(|id| id == request.id) {
        let message = format!("run `{}` has no such session of record `{}`", doc.id, request.id);
        let scenarios: Vec<String> = doc.targets.iter().map(|target| format!("`{}`", target.scenario)).collect();
        let help = format!("its scenarios are {}; repeats count from 0", scenarios.join(", "));
        return Refusal::usage(Code::E102, message, help);
    }
    let message = format!("run `{}` has no record `{}`", doc.id, request.id);
    Refusal::unknown(message, request.id, known.iter().map(String::as_str))
}

impl Explained {
    /// The explanation.
    pub fn to_value(&self) -> Value<'static> {
        let mut value: Object<'static> = run_head(&self.doc);
        value.set("sessions", Value::Array(self.sessions.iter().map(ExplainedRow::to_value).collect()));
        value.into()
    }
}

impl ExplainedRow {
    fn to_value(&self) -> Value<'static> {
        let mut value = row_value(&self.row);
        value.set("trace", self.row.trace.clone().unwrap_or(Value::Null));
        value.set("number", count(self.row.number));
        if let Some(target) = &self.target {
            let mut about = Object::new();
            about.set("kind", target.kind.clone().into());
            about.set("digest", target.digest.clone().into());
            about.set("config", Value::Object(crate::resolve::mapping(&target.config)));
            about.set("reusable", target.reusable.into());
            about.set("reported", target.reported.clone().map_or(Value::Null, Value::from));
            about.set("isolation", target.isolation.clone().map_or(Value::Null, Value::from));
            value.set("target", about.into());
        }
        value.set("cache", self.cache.to_value());
        value.into()
    }
}

#[cfg(test)]
mod tests;
