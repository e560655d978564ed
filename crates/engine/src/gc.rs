//! `gc`: what nothing refers to is dropped, and versions past their time.
//!
//! *Invariant:* a version that a tag, a run or another dataset cites stays. Documents go before the objects they
//! name; when it is not certain what is named, nothing goes.

use std::collections::{BTreeMap, BTreeSet};

use heldset_store::StoreError;
use heldset_store::catalog::{Batch, Key};
use heldset_store::documents::{
    ChunkDoc, DatasetDoc, Document, PackDoc, VersionDoc, dataset_key, digest_key, files_key, pack_key, prefix,
    roots_key, version_key,
};

use crate::compact::compact;
use crate::refusal::{Outcome, Refusal};
use crate::retention::expired;
use crate::scrub::named_but;
use crate::session::Session;
use crate::uses::{Uses, record_splits};
use crate::{drops, log, resolve};

/// What was dropped, or would be.
#[derive(Default)]
pub struct Collected {
    /// How many objects.
    pub dropped_objects: u64,
    /// How many bytes they have.
    pub freed_bytes: u64,
    /// Versions past their time: dataset and number.
    pub dropped_versions: Vec<(String, u64)>,
    /// Versions past their time that stay, and why.
    pub kept: Vec<(String, u64, String)>,
    /// How many small packs were merged.
    pub merged_packs: u64,
}

/// What goes of one dataset.
struct Sweep {
    dataset: DatasetDoc,
    /// The versions that stay.
    stay: Vec<VersionDoc>,
    /// The versions that go.
    go: Vec<VersionDoc>,
    /// Entries of the catalogue that go.
    gone: BTreeSet<Key>,
    /// Packs of which some chunks go.
    trim: Vec<(String, String, PackDoc)>,
}

/// Drops what nothing refers to.
pub fn gc(session: &Session, dry_run: bool) -> Outcome<Collected> {
    session.must_manage("gc")?;
    let held = session.store.hold_alone()?;
    drops::certain(&session.store)?;
    if !dry_run {
        drops::finish(session)?;
    }
    let mut collected = Collected::default();
    let mut gone = BTreeSet::new();
    if !dry_run {
        // What was never registered goes first: on a full disk it may be the only room there is.
        drop_objects(session, &gone, dry_run, &mut collected)?;
    }
    for sweep in sweeps(session, &mut collected)? {
        if !dry_run {
            sweep.commit(session)?;
            for split in record_splits(&sweep.stay) {
                collected.merged_packs += compact(session, &sweep.dataset, &sweep.stay, &split)?;
            }
        }
        gone.extend(sweep.gone);
    }
    drop_objects(session, &gone, dry_run, &mut collected)?;
    if let (Some(folder), Some(held), false) = (session.store.folder(), &held, dry_run) {
        folder.sweep(held)?;
    }
    Ok(collected)
}

fn drop_objects(session: &Session, gone: &BTreeSet<Key>, dry_run: bool, collected: &mut Collected) -> Outcome<()> {
    let store = &session.store;
    let mut problems = Vec::new();
    let named = named_but(store, gone, &mut problems)?;
    if let Some(damage) = problems.first() {
        return Err(StoreError::damaged(damage.path.as_str()).into());
    }
    for (address, size) in store.objects().list()? {
        if named.contains_key(&address) {
            continue;
        }
        if !dry_run {
            store.objects().delete(&address)?;
        }
        collected.dropped_objects += 1;
        collected.freed_bytes += size;
    }
    Ok(())
}

/// What goes, for each dataset.
fn sweeps(session: &Session, collected: &mut Collected) -> Outcome<Vec<Sweep>> {
    let store = &session.store;
    let mut all = Vec::new();
    for dataset in resolve::datasets(store)? {
        let versions = resolve::versions(store, &dataset)?;
        all.push((dataset, versions));
    }
    let mut children: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for (dataset, versions) in &all {
        for version in versions {
            for parent in &version.parents {
                let child = (dataset.slug.clone(), version.number);
                children.entry(bare(parent).to_owned()).or_default().push(child);
            }
        }
    }
    let now = session.clock.now();
    let mut sweeps = Vec::new();
    for (dataset, versions) in all {
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        for version in versions {
            let Some(past) = expired(&dataset, &version, &now) else {
                stay.push(version);
                continue;
            };
            match citation(session, &dataset, &version, &children)? {
                Some(cited) => {
                    collected.kept.push((dataset.slug.clone(), version.number, format!("{past}, but {cited}")));
                    stay.push(version);
                }
                None => {
                    collected.dropped_versions.push((dataset.slug.clone(), version.number));
                    go.push(version);
                }
            }
        }
        sweeps.push(Sweep::of(session, dataset, stay, go)?);
    }
    Ok(sweeps)
}

/// Who cites a version.
fn citation(
    session: &Session,
    dataset: &DatasetDoc,
    version: &VersionDoc,
    children: &BTreeMap<String, Vec<(String, u64)>>,
) -> Outcome<Option<String>> {
    let store = &session.store;
    let tags = resolve::tags(store, dataset)?;
    if let Some((tag, _)) = tags.iter().find(|(_, number)| *number == version.number) {
        return Ok(Some(format!("the tag `{tag}` names it")));
    }
    let derived = children.get(bare(&version.digest)).into_iter().flatten();
    if let Some((slug, number)) = derived.into_iter().find(|(slug, _)| *slug != dataset.slug) {
        return Ok(Some(format!("`{slug}@{number}` comes from it")));
    }
    let cites = store.catalog().scan("cite", &prefix(&[&dataset.id, &version.number.to_string()]))?;
    Ok(cites.first().map(|(key, _)| format!("`{}` cites it", heldset_store::documents::last_part(key))))
}

