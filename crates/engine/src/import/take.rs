//! Reading files into a split that can be registered.
//!
//! *Invariant:* nothing is registered here; what was written is only found again by the version that names it.

use heldset_core::profile::Profile;
use heldset_core::visibility::{Policy, SplitLabels};
use heldset_dialect::{Body, ReadOptions, ReadSeek, Report};
use heldset_store::StoreError;
use heldset_store::catalog::Key;
use heldset_store::documents::{SourceDoc, lines_key};

use super::again::Again;
use super::lines::{self, Lines, Stretch};
use super::stage::{self, Staging, Stop};
use super::{Target, split_draft, with_files_along};
use crate::Listener;
use crate::commit::SplitDraft;
use crate::gather::{Gather, Gathered, Packing};
use crate::ports::Sources;
use crate::refusal::{Outcome, Refusal};
use crate::rows::SplitRows;
use crate::session::Session;

/// A split that was read and can be registered.
pub(crate) struct Taken {
    pub(crate) draft: SplitDraft,
    pub(crate) reports: Vec<Report>,
    pub(crate) sources: Vec<SourceDoc>,
    /// What else is written with the version.
    pub(crate) notes: Vec<(Key, Vec<u8>)>,
    /// Whether the files also hold older versions of records.
    pub(crate) has_older: bool,
}

/// How a split of records is read.
#[derive(Clone, Copy)]
pub(crate) struct Part<'p> {
    pub(crate) split: &'p str,
    pub(crate) policy: &'p Policy,
    pub(crate) profile: Profile,
    /// Whether a row that is a case ends the attempt, because the records were taken for plain.
    pub(crate) watch: bool,
    pub(crate) reading: &'p ReadOptions,
}

/// Files that were read into a split.
struct Read {
    gathered: Gathered,
    reports: Vec<Report>,
    /// Stretches of the one file that were known.
    seen: Vec<Stretch>,
    has_older: bool,
}

/// Reads files into chunks and packs of a split; nothing is registered yet.
pub(crate) fn take_records(
    session: &Session,
    target: &mut Target,
    part: Part<'_>,
    sources: &dyn Sources,
    listener: &mut dyn Listener,
) -> Result<Taken, Stop> {
    let Part { split, policy, profile, watch, reading } = part;
    let labels = policy.in_split(split).map_err(Box::<Refusal>::from)?;
    let key = target.keys.commit_key();
    let checker = target.checker()?;
    let staging = Staging { labels: &labels, key: &key, policy, profile, watch, schema: checker.as_ref() };
    let known = SplitRows::known_under(&session.store, &target.dataset.id, split, labels.own().name())?;
    let sealing = target.sealing(session, split);
    let packing = Packing { store: &session.store, labels: &labels, sealing: &sealing };
    let before = lines_before(session, target, &labels)?;
    let again = Again {
        store: &session.store,
        keys: &target.keys,
        dataset: &target.dataset.id,
        staging: &staging,
        known: &known,
        sources,
        options: reading,
        erased: known.erased_leaves(),
    };
    let time = session.clock.now();
    let (Read { gathered, reports, seen, has_older }, described) = std::thread::scope(|scope| {
        let describing = scope.spawn(|| stage::describe(sources, split, &time));
        let read = match read_again(scope, packing, &again, before.as_ref(), listener)? {
            Some(read) => Ok(read),
            None => read_all(scope, packing, &again, listener),
        };
        let described = describing.join().unwrap_or_else(|_| Err(StoreError::internal("describing stopped").into()));
        Ok::<_, Stop>((read?, described?))
    })?;
    let sources_read = with_files_along(described, &reports, split, &time);
    let notes = note_lines(target, part, &gathered, &reports, sources, &seen)?;
    let (draft, notes) = (split_draft(split, gathered), notes.into_iter().collect());
    Ok(Taken { draft, reports, sources: sources_read, notes, has_older })
}

