//! `sql`: one statement that reads, over datasets, runs and the access log as an audience sees them.
//!
//! *Invariant:* a table is a view: opened for the audience, logged, and without the columns that it may not see.

use heldset_core::fault::Fault;
use heldset_core::value::Value;
use heldset_query::{Answer, Statement, Tables};

use crate::query::{Desk, Memory, failed};
use crate::refusal::Outcome;
use crate::session::Session;

/// What a statement gives.
pub struct SqlAnswer {
    answer: Answer,
    /// The versions that were read: name in the statement, number and digest of the version.
    pub over: Vec<(String, Option<u64>, Option<String>)>,
    /// What the caller should know of the datasets.
    pub warnings: Vec<Fault>,
}

/// Runs a statement. Tables are named like versions: `trips`, `"trips@3"`, `"trips@3#test"` for one split, `"run:last"`,
/// `"access-log"`.
pub fn sql(session: &Session, memory: &Memory, text: &str) -> Outcome<SqlAnswer> {
    let statement = Statement::parse(text).map_err(failed)?;
    let (mut tables, mut over, mut warnings) = (Tables::new(), Vec::new(), Vec::new());
    for name in statement.tables().map_err(failed)? {
        let (cite, split) = name.split_once('#').map_or((name.as_str(), None), |(cite, split)| (cite, Some(split)));
        let desk = Desk::open(session, memory, cite, split)?;
        over.push((name.clone(), desk.over.version, desk.over.digest.clone()));
        warnings.extend(desk.warning.clone());
        tables.insert(name, desk.table()?);
    }
    let answer = statement.run(tables).map_err(failed)?;
    Ok(SqlAnswer { answer, over, warnings })
}

impl SqlAnswer {
    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.answer.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = Vec<Value<'static>>> + '_ {
        self.answer.rows()
    }
}
