//! Reading a source page by page into a sealed journal, and going on where a reading was cut short.
//!
//! *Invariant:* a page is in the journal whole or not at all, together with where to go on after it. A reading goes on
//! only if the last page that is kept still reads the same.

use std::collections::HashMap;

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::digest::{CommitKey, Hashing, sha256};
use heldset_core::value::Value;
use heldset_store::{DatasetKeys, Journal, StoreError};

use super::declare::reading_digest;
use super::frame::Frame;
use super::shape::{ShapedPage, Shaper};
use super::{Reach, Source};
use crate::Listener;
use crate::feeds::Page;
use crate::refusal::{Outcome, Refusal};
use crate::session::Session;

/// The one list of frames in the journal.
const PAGES: &str = "pages";
/// So many pages are made safe from a power cut together; a killed process loses none.
const SYNC_PAGES: usize = 16;
/// Or so many bytes.
const SYNC_BYTES: usize = 4 << 20;

/// How a source is read.
#[derive(Clone, Copy)]
pub(super) struct Pulling {
    /// Begin anew.
    pub(super) restart: bool,
    /// Take what could be read although a page failed.
    pub(super) keep_valid: bool,
}

/// What was read of a source.
pub(super) struct Pulled<'s> {
    pub(super) frames: Vec<Frame>,
    /// How many of them were there already.
    pub(super) resumed: usize,
    /// Why the reading stopped before the end, if the rest is left out.
    pub(super) stopped: Option<Box<Refusal>>,
    pub(super) journal: Option<Journal<'s>>,
}

/// How far all sources of a sync are.
pub(super) struct Progress<'l> {
    pub(super) listener: &'l mut dyn Listener,
    pub(super) bytes: u64,
    pub(super) rows: u64,
}

/// Reads a source to its end.
pub(super) fn pull<'s>(
    session: &'s Session,
    reach: Reach<'_>,
    (dataset, keys): (&str, &DatasetKeys),
    source: &Source,
    how: Pulling,
    progress: &mut Progress<'_>,
) -> Outcome<Pulled<'s>> {
    let mut request = source.request(session, reach)?;
    if how.restart {
        discard(session, dataset, &source.doc.id)?;
    }
    let (mut journal, mut frames) = open(session, dataset, keys, source)?;
    let reading = reading_digest(source);
    if !is_of_use(&frames, &reading, how.keep_valid) {
        journal.remove()?;
        (journal, frames) = open(session, dataset, keys, source)?;
    }
    let resumed = frames.len();
    if frames.last().is_some_and(|frame| frame.end) {
        frames.pop();
        return Ok(Pulled { resumed: resumed - 1, frames, stopped: None, journal: Some(journal) });
    }
    let commit = keys.commit_key();
    let shaper = Shaper::new(source, &commit, &request);
    request.after = frames.last().and_then(|frame| frame.after.clone());
    let mut pulling = Pull {
        source,
        commit,
        shaper,
        reading,
        ids: HashMap::new(),
        frames,
        journal,
        unsafe_pages: 0,
        unsafe_bytes: 0,
    };
    pulling.note_ids();
    let read = reach.feeds.open(&request).and_then(|mut feed| {
        if let Some(last) = pulling.frames.last() {
            check_unchanged(source, last, feed.next()?)?;
        }
        while let Some(page) = feed.next()? {
            pulling.take(page, session.clock.now())?;
            let frame = pulling.frames.last();
            progress.bytes += frame.map_or(0, |frame| frame.size);
            progress.rows += frame.map_or(0, |frame| frame.matches.rows);
            progress.listener.progress(progress.bytes, progress.rows);
        }
        pulling.add(Frame { end: true, time: session.clock.now(), ..Frame::default() })
    });
    pulling.journal.sync(PAGES)?;
    let Pull { mut frames, journal, .. } = pulling;
    let stopped = match read {
        Ok(()) => {
            frames.pop();
            None
        }
        Err(refusal) if how.keep_valid && !frames.is_empty() && of_source(refusal.code) => Some(refusal),
        Err(refusal) => return Err(going_on(refusal, &frames)),
    };
    Ok(Pulled { frames, resumed, stopped, journal: Some(journal) })
}

