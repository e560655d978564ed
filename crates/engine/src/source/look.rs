//! `source test`, `source preview`, and reading sources now, for a query or an inference.
//!
//! *Invariant:* nothing that is read here is stored. Rows leave through the mapping and the privacy filters, but for
//! the raw side of a preview, which only owners see.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::mapping::{Matches, SOURCE_FIELD, Seen};
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};
use heldset_store::{DatasetKeys, StoreError};

use super::pull::page_digest;
use super::shape::Shaper;
use super::{Reach, Source, chosen};
use crate::log;
use crate::refusal::{Outcome, Reason, Refusal};
use crate::resolve;
use crate::session::Session;

/// So many rows a test shows.
const SHOWN: usize = 5;

/// A source that was tested.
pub struct Tested {
    /// Its id.
    pub source_id: String,
    /// Its name.
    pub source_name: String,
    /// How many rows were read.
    pub record_count: u64,
    /// Whether these are all there are.
    pub complete: bool,
    /// Some records.
    pub sample_rows: Vec<Object<'static>>,
    /// Why it does not work, if it does not.
    pub error: Option<Box<Refusal>>,
    /// Paths and filters that did nothing.
    pub warnings: Vec<Problem>,
}

/// A source as it is before and after the mapping and the filters.
pub struct Previewed {
    /// Its id.
    pub source_id: String,
    /// Its name.
    pub source_name: String,
    /// Rows as they were answered.
    pub source_data: Vec<Value<'static>>,
    /// The records they become.
    pub transformed_data: Vec<Object<'static>>,
    /// What was done.
    pub transformations_applied: Vec<String>,
    /// Why it does not work, if it does not.
    pub error: Option<Box<Refusal>>,
    /// Paths and filters that did nothing.
    pub warnings: Vec<Problem>,
}

