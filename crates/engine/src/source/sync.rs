//! `source sync`: what sources hold becomes a version.
//!
//! *Invariant:* nothing is registered when a row or an object failed, unless the caller wants the rest. What was read
//! and not registered stays in the journal until it is, or until it is of no use.

use std::collections::BTreeMap;

use heldset_core::code::Code;
use heldset_core::digest::CommitKey;
use heldset_core::fault::{Fault, Problem};
use heldset_core::mapping::{Matches, Seen};
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};
use heldset_store::catalog::Batch;
use heldset_store::documents::{DatasetDoc, Document};
use heldset_store::registry::{FeedDoc, feed_key};
use heldset_store::{DatasetKeys, StoreError};

use super::commit::{Read, changed, filters, register, revision};
use super::frame::{Frame, number};
use super::pull::{Progress, Pulled, Pulling, pull};
use super::{Reach, Source, chosen, replay};
use crate::Listener;
use crate::commit::Committed;
use crate::connector::text_of;
use crate::import::{About, Labelling, Target};
use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping};
use crate::session::Session;

/// What is synced, and how.
pub struct SyncRequest<'s> {
    /// The dataset.
    pub slug: &'s str,
    /// Sources by id or name; all when there is none.
    pub sources: &'s [String],
    /// Begin anew, whatever was read before.
    pub restart: bool,
    /// Register what is valid although rows, objects or the rest of a source failed.
    pub keep_valid: bool,
    /// How it is recorded.
    pub mode: SyncMode,
    /// What is stated about labels.
    pub labelling: &'s Labelling,
    /// A message.
    pub message: Option<String>,
    /// How many workers.
    pub threads: usize,
}

/// How a sync is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// As a copy of what is there.
    Copy,
    /// As a stream: with the digest of every page; the pages themselves are cached if that is asked for.
    Stream {
        /// Whether they are.
        cache: bool,
    },
    /// From cached pages, without dialling out.
    Replay,
}

/// What a sync did.
pub struct Synced {
    /// The version of each split; none when something failed.
    pub committed: Vec<Committed>,
    /// What was read of each source.
    pub sources: Vec<SourceReport>,
    /// Whether rows were refused, so that nothing was registered.
    pub refused: bool,
}

/// What was read of a source.
#[derive(Clone, Debug)]
pub struct SourceReport {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The split.
    pub split: String,
    /// How many rows were read.
    pub read: u64,
    /// How many of them are records.
    pub rows: u64,
    /// How many pages were read.
    pub pages: usize,
    /// How many of them had been read before.
    pub resumed: usize,
    /// How many bytes were answered.
    pub bytes: u64,
    /// What was not taken: name and reason.
    pub skipped: Vec<(String, String)>,
    /// What could not be read: name and reason.
    pub failed: Vec<(String, String)>,
    /// How many rows cannot be records.
    pub refused: u64,
    /// The revision upstream.
    pub revision: Option<String>,
    /// What the privacy filters did: a list of filters with counts.
    pub privacy: Value<'static>,
}

