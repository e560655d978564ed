//! Reading the results of a run back.
//!
//! *Invariant:* whoever may not see scores gets no row at all; a look is logged before the first row.

use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::plan::Limit;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{Grant, Place, SplitLabels, Viewer, decide};
use heldset_store::catalog::Key;
use heldset_store::documents::{AuditDoc, Document, PackDoc};
use heldset_store::run::{RunDoc, run_key, run_pack_key};
use heldset_store::{DatasetKeys, Held, StoreError};

use super::Row;
use super::columns::{self, SPLIT};
use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::session::Session;
use crate::view::Batch;

/// A run with its results.
pub struct RunResults<'s> {
    session: &'s Session,
    /// What the catalogue says of it.
    pub doc: RunDoc,
    labels: SplitLabels,
    grant: Grant,
    keys: DatasetKeys,
    _held: Option<Held>,
}

/// Refuses whoever may not see scores, before anything is looked up.
pub fn must_see_scores(session: &Session, verb: &str) -> Outcome<()> {
    let policy = columns::policy()?;
    let scores = policy.label("evaluator_only");
    if scores.is_some_and(|label| session.viewer.sees(&label)) {
        return Ok(());
    }
    let message = format!("the audience `{}` may not use `{verb}`", session.viewer.name());
    Err(Refusal::denied(Code::E120, message, "run it as the owner, without `--as`, or `--as evaluator`"))
}

/// Every run, oldest first.
pub fn all_runs(session: &Session) -> Outcome<Vec<RunDoc>> {
    let entries = session.store.catalog().scan("run", "")?;
    let read = |(key, bytes): &(String, Vec<u8>)| RunDoc::from_bytes(bytes, &format!("catalog: run {key}"));
    Ok(entries.iter().map(read).collect::<Result<_, _>>()?)
}

/// The run that is meant: by its id, by a beginning of it that no other has, or `last`.
pub fn find_run(session: &Session, cite: &str) -> Outcome<RunDoc> {
    if let Some(doc) = session.store.document(&run_key(cite))? {
        return Ok(doc);
    }
    let mut runs = all_runs(session)?;
    if cite == "last"
        && let Some(run) = runs.pop()
    {
        return Ok(run);
    }
    let meant: Vec<usize> = (0..runs.len()).filter(|index| runs[*index].id.starts_with(cite)).collect();
    if let ([index], false) = (&meant[..], cite.is_empty()) {
        return Ok(runs.swap_remove(*index));
    }
    let known = runs.iter().map(|run| run.id.as_str());
    Err(Refusal::unknown(format!("there is no run `{cite}`"), cite, known))
}

/// Whether a run has more errors than its plan allows.
pub fn too_many_errors(run: &RunDoc) -> bool {
    let limit: Option<Limit> = run.max_errors.parse().ok();
    limit.is_some_and(|limit| limit.is_exceeded(run.balance.error, run.balance.planned))
}

impl<'s> RunResults<'s> {
    /// Opens the results of a run that is finished; the look is logged.
    pub fn open(session: &'s Session, cite: &str, verb: &str) -> Outcome<Self> {
        must_see_scores(session, verb)?;
        let doc = find_run(session, cite)?;
        if doc.finished_at.is_none() {
            let message = format!("run `{}` is not finished", doc.id);
            return Err(Refusal::usage(Code::E117, message, "run its plan again: it goes on where it stopped"));
        }
        RunResults::of(session, doc, verb)
    }

    /// Opens the results of a run, finished or not.
    pub(crate) fn of(session: &'s Session, doc: RunDoc, verb: &str) -> Outcome<Self> {
        let held = session.store.hold()?;
        let policy = columns::policy()?;
        let place = match session.viewer {
            Viewer::Owner => Place::ControlPlane,
            viewer => viewer.place(),
        };
        let grant = decide(&policy, session.viewer, place);
        let keys = session.store.keys().load(&doc.dataset_id)?;
        let keys = keys.ok_or_else(|| StoreError::NoKey { dataset: doc.dataset.clone() })?;
        let mut doc = doc;
        if let Some(note) = &doc.configs {
            let configs: Vec<(String, String)> = session.store.open_note(&doc.dataset_id, note)?;
            for (target, (config, identity)) in doc.targets.iter_mut().zip(configs) {
                (target.config, target.identity) = (config, identity);
            }
        }
        let results = RunResults { session, labels: policy.in_split(SPLIT)?, grant, keys, doc, _held: held };
        results.log(place, verb)?;
        Ok(results)
    }

