//! `erase`: a record taken out of every version, for good.
//!
//! *Invariant:* of the record only its 32-byte leaf stays, so that old digests still verify. The change and its
//! entry in the log happen together; objects with the record in them are removed before the verb ends, or by the
//! next one if it is cut short.

use std::collections::BTreeSet;

use heldset_core::code::Code;
use heldset_core::visibility::upkeep;
use heldset_store::catalog::{Batch, Key};
use heldset_store::documents::{
    AuditDoc, ChunkDoc, CopyDoc, DatasetDoc, Document, PackDoc, VersionDoc, copy_key, dataset_key, last_part, pack_key,
    prefix,
};
use heldset_store::{DatasetKeys, StoreError};

use crate::recompute::{Recompute, root_of};
use crate::refusal::{Outcome, Refusal};
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::uses::{Uses, record_splits};
use crate::view::hidden_splits;
use crate::{drops, log, resolve};

/// What is erased.
pub struct Erasure<'e> {
    /// The dataset.
    pub slug: &'e str,
    /// The id of the record.
    pub id: &'e str,
    /// Only in this split.
    pub split: Option<&'e str>,
    /// Why.
    pub reason: &'e str,
}

/// What was erased, and who must act.
#[derive(Default)]
pub struct Erased {
    /// How many stored rows are gone.
    pub rows: u64,
    /// The splits they were in.
    pub splits: Vec<String>,
    /// The numbers of the versions that had the record.
    pub versions: BTreeSet<u64>,
    /// Copies that may still have it, with their names.
    pub copies: Vec<(String, CopyDoc)>,
    /// Versions of other datasets that come from one that had it.
    pub derived: Vec<(String, u64)>,
    /// Runs on versions that had it, or that come from one: their results may quote it.
    pub runs: Vec<String>,
}

/// A pack that is replaced.
struct Replaced {
    split: String,
    name: String,
    /// The new one; nothing if no version has any of it.
    pack: Option<PackDoc>,
    old: Vec<String>,
}

impl Erased {
    fn add(&mut self, more: &Erased) {
        self.rows += more.rows;
        self.splits.extend(more.splits.iter().cloned());
        self.versions.extend(&more.versions);
    }
}

/// What is needed to erase in one dataset.
struct Work<'w> {
    session: &'w Session,
    dataset: DatasetDoc,
    keys: Option<DatasetKeys>,
    versions: Vec<VersionDoc>,
}

/// Erases a record.
pub fn erase(session: &Session, erasure: &Erasure<'_>) -> Outcome<Erased> {
    session.must_own("erase")?;
    if erasure.reason.trim().is_empty() {
        return Err(Refusal::usage(Code::E105, "an erasure needs a reason", "say why with `--reason TEXT`"));
    }
    let held = session.store.hold_alone()?;
    drops::certain(&session.store)?;
    drops::finish(session)?;
    let dataset = resolve::dataset(&session.store, erasure.slug)?;
    let keys = session.store.keys().load(&dataset.id)?;
    let versions = resolve::versions(&session.store, &dataset)?;
    let work = Work { session, dataset, keys, versions };
    let hidden = hidden_splits(session, &work.versions)?;
    let (mut all, mut erased, mut replaced) = (Erased::default(), Erased::default(), Vec::new());
    let (unseen, seen): (Vec<_>, Vec<_>) =
        work.splits(erasure, &hidden)?.into_iter().partition(|split| hidden.contains(split));
    for split in &seen {
        work.erase_in(split, erasure.id, &mut erased, &mut replaced)?;
    }
    if erased.rows == 0 {
        let place = erasure.split.map_or_else(String::new, |split| format!(" in split `{split}`"));
        let message = format!("dataset `{}` has no record `{}`{place}", erasure.slug, erasure.id);
        return Err(Refusal::usage(Code::E102, message, "list the ids with `heldset cat`"));
    }
    all.add(&erased);
    for split in &unseen {
        work.erase_in(split, erasure.id, &mut all, &mut replaced)?;
    }
    all.copies = work.copies(&all.versions)?;
    work.commit(erasure, &all, &replaced)?;
    let touched = crate::lineage::touched(session, &work.dataset.slug, Some(&erased.versions))?;
    let others = touched.datasets.into_iter().filter(|(slug, ..)| *slug != work.dataset.slug);
    erased.derived = others.map(|(slug, number, _)| (slug, number)).collect();
    erased.runs = touched.runs;
    erased.copies = all.copies;
    erased.copies.retain(|(_, copy)| erased.versions.contains(&copy.version));
    drops::finish(session)?;
    if let (Some(folder), Some(held)) = (session.store.folder(), &held) {
        folder.sweep(held)?;
    }
    Ok(erased)
}

