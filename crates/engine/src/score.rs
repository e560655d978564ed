//! `score`: the outputs of a run are scored again, without asking the agent.
//!
//! *Invariant:* makes a run of its own and leaves the first as it is; a record whose input changed since is skipped,
//! never scored with another record's output.

use crate::agents::Outside;
use crate::refusal::Outcome;
use crate::results::{RunResults, find_run, must_see_scores};
use crate::run::{Ran, RunListener, RunRequest, run};
use crate::session::Session;

/// The plan of a run in its native form, and the version it was run on.
pub fn plan_of(session: &Session, cite: &str) -> Outcome<(heldset_core::value::Value<'static>, String)> {
    let results = RunResults::open(session, cite, "score")?;
    let version = format!("{}@{}", results.doc.dataset, results.doc.version);
    Ok((results.plan()?, version))
}

/// Scores the outputs of a run; `request.outputs_of` names it.
pub fn score(
    session: &Session,
    request: &RunRequest<'_>,
    outside: &dyn Outside,
    listener: &mut dyn RunListener,
) -> Outcome<Ran> {
    must_see_scores(session, "score")?;
    if let Some(cite) = request.outputs_of {
        find_run(session, cite)?;
    }
    run(session, request, outside, listener)
}