/// What is remembered of the file that the head's split was read from, if its lines still mean the same.
fn lines_before(session: &Session, target: &Target, labels: &SplitLabels) -> Outcome<Option<Lines>> {
    let Some((version, head)) = &target.head else { return Ok(None) };
    // Under another schema the same lines may be other values, or refused.
    if version.schema != target.schema.as_deref().unwrap_or("{}")
        || head.in_split(labels.split()).ok().as_ref() != Some(labels)
    {
        return Ok(None);
    }
    let bytes = session.store.catalog().get(&lines_key(&target.dataset.id, labels.split()))?;
    Ok(bytes.and_then(|bytes| Lines::from_bytes(&bytes)))
}

/// Reads a file of which parts are known; nothing if it must be read as a whole.
fn read_again<'scope, 'env>(
    scope: &'scope std::thread::Scope<'scope, 'env>,
    packing: Packing<'env>,
    again: &Again<'_>,
    before: Option<&Lines>,
    listener: &mut dyn Listener,
) -> Result<Option<Read>, Stop> {
    let (Some(before), 1) = (before, again.sources.len()) else { return Ok(None) };
    let key = lines::key_of(again.staging.key, again.staging.labels.split());
    let Some(mut file) = raw(again.sources)? else { return Ok(None) };
    let seen = before.stretches(&mut *file, again.options, &key);
    let seen = seen.map_err(|error| stage::unreadable(&again.sources.name(0), &error))?;
    let Some((seen, format)) = seen else { return Ok(None) };
    let mut gather = Gather::start(scope, packing, again.known);
    match again.read(&seen, format, &mut gather, listener) {
        Ok(Some(report)) => {
            Ok(Some(Read { gathered: gather.finish()?, reports: vec![report], seen, has_older: false }))
        }
        Ok(None) => gather.abandon().map(|()| None).map_err(Stop::from),
        Err(stop) => Err(gather.abandon().map_or_else(Stop::from, |()| stop)),
    }
}

fn read_all<'scope, 'env>(
    scope: &'scope std::thread::Scope<'scope, 'env>,
    packing: Packing<'env>,
    again: &Again<'_>,
    listener: &mut dyn Listener,
) -> Result<Read, Stop> {
    let mut gather = Gather::start(scope, packing, again.known);
    let read = again.staging.read(again.sources, again.options, listener, &mut |staged| {
        again.check_erased(&staged)?;
        Ok(gather.push(staged)?)
    });
    match read {
        Ok((reports, older)) => {
            Ok(Read { gathered: gather.finish()?, reports, seen: Vec::new(), has_older: !older.is_empty() })
        }
        Err(stop) => Err(gather.abandon().map_or_else(Stop::from, |()| stop)),
    }
}

/// The lines of the file, to know them again.
fn note_lines(
    target: &Target,
    part: Part<'_>,
    gathered: &Gathered,
    reports: &[Report],
    sources: &dyn Sources,
    seen: &[Stretch],
) -> Result<Option<(Key, Vec<u8>)>, Stop> {
    let [report] = reports else { return Ok(None) };
    let Some(mut file) = raw(sources)? else { return Ok(None) };
    let key = lines::key_of(&target.commit_key(), part.split);
    let noted = Lines::note(&mut *file, &gathered.chunks, report, part.reading, &key, seen);
    // What cannot be remembered is read again next time.
    let noted = noted.ok().flatten();
    Ok(noted.map(|lines| (lines_key(&target.dataset.id, part.split), lines.to_bytes())))
}

/// The one file there is, if it can be read anywhere.
fn raw(sources: &dyn Sources) -> Result<Option<Box<dyn ReadSeek>>, Stop> {
    if sources.len() != 1 {
        return Ok(None);
    }
    let (input, _) = sources.open(0).map_err(|error| stage::unreadable(&sources.name(0), &error))?;
    Ok(if let Body::Seekable(file) = input.body { Some(file) } else { None })
}
