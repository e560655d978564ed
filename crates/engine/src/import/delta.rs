//! A version from a handful of rows: some are put in, some are taken out, and the rest is not read.
//!
//! *Invariant:* the version is the one that importing the whole changed file would make: a changed record stays in
//! its place, a new one comes last. What was erased is not carried into new chunks.

use std::collections::{HashMap, HashSet};

use heldset_core::code::Code;
use heldset_core::visibility::{SplitLabels, upkeep};
use heldset_store::StoreError;
use heldset_store::pack::{Staged, Stager};

use super::stage::{Staging, Stop};
use super::{About, Generation, ImportRequest, Imported, Labelling, Target, check_companions, relabel, split_draft};
use crate::Listener;
use crate::commit::{Committed, commit};
use crate::compact::after_change;
use crate::gather::{Gather, Gathered, Packing, Stopped};
use crate::ports::Sources;
use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::view::{Batch, hidden_splits};

/// So many ids are looked up one by one.
const A_FEW: usize = 8;
/// How often the work is done again because somebody else was faster.
const TRIES: usize = 10;

/// Which records change.
#[derive(Default)]
pub struct Change<'c> {
    /// Records that are put in, in the place of those with their ids.
    pub sources: Option<&'c dyn Sources>,
    /// Ids of records that are taken out.
    pub remove: &'c [String],
}

/// Registers a version with some records changed.
pub fn change(
    session: &Session,
    request: &ImportRequest<'_>,
    change: &Change<'_>,
    listener: &mut dyn Listener,
) -> Outcome<Imported> {
    session.must_manage("import")?;
    if request.about.mode.is_some() || request.about.generation != Generation::default() {
        let message = "a mode does not go with a change of single rows";
        return Err(Refusal::usage(Code::E103, message, "import the whole split to say how it came to be"));
    }
    let _held = session.store.hold()?;
    let mut tries = 0;
    loop {
        tries += 1;
        match attempt(session, request, change, listener) {
            Err(refusal) if refusal.code == Code::E115 && tries < TRIES => {}
            done => return done,
        }
    }
}

fn attempt(
    session: &Session,
    request: &ImportRequest<'_>,
    change: &Change<'_>,
    listener: &mut dyn Listener,
) -> Outcome<Imported> {
    resolve::dataset(&session.store, request.slug)?;
    let mut target = Target::find(session, request.slug, request.about)?;
    let labels = split_labels(session, &target, request)?;
    target.check_labels_stand()?;
    let (policy, profile) = match &target.head {
        Some((_, policy)) => (policy.clone(), target.profile()),
        None => return Err(StoreError::Conflict.into()),
    };
    let key = target.commit_key();
    let checker = target.checker()?;
    let schema = checker.as_ref();
    let staging = Staging { labels: &labels, key: &key, policy: &policy, profile, watch: false, schema };
    let mut rows = Vec::new();
    let mut reports = Vec::new();
    let mut described = Vec::new();
    if let Some(sources) = change.sources {
        let read = staging.read(sources, request.reading, listener, &mut |staged| {
            rows.push(staged);
            Ok(())
        });
        (reports, _) = read.map_err(|stop| match stop {
            Stop::Refused(refusal) => refusal,
            Stop::IsCase | Stop::Stopped => StoreError::internal("the reading stopped").into(),
        })?;
        described = super::stage::describe(sources, request.split, &session.clock.now())?;
        if reports.iter().any(|report| report.faults > 0) {
            return Ok(Imported { committed: None, reports });
        }
    }
    let gathered = gather(session, &mut target, request.split, (&labels, staging.stager()), rows, change.remove)?;
    let mut split = split_draft(request.split, gathered);
    split.base = relabel::root_of(&target, request.split);
    let mut draft = target.draft(policy, vec![split], request.labelling, request.about, "import");
    draft.sources = described;
    check_companions(session, &target, &draft)?;
    let committed = commit(session, &draft)?;
    after_change(session, &committed.dataset, request.split);
    Ok(Imported { committed: Some(committed), reports })
}

