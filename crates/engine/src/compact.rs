//! Many small packs become one: what small changes leave behind is read as fast as one large import.
//!
//! *Invariant:* only the layout changes: every chunk keeps its root, which is computed again on the way. Old objects
//! stay until `gc`, so that whoever reads them can go on.

use heldset_core::digest::Digest;
use heldset_core::leaf::Leaves;
use heldset_core::visibility::{SplitLabels, upkeep};
use heldset_store::catalog::Batch as Changes;
use heldset_store::documents::{ChunkDoc, DatasetDoc, Document, PackDoc, VersionDoc, pack_key};
use heldset_store::pack::{PACK_BYTES, PACK_ROWS, PackDraft, Staged, Stager};
use heldset_store::{DatasetKeys, Sealing, StoreError};

use crate::gather::{Packing, write_pack};
use crate::recompute::root_of;
use crate::refusal::Outcome;
use crate::resolve;
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::uses::Uses;
use crate::view::Batch;

/// Packs with fewer rows are small.
const SMALL: u64 = 8192;
/// So many small packs do no harm.
const FEW: usize = 16;

/// Merges the small packs of a split, if there are many; says how many were merged. Without keys nothing happens.
pub(crate) fn compact(session: &Session, dataset: &DatasetDoc, versions: &[VersionDoc], split: &str) -> Outcome<u64> {
    let store = &session.store;
    let known = SplitRows::known(store, &dataset.id, split)?;
    let small: Vec<usize> = (0..known.packs.len()).filter(|pack| known.packs[*pack].1.rows < SMALL).collect();
    let Some(keys) = store.keys().load(&dataset.id)?.filter(|_| small.len() > FEW) else { return Ok(0) };
    let uses = Uses::of(store, &dataset.id, split, versions)?;
    let mut groups: Vec<(&SplitLabels, Vec<usize>)> = Vec::new();
    for pack in small {
        let Some(labels) = uses.labels_of_pack(&known.packs[pack].1) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == labels) {
            Some((_, packs)) => packs.push(pack),
            None => groups.push((labels, vec![pack])),
        }
    }
    let canary = dataset.canaries.get(split).cloned().unwrap_or_default();
    let sealing = Sealing { dataset: dataset.id.clone(), canary, key: keys.newest() };
    let mut merged = 0;
    for (labels, packs) in groups.into_iter().filter(|(_, packs)| packs.len() > 1) {
        let merge = Merge { session, dataset, split, known: &known, uses: &uses, keys: &keys, labels };
        merged += merge.run(&packs, &sealing)?;
    }
    Ok(merged)
}

/// Merges the small packs of a split after a change, when there are many. The change stands whether or not this works.
pub(crate) fn after_change(session: &Session, dataset: &DatasetDoc, split: &str) {
    let small = SplitRows::known(&session.store, &dataset.id, split)
        .map(|known| known.packs.iter().filter(|(_, pack)| pack.rows < SMALL).count());
    if small.is_ok_and(|small| small > FEW)
        && let Ok(versions) = resolve::versions(&session.store, dataset)
    {
        // What is not merged now is merged by `gc`, or after the next change.
        drop(compact(session, dataset, &versions, split));
    }
}

/// One merge: packs of one split that have the same labels.
struct Merge<'m> {
    session: &'m Session,
    dataset: &'m DatasetDoc,
    split: &'m str,
    known: &'m SplitRows,
    uses: &'m Uses,
    keys: &'m DatasetKeys,
    labels: &'m SplitLabels,
}

