//! `runs`: which runs there are, and how they ended.
//!
//! *Invariant:* whoever may not see scores learns that a run was planned and whether it is finished, and nothing that
//! was computed from sealed fields.

use heldset_core::json;
use heldset_core::value::{Object, Value};
use heldset_store::StoreError;
use heldset_store::run::{BalanceDoc, RunDoc};

use crate::log;
use crate::refusal::Outcome;
use crate::resolve;
use crate::results::{all_runs, must_see_scores};
use crate::session::Session;
use crate::summary::{balance_value, count, optional};

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// The name of its plan.
    pub name: String,
    /// The dataset.
    pub dataset: String,
    /// The number of the version.
    pub version: u64,
    /// The digest of the version.
    pub digest: String,
    /// When it began.
    pub started_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
    /// How many sessions were planned.
    pub planned: u64,
    /// How it ended, for those who may know.
    pub ended: Option<Ended>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Where every session ended.
    pub balance: BalanceDoc,
    /// How many came from the cache.
    pub cached: u64,
    /// The share that passed, of those with a score.
    pub pass_rate: Option<f64>,
    /// The metric that counts, and its mean.
    pub primary: Option<(String, f64)>,
    /// What the gate said.
    pub verdict: Option<String>,
}

/// Lists the runs, oldest first; of one dataset, or all.
pub fn runs(session: &Session, slug: Option<&str>) -> Outcome<Vec<Listed>> {
    let dataset = slug.map(|slug| resolve::dataset(&session.store, &resolve::parse(slug)?.slug)).transpose()?;
    let mut docs = all_runs(session)?;
    docs.retain(|doc| dataset.as_ref().is_none_or(|dataset| doc.dataset_id == dataset.id));
    let sees = must_see_scores(session, "runs").is_ok();
    if sees && !docs.is_empty() {
        let mut entry = log::upkeep_entry(session, "runs", slug.unwrap_or_default(), "summaries of runs".to_owned());
        entry.labels = vec!["evaluator_only".to_owned()];
        entry.rows = docs.len() as u64;
        log::append(session, &entry, true)?;
    }
    docs.into_iter().map(|doc| Listed::of(session, doc, sees)).collect()
}

impl Listed {
    fn of(session: &Session, doc: RunDoc, sees: bool) -> Outcome<Listed> {
        let ended = if sees { Some(Ended::of(session, &doc)?) } else { None };
        Ok(Listed {
            id: doc.id,
            name: doc.name,
            dataset: doc.dataset,
            version: doc.version,
            digest: doc.digest,
            started_at: doc.started_at,
            finished_at: doc.finished_at,
            planned: doc.balance.planned,
            ended,
        })
    }

    /// `finished` or `unfinished`.
    pub fn state(&self) -> &'static str {
        if self.finished_at.is_some() { "finished" } else { "unfinished" }
    }

    /// The run.
    pub fn to_value(&self) -> Value<'static> {
        let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
        let mut value = Object::new();
        value.set("run", self.id.clone().into());
        value.set("name", self.name.clone().into());
        value.set("dataset", self.dataset.clone().into());
        value.set("version", count(self.version));
        value.set("digest", self.digest.clone().into());
        value.set("started_at", self.started_at.clone().into());
        value.set("finished_at", text(&self.finished_at));
        value.set("state", self.state().into());
        value.set("planned", count(self.planned));
        if let Some(ended) = &self.ended {
            value.set("balance", balance_value(&ended.balance));
            value.set("cached", count(ended.cached));
            value.set("pass_rate", optional(ended.pass_rate));
            value.set("primary", ended.primary.as_ref().map_or(Value::Null, |(name, _)| name.clone().into()));
            value.set("mean", optional(ended.primary.as_ref().map(|(_, mean)| *mean)));
            value.set("verdict", text(&ended.verdict));
        }
        value.into()
    }
}