/// Forgets what was read of a source and not registered.
pub(super) fn discard(session: &Session, dataset: &str, source: &str) -> Outcome<()> {
    let name = journal_name(source);
    if Journal::exists(&session.store, &name)
        && let Some(keys) = session.store.keys().load(dataset)?
    {
        let (journal, _) =
            Journal::open(&session.store, &name, dataset, keys, &[]).map_err(|error| busy(error, "it"))?;
        journal.remove()?;
    }
    Ok(())
}

struct Pull<'p, 's> {
    source: &'p Source,
    commit: CommitKey,
    shaper: Shaper<'p>,
    reading: String,
    /// Ids with the number of their page.
    ids: HashMap<String, usize>,
    frames: Vec<Frame>,
    journal: Journal<'s>,
    unsafe_pages: usize,
    unsafe_bytes: usize,
}

impl Pull<'_, '_> {
    fn note_ids(&mut self) {
        for (page, frame) in self.frames.iter().enumerate() {
            self.ids.extend(frame.ids.iter().map(|id| (id.clone(), page)));
        }
    }

    fn take(&mut self, mut page: Page, time: String) -> Outcome<()> {
        let after = self.frames.last().and_then(|frame| frame.next.clone());
        if after.is_some() && page.next == after {
            let message = format!("`{}` leads to itself: the page after it is the same again", page.asked);
            return Err(Refusal::invalid(Code::E072, message, "check how the source is paged"));
        }
        let rows = std::mem::take(&mut page.rows);
        page.sha256 = page_digest(self.source, &self.commit, page.sha256);
        let digest = rows_digest(&rows);
        let mut shaped = self.shaper.page(rows);
        self.check_ids(&page.asked, &mut shaped)?;
        let frame = Frame::of(page, shaped, (digest, self.reading.clone()));
        self.add(Frame { after, time, ..frame })
    }

    fn check_ids(&mut self, asked: &str, shaped: &mut ShapedPage) -> Outcome<()> {
        let number = self.frames.len();
        let mut kept = Vec::with_capacity(shaped.records.len());
        for record in std::mem::take(&mut shaped.records) {
            let Some(before) = self.ids.get(record.id.as_str()).copied() else {
                self.ids.insert(record.id.as_str().to_owned(), number);
                kept.push(record);
                continue;
            };
            let other = self.frames.get(before).map_or(asked, |frame| frame.asked.as_str());
            if before != number && is_paged(&self.source.connector.kind) {
                let message = format!(
                    "record `{}` is on page {} and again on page {}: the pages repeat, or changed while they were read",
                    record.id.as_str(),
                    before + 1,
                    number + 1
                );
                let help = "sort the source by something that does not change, then begin anew with `--restart`";
                return Err(Refusal::invalid(Code::E072, message, help));
            }
            let message = format!("duplicate id `{}`: it is also in `{other}`", record.id.as_str());
            let problem = heldset_core::fault::Problem::new(Code::E012, heldset_core::path::Path::key("id"), message);
            shaped.failed.push((record.row, problem));
        }
        shaped.records = kept;
        Ok(())
    }

    fn add(&mut self, frame: Frame) -> Outcome<()> {
        let bytes = frame.to_bytes();
        self.journal.append(PAGES, &bytes)?;
        self.frames.push(frame);
        self.unsafe_pages += 1;
        self.unsafe_bytes += bytes.len();
        if self.unsafe_pages >= SYNC_PAGES || self.unsafe_bytes >= SYNC_BYTES {
            self.journal.sync(PAGES)?;
            (self.unsafe_pages, self.unsafe_bytes) = (0, 0);
        }
        Ok(())
    }
}