impl Merge<'_> {
    fn run(&self, packs: &[usize], sealing: &Sealing) -> Outcome<u64> {
        let packing = Packing { store: &self.session.store, labels: self.labels, sealing };
        let (mut draft, mut kept, mut old, mut merged) = (PackDraft::default(), Vec::new(), Vec::new(), 0);
        for pack in packs {
            let Some((rows, chunks)) = self.staged(*pack)? else { continue };
            rows.iter().for_each(|row| draft.push(row));
            kept.extend(chunks);
            old.push(*pack);
            if draft.len() >= PACK_ROWS || draft.weight() >= PACK_BYTES {
                merged += self.put_together(packing, &draft, std::mem::take(&mut kept), &old)?;
                draft.clear();
                old.clear();
            }
        }
        if old.len() > 1 {
            merged += self.put_together(packing, &draft, kept, &old)?;
        }
        Ok(merged)
    }

    /// Writes one pack in the place of several. Where there is no room for that, they stay.
    fn put_together(
        &self,
        packing: Packing<'_>,
        draft: &PackDraft,
        kept: Vec<ChunkDoc>,
        old: &[usize],
    ) -> Outcome<u64> {
        match write_pack(packing, draft, kept) {
            Err(error) if error.is_full() => Ok(0),
            pack => self.replace(old, pack?),
        }
    }

    /// The rows of a pack that some version has, ready to be stored again; nothing if a chunk has another root by
    /// these labels.
    fn staged(&self, pack: usize) -> Outcome<Option<(Vec<Staged>, Vec<ChunkDoc>)>> {
        let (store, keys, grant) = (&self.session.store, Some(self.keys), upkeep());
        let reading = Reading { store, keys, dataset: &self.dataset.id, labels: self.labels, grant: &grant };
        let doc = &self.known.packs[pack].1;
        let all = 0..doc.rows;
        let batch = Batch::of(reading.groups(doc, std::slice::from_ref(&all))?);
        let mut stager = Stager::new(Leaves::committed(self.labels.clone(), &self.keys.commit_key()));
        let (mut rows, mut chunks, mut first) = (Vec::new(), Vec::new(), 0);
        for (index, chunk) in doc.chunks.iter().enumerate() {
            let range = first..first + usize::try_from(chunk.rows).unwrap_or(usize::MAX);
            first = range.end;
            let root: Digest = chunk.root.parse().map_err(|_| StoreError::damaged("catalog: the root of a chunk"))?;
            let here = self.known.place(&root).is_some_and(|place| (place.pack, place.chunk) == (pack, index));
            if !here || !self.uses.has(chunk) {
                continue;
            }
            let from = rows.len();
            for row in range {
                rows.push(stager.stage(&batch.record(row)?));
            }
            if !has_root(&rows[from..], chunk, root) {
                return Ok(None);
            }
            chunks.push(chunk.clone());
        }
        Ok(Some((rows, chunks)))
    }

    /// Puts one pack in the place of several, unless somebody changed them meanwhile.
    fn replace(&self, old: &[usize], new: PackDoc) -> Outcome<u64> {
        let store = &self.session.store;
        let mut batch = Changes { durable: true, ..Changes::default() };
        for pack in old {
            let (name, doc) = &self.known.packs[*pack];
            let key = pack_key(&self.dataset.id, self.split, name);
            batch.expect(key.clone(), Some(doc.to_bytes()?));
            batch.delete(key);
        }
        batch.put(pack_key(&self.dataset.id, self.split, &new.name()?), new.to_bytes()?);
        match store.commit(&batch) {
            Err(StoreError::Conflict) => Ok(0),
            done => Ok(done.map(|()| old.len() as u64)?),
        }
    }
}

/// Whether these rows, with the leaves of erased ones, have the root of their chunk.
fn has_root(rows: &[Staged], chunk: &ChunkDoc, root: Digest) -> bool {
    let mut rows = rows.iter();
    let leaf = |index: u64| match chunk.erased.get(&index) {
        Some(leaf) => leaf.parse().ok(),
        None => rows.next().map(|row| row.leaf),
    };
    let leaves: Option<Vec<Digest>> = (0..chunk.rows + chunk.erased.len() as u64).map(leaf).collect();
    leaves.is_some_and(|leaves| root_of(&leaves) == root)
}