    /// Hands out all rows, in the order of the plan.
    pub fn each(&self, mut take: impl FnMut(Row) -> Outcome<()>) -> Outcome<()> {
        self.each_batch(|batch| {
            for row in 0..batch.len() {
                take(Row::from_record(&batch.record(row)?)?)?;
            }
            Ok(())
        })
    }

    /// All rows as records, in the order of the plan.
    pub(crate) fn records(&self) -> Outcome<Vec<(String, Object<'static>)>> {
        let mut records = Vec::new();
        self.each_batch(|batch| {
            for row in 0..batch.len() {
                let record = batch.record(row)?;
                records.push((batch.id(row).to_owned(), record.fields.into_owned()));
            }
            Ok(())
        })?;
        Ok(records)
    }

    fn each_batch(&self, mut take: impl FnMut(&Batch) -> Outcome<()>) -> Outcome<()> {
        for name in &self.doc.packs {
            let key: Key = run_pack_key(&self.doc.dataset_id, &self.doc.id, name);
            let pack: Option<PackDoc> = self.session.store.document(&key)?;
            let pack = pack.ok_or_else(|| StoreError::missing(format!("catalog: {key}")))?;
            take(&self.batch(&pack)?)?;
        }
        Ok(())
    }

    /// All rows at once.
    pub fn rows(&self) -> Outcome<Vec<Row>> {
        let mut rows = Vec::new();
        self.each(|row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The plan in its native form.
    pub fn plan(&self) -> Outcome<Value<'static>> {
        self.note(&self.doc.plan)
    }

    /// Statistics and verdict, as they were when the run ended.
    pub fn summary(&self) -> Outcome<Option<Value<'static>>> {
        self.doc.summary.as_deref().map(|note| self.note(note)).transpose()
    }

    fn note(&self, note: &str) -> Outcome<Value<'static>> {
        let text: String = self.session.store.open_note(&self.doc.dataset_id, note)?;
        let damaged = |_| StoreError::damaged(format!("catalog: run {}", self.doc.id));
        Ok(json::read(&text).map_err(damaged)?.into_owned())
    }

    fn batch(&self, pack: &PackDoc) -> Outcome<Batch> {
        let mut groups = Vec::new();
        let own = self.labels.own();
        let labels = std::iter::once(own).chain(self.labels.labels().iter().filter(|label| *label != own));
        for label in labels.filter(|label| self.grant.covers(label)) {
            let Some(object) = pack.objects.iter().find(|object| object.label == label.name()) else { continue };
            let store = &self.session.store;
            let sealed = store.group(object, &self.doc.dataset_id, Some(&self.keys), label, &[], false)?;
            groups.push(sealed.open(&self.grant).map_err(StoreError::internal)?);
        }
        Ok(Batch::of(groups))
    }

    fn log(&self, place: Place, verb: &str) -> Outcome<()> {
        let labels = self.labels.labels().iter().filter(|label| self.grant.covers(label));
        let entry = AuditDoc {
            time: self.session.clock.now(),
            who: self.session.user.clone(),
            audience: self.session.viewer.name().to_owned(),
            place: place.name().to_owned(),
            purpose: verb.to_owned(),
            dataset: self.doc.dataset.clone(),
            version: self.doc.digest.clone(),
            splits: Vec::new(),
            labels: labels.map(|label| label.name().to_owned()).collect(),
            rows: self.doc.balance.planned,
            allowed: true,
            note: Some(format!("results of run {}", self.doc.id)),
        };
        Ok(log::append(self.session, &entry, true)?)
    }
}