/// What sources hold now.
pub struct Live {
    /// Records, with their ids.
    pub rows: Vec<(String, Object<'static>)>,
    /// The pages that were read: what was asked, and the SHA-256 of the answer.
    pub pages: Vec<(String, String)>,
    /// When.
    pub time: String,
}

/// Reads some rows of each source.
pub fn test(session: &Session, reach: Reach<'_>, slug: &str, names: &[String], limit: u64) -> Outcome<Vec<Tested>> {
    session.must_own("source test")?;
    let (keys, sources) = open(session, slug, names, "source test")?;
    let mut tested = Vec::new();
    for source in &sources {
        let mut some = Sample::default();
        let error = failure(some.read(session, reach, source, &keys, Some(limit)))?;
        let error = error.or_else(|| some.refused.first().map(refused));
        tested.push(Tested {
            source_id: source.doc.id.clone(),
            source_name: source.doc.display_name.clone(),
            record_count: some.matches.rows,
            complete: some.complete,
            sample_rows: some.records.iter().take(SHOWN).map(|(id, fields)| shown(id, fields)).collect(),
            error,
            warnings: some.warnings,
        });
    }
    Ok(tested)
}

/// Shows rows of each source as they are, and as they become.
pub fn preview(
    session: &Session,
    reach: Reach<'_>,
    slug: &str,
    names: &[String],
    limit: u64,
) -> Outcome<Vec<Previewed>> {
    session.must_own("source preview")?;
    let (keys, sources) = open(session, slug, names, "source preview")?;
    let mut previewed = Vec::new();
    for source in &sources {
        let mut some = Sample { raw: Some(Vec::new()), ..Sample::default() };
        let error = failure(some.read(session, reach, source, &keys, Some(limit)))?;
        previewed.push(Previewed {
            source_id: source.doc.id.clone(),
            source_name: source.doc.display_name.clone(),
            source_data: some.raw.take().unwrap_or_default(),
            transformed_data: some.records.iter().map(|(id, fields)| shown(id, fields)).collect(),
            transformations_applied: source.declared.describe(),
            error: error.or_else(|| some.refused.first().map(refused)),
            warnings: some.warnings,
        });
    }
    Ok(previewed)
}

/// Reads sources now, through their mappings and privacy filters. Who may see which of their fields is the caller's to
/// decide.
pub fn live(
    session: &Session,
    reach: Reach<'_>,
    slug: &str,
    source_ids: &[String],
    split: Option<&str>,
    limit: Option<u64>,
) -> Outcome<Live> {
    let (keys, mut sources) = open(session, slug, source_ids, "live query")?;
    if let Some(split) = split {
        let known: Vec<String> = sources.iter().map(|source| source.declared.split.clone()).collect();
        sources.retain(|source| source.declared.split == split);
        if sources.is_empty() {
            let message = format!("no source of `{slug}` fills a split `{split}`");
            return Err(Refusal::unknown(message, split, known.iter().map(String::as_str)));
        }
    }
    let mut live = Live { rows: Vec::new(), pages: Vec::new(), time: session.clock.now() };
    for source in &sources {
        let rest = limit.map(|limit| limit.saturating_sub(live.rows.len() as u64));
        if rest == Some(0) {
            break;
        }
        let mut some = Sample::default();
        some.read(session, reach, source, &keys, rest)?;
        if let Some(problem) = some.refused.first() {
            return Err(refused(problem));
        }
        live.rows.extend(some.records);
        live.pages.extend(some.pages);
    }
    Ok(live)
}

/// Records, with their ids.
pub type Records = Vec<(String, Object<'static>)>;

/// Records of each source, by the name of the source, for an inference; all of them without a limit.
pub fn sample_rows(
    session: &Session,
    reach: Reach<'_>,
    slug: &str,
    names: &[String],
    limit: Option<u64>,
) -> Outcome<Vec<(String, Records)>> {
    session.must_own("schema infer")?;
    let (keys, sources) = open(session, slug, names, "schema infer")?;
    let mut all = Vec::new();
    for source in &sources {
        let mut some = Sample::default();
        some.read(session, reach, source, &keys, limit)?;
        all.push((source.doc.display_name.clone(), some.records));
    }
    Ok(all)
}

/// The sources that are looked at; the look is logged first.
fn open(session: &Session, slug: &str, names: &[String], purpose: &str) -> Outcome<(DatasetKeys, Vec<Source>)> {
    let (dataset, sources) = chosen(session, slug, names)?;
    let keys = resolve::keys_of(&session.store, &dataset)?;
    let keys = keys.ok_or_else(|| StoreError::NoKey { dataset: dataset.slug.clone() })?;
    let listed: Vec<String> = sources.iter().map(|source| format!("`{}`", source.doc.display_name)).collect();
    let note = format!("sources {} are read now", listed.join(", "));
    log::append(session, &log::upkeep_entry(session, purpose, &dataset.slug, note), true)?;
    Ok((keys, sources))
}

/// Some rows of a source.
#[derive(Default)]
struct Sample {
    raw: Option<Vec<Value<'static>>>,
    records: Vec<(String, Object<'static>)>,
    /// Rows that cannot be records: where, and why.
    refused: Vec<(String, Problem)>,
    pages: Vec<(String, String)>,
    matches: Matches,
    complete: bool,
    warnings: Vec<Problem>,
}

impl Sample {
    fn read(
        &mut self,
        session: &Session,
        reach: Reach<'_>,
        source: &Source,
        keys: &DatasetKeys,
        limit: Option<u64>,
    ) -> Outcome<()> {
        let mut request = source.request(session, reach)?;
        // One more tells whether there are more.
        request.limit = limit.map(|limit| limit.saturating_add(1));
        let commit = keys.commit_key();
        let shaper = Shaper::new(source, &commit, &request);
        let (mut seen, mut changed, mut left) = (Seen::default(), Vec::new(), limit.unwrap_or(u64::MAX));
        let mut feed = reach.feeds.open(&request)?;
        self.complete = true;
        while let Some(mut page) = feed.next()? {
            if left == 0 && !page.rows.is_empty() {
                self.complete = false;
                break;
            }
            if page.size > 0 || !page.rows.is_empty() {
                let digest = page_digest(source, &commit, page.sha256.clone());
                self.pages.push((page.asked.clone(), digest));
            }
            if page.rows.len() as u64 > left {
                page.rows.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                self.complete = false;
            }
            left -= page.rows.len() as u64;
            if let Some(raw) = &mut self.raw {
                raw.extend(page.rows.iter().cloned());
            }
            page.rows.iter().take(SHOWN).for_each(|row| seen.note(row));
            let shaped = shaper.page(page.rows);
            self.matches.add(&shaped.matches);
            changed.resize(shaped.changed.len(), 0);
            changed.iter_mut().zip(&shaped.changed).for_each(|(sum, more)| *sum += more);
            let lost = |(name, why): (String, String)| {
                (format!("`{name}`"), Problem::new(Code::E070, Path::root(), format!("it could not be read: {why}")))
            };
            self.refused.extend(page.failed.into_iter().map(lost));
            let place = |(row, problem): (u64, Problem)| (format!("row {row} of `{}`", page.asked), problem);
            self.refused.extend(shaped.failed.into_iter().map(place));
            let record = |shaped: super::shape::Shaped| (shaped.id.as_str().to_owned(), shaped.fields);
            self.records.extend(shaped.records.into_iter().map(record));
            if !self.complete {
                break;
            }
        }
        self.warnings = shaper.warnings(&self.matches, &changed, &seen);
        Ok(())
    }
}

/// A source that does not work is an answer; a caller who may not, and a store that is damaged, are not.
fn failure(read: Outcome<()>) -> Outcome<Option<Box<Refusal>>> {
    match read {
        Ok(()) => Ok(None),
        Err(refusal) if matches!(refusal.reason, Reason::Denied | Reason::Integrity) => Err(refusal),
        Err(refusal) => Ok(Some(refusal)),
    }
}

fn refused((place, problem): &(String, Problem)) -> Box<Refusal> {
    let help = problem.help.clone().unwrap_or_default();
    Refusal::invalid(problem.code, format!("{place}: {}", problem.message), help)
}

/// A record as it is shown: the id first, without the name of its source.
fn shown(id: &str, fields: &Object<'static>) -> Object<'static> {
    let mut record = Object::with_capacity(fields.len() + 1);
    record.set("id", Value::from(id.to_owned()));
    for (name, value) in fields.iter().filter(|(name, _)| *name != SOURCE_FIELD) {
        record.set(name.to_owned(), value.clone());
    }
    record
}
