//! Versions that were streamed: which pages were read, and whether they can be read again without dialling out.
//!
//! *Invariant:* cached pages hold what passed the privacy filters, sealed; they are checked against the name of their
//! manifest before they are used, and go when a record is erased or no version names them.

use std::collections::BTreeSet;

use heldset_core::code::Code;
use heldset_core::digest::{CommitKey, sha256};
use heldset_core::value::{Object, Value};
use heldset_store::StoreError;
use heldset_store::catalog::Key;
use heldset_store::documents::{DatasetDoc, VersionDoc, prefix};

use super::Source;
use super::frame::Frame;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::mapping;
use crate::session::Session;

/// The space of cached pages in the catalogue.
const SPACE: &str = "replay";
/// The member of provenance that lists sources.
pub(super) const SOURCES: &str = "sources";
/// What is said of a version whose pages are cached, and of one whose pages are not.
pub(super) const EXACT: &str = "exact";
pub(super) const PROVIDER: &str = "provider_dependent";

/// Whether what a version was streamed from can be read again: `exact` or `provider_dependent`; nothing if it was not
/// streamed.
pub fn replay_of(version: &VersionDoc) -> Option<&'static str> {
    let provenance = mapping(&version.provenance);
    let said: Vec<String> = entries(&provenance).filter_map(|entry| text(entry, "replay")).collect();
    match (said.is_empty(), said.iter().all(|replay| replay == EXACT)) {
        (true, _) => None,
        (false, true) => Some(EXACT),
        (false, false) => Some(PROVIDER),
    }
}

/// What a version says of a source.
pub(super) fn entry_of(version: &VersionDoc, source: &str) -> Option<Object<'static>> {
    let provenance = mapping(&version.provenance);
    entries(&provenance).find(|entry| text(entry, "id").as_deref() == Some(source)).cloned()
}

fn entries<'p>(provenance: &'p Object<'static>) -> impl Iterator<Item = &'p Object<'static>> {
    let list = provenance.get(SOURCES).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_object)
}

pub(super) fn text(entry: &Object<'_>, name: &str) -> Option<String> {
    Some(entry.get(name)?.as_str()?.to_owned())
}

/// The name of a manifest: keyed, so that it tests no guess.
pub(super) fn manifest(key: &CommitKey, source: &str, frames: &[Frame]) -> String {
    let digests: String = frames.iter().map(|frame| sha256(&frame.to_bytes()).hex() + "\n").collect();
    key.row_key("replay\n", source).commit("replay", &[digests.as_bytes()]).hex()
}

/// The cached pages, as entries of the catalogue.
pub(super) fn notes(
    session: &Session,
    dataset: &DatasetDoc,
    source: &str,
    (manifest, frames): (&str, &[Frame]),
) -> Outcome<Vec<(Key, Vec<u8>)>> {
    let mut notes = Vec::with_capacity(frames.len());
    for (page, frame) in frames.iter().enumerate() {
        let text = String::from_utf8(frame.to_bytes()).map_err(StoreError::internal)?;
        let sealed = session.store.seal_note(&dataset.id, &text)?;
        notes.push((key(&dataset.id, source, manifest, page), sealed.into_bytes()));
    }
    Ok(notes)
}

/// The pages that the newest version of a dataset was streamed from, without dialling out.
pub(super) fn load(
    session: &Session,
    dataset: &DatasetDoc,
    head: Option<&VersionDoc>,
    source: &Source,
    commit: &CommitKey,
) -> Outcome<Vec<Frame>> {
    let entry = head.and_then(|head| entry_of(head, &source.doc.id));
    let Some(name) = entry.and_then(|entry| text(&entry, "replay_manifest")) else {
        let message = format!("no pages of source `{}` are cached, so it cannot be replayed", source.doc.display_name);
        return Err(Refusal::usage(Code::E076, message, "sync it once with `--stream --cache-pages`"));
    };
    let mut frames = Vec::new();
    for (_, bytes) in session.store.catalog().scan(SPACE, &prefix(&[&dataset.id, &source.doc.id, &name]))? {
        let note = String::from_utf8(bytes).map_err(|_| damaged(source))?;
        let text: String = session.store.open_note(&dataset.id, &note)?;
        frames.push(Frame::from_bytes(text.as_bytes()).map_err(|_| damaged(source))?);
    }
    if frames.is_empty() {
        let message = format!("the cached pages of source `{}` were erased", source.doc.display_name);
        return Err(Refusal::usage(Code::E076, message, "sync it anew with `--stream --cache-pages`"));
    }
    if manifest(commit, &source.doc.id, &frames) != name {
        return Err(damaged(source));
    }
    Ok(frames)
}

fn damaged(source: &Source) -> Box<Refusal> {
    let message = format!("the cached pages of source `{}` are not those that were read", source.doc.display_name);
    Refusal::integrity(Code::E130, message, "sync it anew with `--stream --cache-pages`")
}

/// The entries of all cached pages of a dataset, and nothing of unfinished readings: for an erasure, which must reach
/// what might hold the record.
pub(crate) fn forget(session: &Session, dataset: &str) -> Outcome<Vec<Key>> {
    for doc in super::docs(session, dataset)? {
        super::pull::discard(session, dataset, &doc.id)?;
    }
    let cached = session.store.catalog().scan(SPACE, &prefix(&[dataset]))?;
    Ok(cached.into_iter().map(|(key, _)| Key { space: SPACE, key }).collect())
}

/// The entries of cached pages that none of these versions names.
pub(crate) fn unnamed(session: &Session, dataset: &str, stay: &[VersionDoc]) -> Outcome<Vec<Key>> {
    let mut named = BTreeSet::new();
    for version in stay {
        let provenance = mapping(&version.provenance);
        named.extend(entries(&provenance).filter_map(|entry| text(entry, "replay_manifest")));
    }
    let cached = session.store.catalog().scan(SPACE, &prefix(&[dataset]))?;
    let unnamed = cached.into_iter().filter(|(key, _)| key.split('\n').nth(2).is_none_or(|name| !named.contains(name)));
    Ok(unnamed.map(|(key, _)| Key { space: SPACE, key }).collect())
}

fn key(dataset: &str, source: &str, manifest: &str, page: usize) -> Key {
    Key::new(SPACE, format!("{dataset}\n{source}\n{manifest}\n{page:010}"))
}
