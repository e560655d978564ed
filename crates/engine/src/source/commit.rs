//! What was read of sources becomes a version.
//!
//! *Invariant:* what provenance says in the clear of a version with anything sealed in it names no field, and holds no
//! digest that a guess could be tested against. A source that did not change says what it said before.

use heldset_core::code::Code;
use heldset_core::digest::{CommitKey, sha256};
use heldset_core::manifest::Mode;
use heldset_core::profile::{self, Profile};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Policy;
use heldset_dialect::{Format, IdRule, ReadOptions};
use heldset_store::documents::{SourceDoc, VersionDoc};
use heldset_store::registry::{FeedDoc, NodeDoc};

use super::frame::{Frame, number};
use super::merge::merge;
use super::pull::page_digest;
use super::replay::{self, EXACT, PROVIDER, SOURCES};
use super::sync::{SyncMode, SyncRequest};
use super::{Source, docs};
use crate::Listener;
use crate::import::{About, ImportRequest, Imported, Labelling, Merging, Target, import};
use crate::refusal::Outcome;
use crate::resolve::mapping;
use crate::session::Session;

/// How often the work is done again because somebody else was faster.
const TRIES: usize = 10;

/// A source with what was read of it.
pub(super) struct Read<'r> {
    pub(super) source: &'r Source,
    pub(super) frames: &'r [Frame],
    /// What failed besides: name and reason.
    pub(super) failed: Vec<(String, String)>,
}