impl Ended {
    fn of(session: &Session, doc: &RunDoc) -> Outcome<Ended> {
        let kept: Option<Value<'static>> = doc.summary.as_deref().map(|note| opened(session, doc, note)).transpose()?;
        let get =
            |path: &[&str]| path.iter().try_fold(kept.as_ref()?, |value, name| value.as_object()?.get(name)).cloned();
        let number = |path: &[&str]| match get(path) {
            Some(Value::Number(number)) => Some(number.as_f64()),
            _ => None,
        };
        let (passed, failed) = (number(&["outcomes", "pass"]), number(&["outcomes", "fail"]));
        let rate = |passed: f64, failed: f64| (passed + failed > 0.0).then(|| passed / (passed + failed));
        let primary = get(&["primary"]).and_then(|name| name.as_str().map(str::to_owned));
        Ok(Ended {
            balance: doc.balance,
            cached: doc.cached,
            pass_rate: passed.zip(failed).and_then(|(passed, failed)| rate(passed, failed)),
            primary: primary.and_then(|name| number(&["scores", &name, "mean"]).map(|mean| (name, mean))),
            verdict: get(&["gate", "verdict"]).and_then(|verdict| verdict.as_str().map(str::to_owned)),
        })
    }
}

fn opened(session: &Session, doc: &RunDoc, note: &str) -> Outcome<Value<'static>> {
    let text: String = session.store.open_note(&doc.dataset_id, note)?;
    let damaged = |_| StoreError::damaged(format!("catalog: run {}", doc.id));
    Ok(json::read(&text).map_err(damaged)?.into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use heldset_core::visibility::Viewer;
    use heldset_store::catalog::Batch;
    use heldset_store::documents::Document;
    use heldset_store::run::run_key;

    use super::*;
    use crate::results::made_up::{numbered, row, session, stored, tally};
    use crate::results::sealed;

    /// A finished run with its summary, and one that is not finished.
    fn world(viewer: Viewer) -> Session {
        let session = session(viewer);
        let rows = numbered(vec![row("q1", 1.0), row("q2", 0.0), row("q3", 1.0)]);
        let mut doc = stored(&session, "run-1", &Value::Object(Object::new()), &rows);
        let summary = tally(&rows).finish(Some("exact"), None, None).to_value();
        doc.summary =
            Some(sealed(&session.store, &doc.dataset_id, &summary).map_err(|refusal| refusal.message).unwrap());
        let mut batch = Batch::durable();
        batch.put(run_key("run-1"), doc.to_bytes().unwrap());
        doc.id = "run-2".to_owned();
        doc.finished_at = None;
        doc.summary = None;
        batch.put(run_key("run-2"), doc.to_bytes().unwrap());
        session.store.commit(&batch).unwrap();
        session
    }

    #[test]
    fn those_who_may_see_scores_see_how_runs_ended() {
        let listed = runs(&world(Viewer::Owner), None).map_err(|refusal| refusal.message).unwrap();
        let states: Vec<_> = listed.iter().map(|run| (run.id.as_str(), run.state())).collect();
        assert_eq!(states, [("run-1", "finished"), ("run-2", "unfinished")]);
        let ended = listed[0].ended.as_ref().unwrap();
        assert_eq!((ended.balance.scored, ended.pass_rate), (3, Some(2.0 / 3.0)));
        assert_eq!(ended.primary.as_ref().map(|(name, _)| name.as_str()), Some("exact"));
        assert_eq!(listed[1].ended.as_ref().unwrap().pass_rate, None);
    }

    #[test]
    fn nobody_else_learns_more_than_that_they_were_planned() {
        for viewer in ["agent", "operator", "dashboard", "trainer"] {
            let listed = runs(&world(Viewer::parse(viewer).unwrap()), None).map_err(|refusal| refusal.message).unwrap();
            assert!(listed.iter().all(|run| run.ended.is_none() && run.planned == 3), "{viewer}");
            let value = listed[0].to_value();
            assert!(
                ["balance", "pass_rate", "verdict", "mean"]
                    .iter()
                    .all(|name| !value.as_object().unwrap().contains(name))
            );
        }
    }
}