/// Registers a version with one record put in or taken out.
pub(crate) fn change_staged(
    session: &Session,
    slug: &str,
    split: &str,
    about: &About,
    mut make: impl FnMut(&Target, &Staging<'_>) -> Outcome<(Vec<Staged>, Vec<String>)>,
) -> Outcome<Committed> {
    let _held = session.store.hold()?;
    let labelling = Labelling::default();
    let mut tries = 0;
    loop {
        tries += 1;
        let mut target = Target::find(session, slug, about)?;
        let Some((_, policy)) = target.head.clone() else { return Err(StoreError::Conflict.into()) };
        let (labels, key, profile) = (policy.in_split(split)?, target.commit_key(), target.profile());
        let checker = target.checker()?;
        let schema = checker.as_ref();
        target.check_labels_stand()?;
        let staging = Staging { labels: &labels, key: &key, policy: &policy, profile, watch: false, schema };
        let (rows, remove) = make(&target, &staging)?;
        let gathered = gather(session, &mut target, split, (&labels, staging.stager()), rows, &remove)?;
        let mut changed = split_draft(split, gathered);
        changed.base = relabel::root_of(&target, split);
        let draft = target.draft(policy.clone(), vec![changed], &labelling, about, "record");
        check_companions(session, &target, &draft)?;
        match commit(session, &draft) {
            Err(refusal) if refusal.code == Code::E115 && tries < TRIES => {}
            done => {
                after_change(session, &target.dataset, split);
                return done;
            }
        }
    }
}

/// The labels of a split of the head. One that the caller may not see is not there.
fn split_labels(session: &Session, target: &Target, request: &ImportRequest<'_>) -> Outcome<SplitLabels> {
    let (version, policy) = target.head.as_ref().ok_or(StoreError::Conflict)?;
    let hidden = hidden_splits(session, std::slice::from_ref(version))?;
    let known = version.splits.iter().filter(|split| !split.files).map(|split| split.name.as_str());
    let known = known.filter(|name| !hidden.contains(*name));
    if !known.clone().any(|name| name == request.split) {
        let message = format!("dataset `{}` has no split of records `{}`", request.slug, request.split);
        return Err(Refusal::unknown(message, request.split, known));
    }
    let labelling = request.labelling;
    let states = labelling.policy.is_some() || !labelling.labels.is_empty() || labelling.visibility.is_some();
    if states {
        return Err(Refusal::usage(
            Code::E103,
            "labels cannot change together with single rows",
            "change the labels first: `heldset import SLUG --label FIELD=LABEL`",
        ));
    }
    Ok(policy.in_split(request.split)?)
}

/// The split with the changes in it. Chunks without a change are taken as they are.
fn gather(
    session: &Session,
    target: &mut Target,
    split: &str,
    (labels, mut stager): (&SplitLabels, Stager),
    rows: Vec<Staged>,
    remove: &[String],
) -> Outcome<Gathered> {
    let doc = target.head.as_ref().and_then(|(version, _)| resolve::split(version, split)).cloned();
    let doc = doc.ok_or(StoreError::Conflict)?;
    let sealing = target.sealing(session, split);
    let mut known = SplitRows::load(&session.store, &target.dataset.id, &doc)?;
    let grant = upkeep();
    let (store, keys) = (&session.store, Some(&target.keys));
    let reading = Reading { store, keys, dataset: &target.dataset.id, labels, grant: &grant };
    if rows.len() + remove.len() > A_FEW {
        known.hold_indexes(&reading)?;
    }
    let changes = Changes::find(&known, &reading, rows, remove, split)?;
    let packing = Packing { store, labels, sealing: &sealing };
    let gathered = std::thread::scope(|scope| {
        let mut gather = Gather::start(scope, packing, &known);
        let pushed = changes.apply(&known, &reading, &mut stager, &mut gather);
        match pushed {
            Ok(()) => Ok(gather.finish()?),
            Err(error) => gather.abandon().map_err(Box::<Refusal>::from).and(Err(error)),
        }
    })?;
    Ok(gathered)
}

/// What changes in a split.
struct Changes<'c> {
    /// The rows that stand in for stored ones, by id.
    replaced: HashMap<Box<str>, Staged>,
    /// Ids that are taken out.
    removed: HashSet<&'c str>,
    /// The chunks that hold one of them.
    touched: HashSet<usize>,
    /// Rows that are new.
    added: Vec<Staged>,
}

impl<'c> Changes<'c> {
    fn find(
        known: &SplitRows,
        reading: &Reading<'_>,
        rows: Vec<Staged>,
        remove: &'c [String],
        split: &str,
    ) -> Outcome<Changes<'c>> {
        let mut changes =
            Changes { replaced: HashMap::new(), removed: HashSet::new(), touched: HashSet::new(), added: Vec::new() };
        for id in remove {
            let Some((chunk, ..)) = known.locate(reading, id)? else {
                let help = "list the ids with `heldset cat`";
                return Err(Refusal::usage(Code::E102, format!("split `{split}` has no record `{id}`"), help));
            };
            changes.touched.insert(chunk);
            changes.removed.insert(id);
        }
        for row in rows {
            if changes.removed.contains(&*row.id) {
                let message = format!("record `{}` is in the file and among those to remove", row.id);
                return Err(Refusal::usage(Code::E103, message, "take it out of one of the two"));
            }
            match known.locate(reading, &row.id)? {
                Some((chunk, ..)) => {
                    changes.touched.insert(chunk);
                    changes.replaced.insert(row.id.clone(), row);
                }
                None => changes.added.push(row),
            }
        }
        if !changes.added.is_empty() && !known.chunks.is_empty() {
            changes.touched.insert(known.chunks.len() - 1);
        }
        Ok(changes)
    }

    fn apply(
        mut self,
        known: &SplitRows,
        reading: &Reading<'_>,
        stager: &mut Stager,
        gather: &mut Gather<'_, '_>,
    ) -> Outcome<()> {
        let stopped = |_: Stopped| StoreError::internal("the writer of packs stopped");
        for (index, (root, rows)) in known.chunks.iter().enumerate() {
            if !self.touched.contains(&index) && !known.is_erased(root) && gather.push_chunk(*root, *rows) {
                continue;
            }
            let place = known.place_of(index)?;
            let range = place.first..place.first + place.rows;
            let batch = Batch::of(reading.groups(&known.packs[place.pack].1, &[range])?);
            for row in 0..batch.len() {
                let id = batch.id(row);
                if self.removed.contains(id) {
                    continue;
                }
                let staged = match self.replaced.remove(id) {
                    Some(staged) => staged,
                    None => stager.stage(&batch.record(row)?),
                };
                gather.push(staged).map_err(stopped)?;
            }
        }
        for staged in self.added {
            gather.push(staged).map_err(stopped)?;
        }
        Ok(())
    }
}