impl Work<'_> {
    /// Where to look. A split that the caller may not know is not there by its name; a record that the caller knows
    /// of goes from there as well, and nothing is said of it.
    fn splits(&self, erasure: &Erasure<'_>, hidden: &BTreeSet<String>) -> Outcome<Vec<String>> {
        let mut known = record_splits(&self.versions);
        if erasure.split.is_some() {
            known.retain(|split| !hidden.contains(split));
        }
        match erasure.split {
            None => Ok(known.into_iter().collect()),
            Some(split) if known.contains(split) => Ok(vec![split.to_owned()]),
            Some(split) => {
                let message = format!("dataset `{}` has no split of records `{split}`", erasure.slug);
                Err(Refusal::unknown(message, split, known.iter().map(String::as_str)))
            }
        }
    }

    /// Writes every pack of a split that has the record again without it.
    fn erase_in(&self, split: &str, id: &str, erased: &mut Erased, replaced: &mut Vec<Replaced>) -> Outcome<()> {
        let store = &self.session.store;
        let uses = Uses::of(store, &self.dataset.id, split, &self.versions)?;
        let known = SplitRows::known(store, &self.dataset.id, split)?;
        let before = erased.rows;
        for (index, (name, pack)) in known.packs.iter().enumerate() {
            let old = || pack.objects.iter().chain([&pack.ids]).map(|object| object.address.clone()).collect();
            let (split, name) = (split.to_owned(), name.clone());
            let Some(labels) = uses.labels_of_pack(pack) else {
                replaced.push(Replaced { split, name, pack: None, old: old() });
                continue;
            };
            let grant = upkeep();
            let (keys, dataset) = (self.keys.as_ref(), self.dataset.id.as_str());
            let rows = known.find_in(&Reading { store, keys, dataset, labels, grant: &grant }, index, id)?;
            if rows.is_empty() {
                continue;
            }
            let pack = Some(self.without(&split, pack, &rows, &uses, erased)?);
            replaced.push(Replaced { split, name, pack, old: old() });
        }
        if erased.rows > before {
            erased.splits.push(split.to_owned());
        }
        Ok(())
    }

    /// A pack without these rows, and without chunks that no version has.
    fn without(&self, split: &str, pack: &PackDoc, rows: &[u64], uses: &Uses, erased: &mut Erased) -> Outcome<PackDoc> {
        let mut keep = vec![true; usize::try_from(pack.rows).unwrap_or_default()];
        let (mut chunks, mut first) = (Vec::new(), 0);
        for chunk in &pack.chunks {
            let range = first..first + chunk.rows;
            first = range.end;
            let within: Vec<u64> = rows.iter().filter(|row| range.contains(row)).map(|row| row - range.start).collect();
            let drop = if uses.has(chunk) { within.clone() } else { (0..chunk.rows).collect() };
            for row in &drop {
                if let Some(keep) = usize::try_from(range.start + row).ok().and_then(|row| keep.get_mut(row)) {
                    *keep = false;
                }
            }
            if !uses.has(chunk) {
                continue;
            }
            let mut chunk = chunk.clone();
            if !within.is_empty() {
                self.keep_leaves(pack, range.start, &mut chunk, &within, uses)?;
                erased.rows += within.len() as u64;
                erased.versions.extend(uses.versions_of(&chunk));
            }
            chunks.push(chunk);
        }
        let (canary, keys) = (self.dataset.canaries.get(split).cloned().unwrap_or_default(), self.keys.as_ref());
        Ok(self.session.store.trim_pack(pack, &self.dataset.id, keys, &canary, &keep, chunks)?)
    }

    /// Takes rows out of a chunk and keeps their leaves; the chunk must have its root before.
    fn keep_leaves(&self, pack: &PackDoc, first: u64, chunk: &mut ChunkDoc, rows: &[u64], uses: &Uses) -> Outcome<()> {
        let labels = uses.labels_of(chunk).ok_or(StoreError::Conflict)?;
        let (store, keys, dataset, grant) =
            (&self.session.store, self.keys.as_ref(), self.dataset.id.as_str(), upkeep());
        let reading = Reading { store, keys, dataset, labels, grant: &grant };
        let range = first..first + chunk.rows;
        let groups = reading.groups(pack, std::slice::from_ref(&range))?;
        let leaves = Recompute::new(labels, keys).chunk(&groups, 0, chunk);
        let leaves = leaves.filter(|leaves| root_of(leaves).hex() == chunk.root);
        let leaves = leaves.ok_or_else(|| StoreError::damaged(format!("chunk {}", chunk.root)))?;
        let present: Vec<u64> = (0..leaves.len() as u64).filter(|index| !chunk.erased.contains_key(index)).collect();
        for row in rows {
            let index = usize::try_from(*row).ok().and_then(|row| present.get(row)).ok_or(StoreError::Conflict)?;
            let leaf = usize::try_from(*index).ok().and_then(|index| leaves.get(index)).ok_or(StoreError::Conflict)?;
            chunk.erased.insert(*index, leaf.hex());
        }
        chunk.rows -= rows.len() as u64;
        Ok(())
    }

    /// Copies of versions that had the record, if nobody has dealt with them.
    fn copies(&self, versions: &BTreeSet<u64>) -> Outcome<Vec<(String, CopyDoc)>> {
        let mut copies = Vec::new();
        for (key, bytes) in self.session.store.catalog().scan("copy", &prefix(&[&self.dataset.id]))? {
            let copy = CopyDoc::from_bytes(&bytes, "catalog: a copy")?;
            if versions.contains(&copy.version) && copy.state != "done" {
                copies.push((last_part(&key).to_owned(), copy));
            }
        }
        Ok(copies)
    }

    /// Replaces the packs, marks dataset and copies, and logs it, all at once.
    fn commit(&self, erasure: &Erasure<'_>, erased: &Erased, replaced: &[Replaced]) -> Outcome<()> {
        let store = &self.session.store;
        // Pages of a source that are cached may hold the record, and are not looked into.
        let cached = crate::source::forget(self.session, &self.dataset.id)?;
        log::commit(self.session, || {
            let mut batch = Batch { durable: true, ..Batch::default() };
            batch.delete.extend(cached.iter().cloned());
            for Replaced { split, name, pack, old } in replaced {
                let key = pack_key(&self.dataset.id, split, name);
                batch.expect(key.clone(), store.catalog().get(&key)?);
                batch.delete(key);
                if let Some(pack) = pack {
                    batch.put(pack_key(&self.dataset.id, split, &pack.name()?), pack.to_bytes()?);
                }
                drops::note(&mut batch, old.iter().map(String::as_str));
            }
            let dataset = resolve::dataset(store, &self.dataset.slug)?;
            let marked = DatasetDoc { deletion_status: "partial".to_owned(), ..dataset.clone() };
            replace(&mut batch, dataset_key(&dataset.slug), &dataset, &marked)?;
            for (name, copy) in &erased.copies {
                let marked = CopyDoc { state: "outstanding".to_owned(), ..copy.clone() };
                replace(&mut batch, copy_key(&dataset.id, name), copy, &marked)?;
            }
            Ok::<_, Box<Refusal>>(log::logged(store, &self.entry(erasure, erased), batch)?)
        })
    }

    /// The id is not in it: it may be what must go.
    fn entry(&self, erasure: &Erasure<'_>, erased: &Erased) -> AuditDoc {
        let note = format!("a record is erased: {}", erasure.reason);
        let entry = log::upkeep_entry(self.session, "erase", erasure.slug, note);
        AuditDoc { splits: erased.splits.clone(), rows: erased.rows, ..entry }
    }
}

fn replace<D: Document>(batch: &mut Batch, key: Key, before: &D, after: &D) -> Result<(), StoreError> {
    batch.expect(key.clone(), Some(before.to_bytes()?));
    batch.put(key, after.to_bytes()?);
    Ok(())
}