/// Whether what was read before can be used: it was to be read in the same way, it can go on, and if it ended with
/// faults the caller wants the rest.
fn is_of_use(frames: &[Frame], reading: &str, keep_valid: bool) -> bool {
    let Some(last) = frames.last() else { return true };
    let same = frames.iter().all(|frame| frame.end || frame.reading == reading);
    let faulty = frames.iter().any(|frame| !frame.refused.is_empty() || !frame.failed.is_empty());
    same && if last.end { keep_valid || !faulty } else { last.next.is_some() }
}

fn open<'s>(
    session: &'s Session,
    dataset: &str,
    keys: &DatasetKeys,
    source: &Source,
) -> Outcome<(Journal<'s>, Vec<Frame>)> {
    let name = journal_name(&source.doc.id);
    let opened = Journal::open(&session.store, &name, dataset, keys.clone(), &[PAGES]);
    let (journal, held) = opened.map_err(|error| busy(error, &source.doc.display_name))?;
    let frames = held.iter().flatten().map(|frame| Frame::from_bytes(frame)).collect::<Result<_, _>>();
    Ok((journal, frames.map_err(|error| busy(error, &source.doc.display_name))?))
}

fn busy(error: StoreError, name: &str) -> Box<Refusal> {
    match error {
        StoreError::Locked => {
            let message = format!("source `{name}` is being synced by another `heldset`");
            Refusal::usage(Code::E112, message, "wait until the other one is done")
        }
        StoreError::Damaged { .. } => {
            let message = format!("what was read of source `{name}` before is damaged");
            Refusal::integrity(Code::E130, message, "begin anew with `--restart`")
        }
        error => error.into(),
    }
}

fn check_unchanged(source: &Source, last: &Frame, page: Option<Page>) -> Outcome<()> {
    let same = page.is_some_and(|page| page.next == last.next && rows_digest(&page.rows) == last.rows_sha256);
    if same {
        return Ok(());
    }
    let message = format!(
        "source `{}` changed since it was read up to `{}`: the same page now reads otherwise",
        source.doc.display_name, last.asked
    );
    Err(Refusal::invalid(Code::E072, message, "begin anew with `--restart`"))
}

fn going_on(mut refusal: Box<Refusal>, frames: &[Frame]) -> Box<Refusal> {
    let next = frames.last().is_some_and(|frame| frame.next.is_some());
    if next && refusal.code != Code::E072 {
        let pages = frames.len();
        let kept = format!("{pages} page{} kept: run it again to go on", if pages == 1 { " is" } else { "s are" });
        refusal.help = if refusal.help.is_empty() { kept } else { format!("{}; {kept}", refusal.help) };
    }
    refusal
}

/// Whether a failure is of the source, and not of the store or the request.
fn of_source(code: Code) -> bool {
    matches!(code, Code::E070 | Code::E071 | Code::E072)
}

/// Whether a source answers in pages, which may shift; other sources are made of objects.
fn is_paged(kind: &str) -> bool {
    matches!(kind, "http" | "jira" | "sql")
}

/// The digest of a page that may be kept and shown. With filters it is keyed: a plain one of what they take out would
/// let everybody test a guess.
pub(super) fn page_digest(source: &Source, commit: &CommitKey, sha256: String) -> String {
    match source.declared.privacy.is_empty() {
        true => sha256,
        false => commit.row_key("page\n", &source.doc.id).commit("page", &[sha256.as_bytes()]).hex(),
    }
}

fn rows_digest(rows: &[Value<'static>]) -> String {
    let mut hashing = Hashing::default();
    let mut bytes = Vec::new();
    for row in rows {
        bytes.clear();
        canonical::write(row, &mut bytes);
        bytes.push(b'\n');
        hashing.update(&bytes);
    }
    if rows.is_empty() { sha256(b"").hex() } else { hashing.finish().hex() }
}

fn journal_name(source: &str) -> String {
    format!("sync-{source}")
}
