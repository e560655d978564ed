//! Results of earlier runs that may be used again.
//!
//! *Invariant:* only what an agent did without failing is used again, and only under the same run key; a cached row
//! keeps its output, times and tokens, and says where it is from.

use std::collections::{HashMap, HashSet};

use heldset_core::run::RECIPE;
use heldset_store::run::RunDoc;

use super::targets::PreparedTarget;
use crate::refusal::Outcome;
use crate::results::{Row, RowOutcome, RunResults, all_runs};
use crate::session::Session;

/// What is done about results of earlier runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Use them.
    Use,
    /// Run anew, and let later runs use that.
    Refresh,
    /// Run anew; later runs do not look at it either.
    Off,
    /// Use them, and run nothing.
    Require,
}

/// Rows by run key, in hex, each with the run it is from.
#[derive(Default)]
pub(crate) struct Known {
    rows: HashMap<String, Row>,
}

impl Known {
    /// What earlier runs know for these targets, the newest of each key.
    pub(crate) fn load(session: &Session, targets: &[PreparedTarget]) -> Outcome<Known> {
        let reusable = targets.iter().filter(|target| target.is_reusable());
        let digests: HashSet<String> = reusable.map(|target| target.digest.to_string()).collect();
        let mut known = Known::default();
        if digests.is_empty() {
            return Ok(known);
        }
        let fits = |run: &RunDoc| {
            let same = run.targets.iter().any(|target| target.reusable && digests.contains(&target.digest));
            run.finished_at.is_some() && run.recipe == RECIPE && same
        };
        for run in all_runs(session)?.into_iter().rev().filter(fits) {
            known.add(session, run)?;
        }
        Ok(known)
    }

    /// What one run knows, whatever its targets.
    pub(crate) fn of_run(session: &Session, cite: &str) -> Outcome<Known> {
        let results = RunResults::open(session, cite, "score")?;
        let mut known = Known::default();
        known.add(session, results.doc)?;
        Ok(known)
    }

    /// The row of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Row> {
        self.rows.get(key)
    }

    /// How many keys are known.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    fn add(&mut self, session: &Session, run: RunDoc) -> Outcome<()> {
        let id = run.id.clone();
        RunResults::of(session, run, "run")?.each(|mut row| {
            if row.failure.is_none() && row.outcome != RowOutcome::Skipped && !self.rows.contains_key(&row.run_key) {
                row.cached.get_or_insert_with(|| id.clone());
                self.rows.insert(row.run_key.clone(), row);
            }
            Ok(())
        })
    }
}