/// Fills a dataset from its sources.
pub fn sync(
    session: &Session,
    reach: Reach<'_>,
    request: &SyncRequest<'_>,
    listener: &mut dyn Listener,
) -> Outcome<Synced> {
    session.must_manage("source")?;
    let _held = session.store.hold()?;
    let (dataset, sources) = chosen(session, request.slug, request.sources)?;
    let keys = ready(session, &dataset)?;
    let mut progress = Progress { listener: &mut *listener, bytes: 0, rows: 0 };
    let mut read: Vec<(Source, Pulled<'_>)> = Vec::new();
    for source in sources {
        let pulled = match request.mode {
            SyncMode::Replay => replayed(session, &dataset, &source, &keys.commit_key())?,
            SyncMode::Copy | SyncMode::Stream { .. } => {
                let how = Pulling { restart: request.restart, keep_valid: request.keep_valid };
                pull(session, reach, (&dataset.id, &keys), &source, how, &mut progress)?
            }
        };
        read.push((source, pulled));
    }
    let reports: Vec<SourceReport> = read.iter().map(|(source, pulled)| report(source, pulled)).collect();
    // What is replayed was told, and taken, when it was read.
    let fresh = request.mode != SyncMode::Replay;
    for (source, pulled) in read.iter().filter(|_| fresh) {
        tell(source, pulled, listener).map_err(StoreError::internal)?;
    }
    let faulty = reports.iter().any(|report| report.refused > 0 || !report.failed.is_empty());
    if faulty && fresh && !request.keep_valid {
        return Ok(Synced { committed: Vec::new(), sources: reports, refused: true });
    }
    let (mut committed, mut refused, mut failed) = (Vec::new(), false, None);
    for (split, members) in by_split(&read) {
        let parts: Vec<Read<'_>> = members.iter().map(|(source, pulled)| part(source, pulled)).collect();
        let done = match register(session, request, split, &parts, listener) {
            Ok(imported) => imported.committed,
            Err(refusal) => {
                failed = Some(refusal);
                break;
            }
        };
        let Some(done) = done else {
            refused = true;
            break;
        };
        for (source, _) in &members {
            let report = reports.iter().find(|report| report.id == source.doc.id);
            note(session, &dataset, &source.doc, &done, report)?;
        }
        committed.push(done);
    }
    for (_, pulled) in read {
        // What stopped early, or only could not be written, goes on from there next time. What rows are refused for may
        // be mended upstream: they are read again.
        if let (Some(journal), None, false) =
            (pulled.journal, pulled.stopped, failed.as_deref().is_some_and(in_the_way))
        {
            journal.remove()?;
        }
    }
    if let Some(refusal) = failed {
        return Err(refusal);
    }
    Ok(Synced { committed, sources: reports, refused })
}

/// Whether something was in the way that has nothing to do with what was read.
fn in_the_way(refusal: &Refusal) -> bool {
    matches!(refusal.code, Code::E104 | Code::E112 | Code::E113 | Code::E115)
}

/// The keys of a dataset that may be filled, by this caller.
fn ready(session: &Session, dataset: &DatasetDoc) -> Outcome<DatasetKeys> {
    let status = dataset.more.as_deref().map(mapping).and_then(|more| Some(more.get("status")?.as_str()?.to_owned()));
    if let Some(status) = status.filter(|status| status == "archived") {
        let message = format!("dataset `{}` is {status}, and an archived dataset is not filled", dataset.slug);
        return Err(Refusal::usage(Code::E075, message, "fill another dataset"));
    }
    Ok(Target::find(session, &dataset.slug, &About::default())?.keys)
}

fn replayed<'s>(session: &Session, dataset: &DatasetDoc, source: &Source, commit: &CommitKey) -> Outcome<Pulled<'s>> {
    let head = match dataset.head {
        0 => None,
        head => Some(resolve::version(&session.store, dataset, head)?),
    };
    let frames = replay::load(session, dataset, head.as_ref(), source, commit)?;
    Ok(Pulled { resumed: frames.len(), frames, stopped: None, journal: None })
}

/// Sources by the split they go into.
fn by_split<'r, 's>(read: &'r [(Source, Pulled<'s>)]) -> BTreeMap<&'r str, Vec<(&'r Source, &'r Pulled<'s>)>> {
    let mut splits: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (source, pulled) in read {
        splits.entry(&source.declared.split).or_default().push((source, pulled));
    }
    splits
}

fn part<'r>(source: &'r Source, pulled: &'r Pulled<'_>) -> Read<'r> {
    Read { source, frames: &pulled.frames, failed: stopped(pulled) }
}

/// The page that was not read, if the rest is left out.
fn stopped(pulled: &Pulled<'_>) -> Vec<(String, String)> {
    let name = format!("page {}", pulled.frames.len() + 1);
    pulled.stopped.iter().map(|refusal| (name.clone(), refusal.message.clone())).collect()
}

fn report(source: &Source, pulled: &Pulled<'_>) -> SourceReport {
    let frames = &pulled.frames;
    let all = |of: fn(&Frame) -> &Vec<(String, String)>| frames.iter().flat_map(of).cloned();
    SourceReport {
        id: source.doc.id.clone(),
        name: source.doc.display_name.clone(),
        split: source.declared.split.clone(),
        read: frames.iter().map(|frame| frame.matches.rows).sum(),
        rows: frames.iter().map(|frame| frame.ids.len() as u64).sum(),
        pages: frames.iter().filter(|frame| !frame.is_remark()).count(),
        resumed: pulled.resumed,
        bytes: frames.iter().map(|frame| frame.size).sum(),
        skipped: all(|frame| &frame.skipped).collect(),
        failed: all(|frame| &frame.failed).chain(stopped(pulled)).collect(),
        refused: frames.iter().map(|frame| frame.refused.len() as u64).sum(),
        revision: revision(frames),
        privacy: filters(source, &changed(frames)),
    }
}