impl Sweep {
    fn of(session: &Session, dataset: DatasetDoc, stay: Vec<VersionDoc>, go: Vec<VersionDoc>) -> Outcome<Sweep> {
        let mut gone = BTreeSet::new();
        for version in &go {
            gone.insert(version_key(&dataset.id, version.number));
            gone.insert(digest_key(&dataset.id, bare(&version.digest)));
        }
        let named: BTreeSet<Key> = stay
            .iter()
            .flat_map(|version| &version.splits)
            .map(|split| match split.files {
                true => files_key(&dataset.id, &split.name, &split.root),
                false => roots_key(&dataset.id, &split.name, &split.root),
            })
            .collect();
        for space in ["roots", "files"] {
            let entries = session.store.catalog().scan(space, &prefix(&[&dataset.id]))?;
            let keys = entries.into_iter().map(|(key, _)| Key { space, key });
            gone.extend(keys.filter(|key| !named.contains(key)));
        }
        gone.extend(crate::source::unnamed(session, &dataset.id, &stay)?);
        let mut sweep = Sweep { dataset, stay, go, gone, trim: Vec::new() };
        sweep.find_packs(session)?;
        Ok(sweep)
    }

    /// Packs no version has any chunk of go; of others the chunks that no version has.
    fn find_packs(&mut self, session: &Session) -> Outcome<()> {
        let store = &session.store;
        let mut uses: BTreeMap<String, Uses> = BTreeMap::new();
        for (key, bytes) in store.catalog().scan("pack", &prefix(&[&self.dataset.id]))? {
            let damaged = || StoreError::damaged(format!("catalog: pack/{}", crate::verify::shown(&key)));
            let mut parts = key.split('\n').skip(1);
            let (split, name) = parts.next().zip(parts.next()).ok_or_else(damaged)?;
            let pack = PackDoc::from_bytes(&bytes, &format!("catalog: pack {name}"))?;
            if !uses.contains_key(split) {
                uses.insert(split.to_owned(), Uses::of(store, &self.dataset.id, split, &self.stay)?);
            }
            let used = |chunk: &ChunkDoc| uses.get(split).is_some_and(|uses| uses.has(chunk));
            let count = pack.chunks.iter().filter(|chunk| used(chunk)).count();
            if count == 0 {
                self.gone.insert(pack_key(&self.dataset.id, split, name));
            } else if count < pack.chunks.len() {
                let (split, name) = (split.to_owned(), name.to_owned());
                let mut left = pack;
                left.chunks.iter_mut().filter(|chunk| !used(chunk)).for_each(|chunk| chunk.root.clear());
                self.trim.push((split, name, left));
            }
        }
        Ok(())
    }

    fn commit(&self, session: &Session) -> Outcome<()> {
        if self.gone.is_empty() && self.trim.is_empty() {
            return Ok(());
        }
        let store = &session.store;
        let mut trimmed = Vec::new();
        for (split, name, pack) in &self.trim {
            trimmed.extend(self.trim_pack(session, split, name, pack)?);
        }
        log::commit(session, || {
            let mut batch = Batch { durable: true, ..Batch::default() };
            for (old, new, pack) in &trimmed {
                batch.expect(old.clone(), store.catalog().get(old)?);
                batch.delete(old.clone());
                batch.put(new.clone(), pack.clone());
            }
            batch.delete.extend(self.gone.iter().cloned());
            if self.go.is_empty() {
                return Ok::<_, Box<Refusal>>(batch);
            }
            let dataset = resolve::dataset(store, &self.dataset.slug)?;
            let deletion_status = if self.stay.is_empty() { resolve::ERASED } else { "partial" }.to_owned();
            let marked = DatasetDoc { deletion_status, ..dataset.clone() };
            batch.expect(dataset_key(&dataset.slug), Some(dataset.to_bytes()?));
            batch.put(dataset_key(&dataset.slug), marked.to_bytes()?);
            let numbers: Vec<String> = self.go.iter().map(|version| version.number.to_string()).collect();
            let note = format!("past their time, versions {} are dropped", numbers.join(", "));
            Ok(log::logged(store, &log::upkeep_entry(session, "gc", &dataset.slug, note), batch)?)
        })
    }

    /// A pack without the chunks that have no root any more. Without the keys it stays as it is.
    fn trim_pack(
        &self,
        session: &Session,
        split: &str,
        name: &str,
        pack: &PackDoc,
    ) -> Outcome<Option<(Key, Key, Vec<u8>)>> {
        let store = &session.store;
        let keys = store.keys().load(&self.dataset.id)?;
        let mut keep = Vec::with_capacity(usize::try_from(pack.rows).unwrap_or_default());
        for chunk in &pack.chunks {
            keep.extend((0..chunk.rows).map(|_| !chunk.root.is_empty()));
        }
        let chunks = pack.chunks.iter().filter(|chunk| !chunk.root.is_empty()).cloned().collect();
        let canary = self.dataset.canaries.get(split).cloned().unwrap_or_default();
        let new = match store.trim_pack(pack, &self.dataset.id, keys.as_ref(), &canary, &keep, chunks) {
            Err(StoreError::NoKey { .. }) => return Ok(None),
            new => new?,
        };
        let key = |name: &str| pack_key(&self.dataset.id, split, name);
        Ok(Some((key(name), key(&new.name()?), new.to_bytes()?)))
    }
}

fn bare(digest: &str) -> &str {
    digest.trim_start_matches("sha256:")
}