/// Registers a version of a split with what was read of some sources.
pub(super) fn register(
    session: &Session,
    request: &SyncRequest<'_>,
    split: &str,
    read: &[Read<'_>],
    listener: &mut dyn Listener,
) -> Outcome<Imported> {
    let mut tries = 0;
    loop {
        tries += 1;
        match attempt(session, request, split, read, listener) {
            Err(refusal) if refusal.code == Code::E115 && tries < TRIES => {}
            done => return done,
        }
    }
}

fn attempt(
    session: &Session,
    request: &SyncRequest<'_>,
    split: &str,
    read: &[Read<'_>],
    listener: &mut dyn Listener,
) -> Outcome<Imported> {
    let target = Target::find(session, request.slug, &About::default())?;
    let all = docs(session, &target.dataset.id)?;
    let given: Vec<_> = read.iter().map(|read| (&read.source.doc, read.frames)).collect();
    let merged = merge(session, &target, split, &given, &all)?;
    let fields = read.iter().flat_map(|read| read.frames).flat_map(|frame| &frame.fields).map(String::as_str);
    let profile = match &target.head {
        Some(_) => target.profile(),
        None => request.labelling.profile.unwrap_or_else(|| profile::detect(fields)),
    };
    let labelling = labelled(request.labelling, profile);
    let head = target.head.as_ref();
    let policy = labelling.policy(Some(split), profile, head.map(|(_, policy)| policy))?;
    let making = Making { session, request, target: &target, sealed: is_sealed(&policy)?, commit: target.commit_key() };
    let (provenance, notes) = making.provenance(read, &all)?;
    let base = head.and_then(|(version, _)| crate::resolve::split(version, split)?.root.parse().ok());
    let sources = read.iter().flat_map(|read| manifest(read, split)).collect();
    let about = About {
        message: request.message.clone(),
        mode: making.mode(&provenance),
        edges: edges(&provenance),
        provenance,
        merging: Some(Merging { base, sources, notes, purpose: "source sync" }),
        ..About::default()
    };
    let reading =
        ReadOptions { format: Some(Format::Records), id: IdRule::Auto, schema: None, threads: request.threads };
    let (slug, labelling, keep_valid) = (request.slug, &labelling, request.keep_valid);
    let import_request = ImportRequest { slug, split, reading: &reading, labelling, about: &about, keep_valid };
    import(session, &import_request, &merged, listener)
}

struct Making<'m> {
    session: &'m Session,
    request: &'m SyncRequest<'m>,
    target: &'m Target,
    /// Whether anything in the version is sealed.
    sealed: bool,
    commit: CommitKey,
}

/// Provenance, and what else is written with the version.
type Said = (Object<'static>, Vec<(heldset_store::catalog::Key, Vec<u8>)>);

impl Making<'_> {
    fn head(&self) -> Option<&VersionDoc> {
        self.target.head.as_ref().map(|(version, _)| version)
    }

    /// What the head says, with what is to be said of the sources that were read.
    fn provenance(&self, read: &[Read<'_>], all: &[FeedDoc]) -> Outcome<Said> {
        let mut provenance = self.head().map_or_else(Object::new, |head| mapping(&head.provenance));
        let known = provenance.get(SOURCES).and_then(Value::as_array).unwrap_or_default();
        let is_there = |entry: &&Value<'static>| {
            let id = entry.as_object().and_then(|entry| replay::text(entry, "id"));
            id.is_none_or(|id| all.iter().any(|doc| doc.id == id))
        };
        let mut list: Vec<Value<'static>> = known.iter().filter(is_there).cloned().collect();
        let mut notes = Vec::new();
        for read in read {
            let (entry, more) = self.entry(read)?;
            notes.extend(more);
            let id = Value::from(read.source.doc.id.clone());
            let place = list.iter().position(|known| known.as_object().and_then(|known| known.get("id")) == Some(&id));
            match place {
                Some(place) => list[place] = entry.into(),
                None => list.push(entry.into()),
            }
        }
        provenance.set(SOURCES, Value::Array(list));
        Ok((provenance, notes))
    }

    /// What is said of one source, and its cached pages.
    fn entry(&self, read: &Read<'_>) -> Outcome<Said> {
        let before = self.head().and_then(|head| replay::entry_of(head, &read.source.doc.id));
        if let (SyncMode::Replay, Some(before)) = (self.request.mode, &before) {
            return Ok((before.clone(), Vec::new()));
        }
        let mut entry = self.basics(read);
        let SyncMode::Stream { cache } = self.request.mode else { return Ok((entry, Vec::new())) };
        entry.set("replay", Value::from(if cache { EXACT } else { PROVIDER }));
        entry.set("pages", self.pages(read));
        entry.set("page_order", Value::from("as answered"));
        if !self.sealed {
            entry.set("query", Value::Object(read.source.declared.operation_config.clone()));
            // Where a reading goes on may hold a value or a digest of what the filters take out.
            let cursor = read.frames.last().and_then(|frame| frame.after.clone());
            if let Some(cursor) = cursor.filter(|_| read.source.declared.privacy.is_empty()) {
                entry.set("cursor", cursor);
            }
        }
        // The same pages of the same query are the same snapshot.
        let later = ["snapshot_time", "replay_manifest"];
        let said = |entry: &Object<'static>| -> Object<'static> {
            let kept = entry.iter().filter(|(name, _)| !later.contains(name));
            kept.map(|(name, value)| (name.to_owned().into(), value.clone())).collect()
        };
        if let Some(before) = before.filter(|before| said(before) == entry) {
            return Ok((before, Vec::new()));
        }
        let time = read.frames.first().map_or_else(|| self.session.clock.now(), |frame| frame.time.clone());
        entry.set("snapshot_time", Value::from(time));
        if !cache {
            return Ok((entry, Vec::new()));
        }
        let id = &read.source.doc.id;
        let manifest = replay::manifest(&self.commit, id, read.frames);
        let notes = replay::notes(self.session, &self.target.dataset, id, (&manifest, read.frames))?;
        entry.set("replay_manifest", Value::from(manifest));
        Ok((entry, notes))
    }

    fn basics(&self, read: &Read<'_>) -> Object<'static> {
        let Read { source, frames, .. } = read;
        let rows: usize = frames.iter().map(|frame| frame.ids.len()).sum();
        let mut entry = Object::new();
        for (name, text) in [
            ("id", &source.doc.id),
            ("name", &source.doc.display_name),
            ("connector", &source.connector.name),
            ("kind", &source.connector.kind),
            ("operation", &source.declared.operation),
        ] {
            entry.set(name, Value::from(text.clone()));
        }
        entry.set("rows", number(rows as u64));
        // Of a database it is the moment of the reading, which says nothing of a change.
        let tells = match source.connector.kind.as_str() {
            "git" | "huggingface" => true,
            "sql" => false,
            _ => !self.sealed,
        };
        if let Some(revision) = revision(frames).filter(|_| tells) {
            // What a service or a bucket calls a revision is often a digest of the bytes.
            let plain = matches!(source.connector.kind.as_str(), "git" | "huggingface");
            let told = if plain { revision } else { page_digest(source, &self.commit, revision) };
            entry.set("revision", Value::from(told));
        }
        let changed = changed(frames);
        if self.sealed {
            let filters = number(source.declared.privacy.len() as u64);
            let sum = number(changed.iter().sum());
            let privacy = [("filters".into(), filters), ("changed".into(), sum)].into_iter().collect();
            entry.set("privacy", Value::Object(privacy));
        } else {
            let texts = source.declared.describe().into_iter().map(Value::from).collect();
            entry.set("transformations", Value::Array(texts));
            entry.set("privacy", filters(source, &changed));
        }
        entry
    }

    fn pages(&self, read: &Read<'_>) -> Value<'static> {
        let page = |frame: &Frame| {
            let mut page = Object::new();
            page.set("asked", Value::from(frame.asked.clone()));
            page.set("sha256", Value::from(frame.sha256.clone()));
            page.set("rows", number(frame.matches.rows));
            Value::Object(page)
        };
        let answered = read.frames.iter().filter(|frame| !frame.is_remark());
        let pages = Value::Array(answered.map(page).collect());
        if !self.sealed {
            return pages;
        }
        let key = self.commit.row_key("pages\n", &read.source.doc.id);
        let digest = key.commit("pages", &[&heldset_core::canonical::bytes(&pages)]);
        let mut told = Object::new();
        told.set("count", number(read.frames.len() as u64));
        told.set("commitment", Value::from(digest.hex()));
        Value::Object(told)
    }

    /// Streamed as soon as one source is.
    fn mode(&self, provenance: &Object<'static>) -> Option<Mode> {
        let list = provenance.get(SOURCES).and_then(Value::as_array).unwrap_or_default();
        let streamed = |entry: &Value<'_>| entry.as_object().is_some_and(|entry| entry.contains("replay"));
        list.iter().any(streamed).then_some(Mode::RemoteStreamed)
    }
}

/// The revision upstream: that of all pages, or a digest of those of each.
pub(super) fn revision(frames: &[Frame]) -> Option<String> {
    let mut revisions: Vec<&str> = frames.iter().filter_map(|frame| frame.revision.as_deref()).collect();
    revisions.dedup();
    match revisions.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        many => Some(sha256(many.join("\n").as_bytes()).to_string()),
    }
}

/// How many values each filter changed.
pub(super) fn changed(frames: &[Frame]) -> Vec<u64> {
    let mut sums = Vec::new();
    for frame in frames {
        sums.resize(sums.len().max(frame.changed.len()), 0);
        sums.iter_mut().zip(&frame.changed).for_each(|(sum, more)| *sum += more);
    }
    sums
}

/// The filters of a source with what they did.
pub(super) fn filters(source: &Source, changed: &[u64]) -> Value<'static> {
    let texts = source.declared.privacy.describe().into_iter().enumerate();
    let filter = |(place, text): (usize, String)| {
        let count = changed.get(place).copied().unwrap_or_default();
        Value::Object([("filter".into(), Value::from(text)), ("changed".into(), number(count))].into_iter().collect())
    };
    Value::Array(texts.map(filter).collect())
}

/// The objects that were read, and those that were not.
fn manifest(read: &Read<'_>, split: &str) -> Vec<SourceDoc> {
    let mut list: Vec<SourceDoc> = Vec::new();
    let mut add = |name: &str, (size, sha256): (u64, &str), time: &str, state: &str| {
        let doc = SourceDoc {
            name: name.to_owned(),
            split: split.to_owned(),
            size,
            sha256: sha256.to_owned(),
            time: time.to_owned(),
            state: state.to_owned(),
        };
        // An object with many rows comes in several pages.
        if list
            .last()
            .is_none_or(|last| (&last.name, &last.sha256, &last.state) != (&doc.name, &doc.sha256, &doc.state))
        {
            list.push(doc);
        }
    };
    for frame in read.frames {
        // A page may only tell what was left out.
        if !frame.is_remark() {
            add(&frame.asked, (frame.size, &frame.sha256), &frame.time, "copied");
        }
        frame.skipped.iter().for_each(|(name, _)| add(name, (0, ""), &frame.time, "skipped"));
        frame.failed.iter().for_each(|(name, _)| add(name, (0, ""), &frame.time, "failed"));
    }
    let time = read.frames.last().map_or_else(String::new, |frame| frame.time.clone());
    read.failed.iter().for_each(|(name, _)| add(name, (0, ""), &time, "failed"));
    list
}

/// An edge to each source that a version has records of.
fn edges(provenance: &Object<'static>) -> Vec<(&'static str, NodeDoc)> {
    let list = provenance.get(SOURCES).and_then(Value::as_array).unwrap_or_default();
    let edge = |entry: &Value<'static>| {
        let entry = entry.as_object()?;
        let (name, id) = (replay::text(entry, "name")?, replay::text(entry, "id")?);
        Some(("synced_from", NodeDoc { kind: "source".to_owned(), name, version: None, digest: Some(id) }))
    };
    list.iter().filter_map(edge).collect()
}

fn is_sealed(policy: &Policy) -> Outcome<bool> {
    for (split, _) in policy.splits() {
        let labels = policy.in_split(split)?;
        if labels.sealed().next().is_some() || !labels.own().is_open() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn labelled(stated: &Labelling, profile: Profile) -> Labelling {
    Labelling {
        profile: Some(profile),
        labels: stated.labels.clone(),
        visibility: stated.visibility.clone(),
        policy: stated.policy.clone(),
        declassify: stated.declassify.clone(),
    }
}