/// Tells of rows that cannot be records, of objects that failed, and of paths and filters that did nothing.
fn tell(source: &Source, pulled: &Pulled<'_>, listener: &mut dyn Listener) -> std::io::Result<()> {
    let file = Some(source.doc.display_name.as_str());
    let at = |code, message: String| Problem::new(code, Path::root(), message);
    for frame in &pulled.frames {
        for (row, code, why) in &frame.refused {
            let mut problem = at(*code, format!("row {row} of `{}`: {why}", frame.asked));
            if matches!(code, Code::E011 | Code::E012 | Code::E013) {
                problem = problem.help("name the path of the id with `id_from`");
            }
            listener.fault(&problem.of_file().in_file(file))?;
        }
        for (name, why) in &frame.failed {
            listener.fault(&at(Code::E070, format!("`{name}` could not be read: {why}")).of_file().in_file(file))?;
        }
    }
    let (mut matches, mut seen) = (Matches::default(), Vec::new());
    for frame in &pulled.frames {
        matches.add(&frame.matches);
        seen.extend(frame.seen.paths().map(str::to_owned));
    }
    let declared = &source.declared;
    let mut warnings = declared.mapping.unmatched(&matches, &Seen::of(seen));
    warnings.extend(declared.privacy.unmatched(matches.rows, &changed(&pulled.frames)));
    let faults: Vec<Fault> = warnings.into_iter().map(|problem| problem.of_file().in_file(file)).collect();
    faults.iter().try_for_each(|fault| listener.warning(fault))
}

/// Notes at the source when it was synced, into which version, and what was done.
fn note(
    session: &Session,
    dataset: &DatasetDoc,
    doc: &FeedDoc,
    done: &Committed,
    report: Option<&SourceReport>,
) -> Outcome<()> {
    let sealed =
        report.map(|report| session.store.seal_note(&dataset.id, &text_of(&Value::Object(report.to_object()))));
    let sealed = sealed.transpose()?;
    let key = feed_key(&dataset.id, &doc.id);
    log::commit(session, || {
        let mut batch = Batch::durable();
        let Some(before) = session.store.document::<FeedDoc>(&key)? else { return Ok(batch) };
        let after = FeedDoc {
            synced_at: Some(session.clock.now()),
            synced_version: Some(done.version.number),
            last: sealed.clone(),
            ..before.clone()
        };
        batch.expect(key.clone(), Some(before.to_bytes()?));
        batch.put(key.clone(), after.to_bytes()?);
        let note = format!("source `{}` is synced into version {}", doc.display_name, done.version.number);
        let entry = log::upkeep_entry(session, "source sync", &dataset.slug, note);
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
    })
}

impl SourceReport {
    /// The report as it is printed and kept.
    pub fn to_object(&self) -> Object<'static> {
        let list = |list: &[(String, String)]| {
            let entry = |(name, why): &(String, String)| {
                let members = [("name".into(), Value::from(name.clone())), ("reason".into(), Value::from(why.clone()))];
                Value::Object(members.into_iter().collect())
            };
            Value::Array(list.iter().map(entry).collect())
        };
        let members = [
            ("source_id", Value::from(self.id.clone())),
            ("source_name", Value::from(self.name.clone())),
            ("split", Value::from(self.split.clone())),
            ("read", number(self.read)),
            ("rows", number(self.rows)),
            ("refused", number(self.refused)),
            ("pages", number(self.pages as u64)),
            ("resumed_pages", number(self.resumed as u64)),
            ("bytes", number(self.bytes)),
            ("skipped", list(&self.skipped)),
            ("failed", list(&self.failed)),
            ("revision", self.revision.clone().map_or(Value::Null, Value::from)),
            ("privacy", self.privacy.clone()),
        ];
        members.into_iter().map(|(name, value)| (name.into(), value)).collect()
    }
}
