//! A proof that a record is in a version: from its leaf up to the root of the split.
//!
//! *Invariant:* hands out digests only, and only a proof that was checked. Commitments are public; the open digest of
//! a group is given to those alone who may see the group.

use heldset_core::chunk::RecordProof;
use heldset_core::code::Code;
use heldset_core::digest::Digest;
use heldset_core::leaf::Leaves;
use heldset_core::visibility::upkeep;
use heldset_store::StoreError;
use heldset_store::documents::ChunkDoc;

use super::{At, RecordRequest};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::Resolved;
use crate::rows::Reading;
use crate::session::Session;
use crate::view::Batch;

/// A record that is proven to be in a version.
pub struct Proven {
    /// The dataset and version.
    pub resolved: Resolved,
    /// Its split.
    pub split: String,
    /// Its id.
    pub id: String,
    /// Its leaf.
    pub leaf: Digest,
    /// The digests and commitments of its groups, by label.
    pub groups: Vec<(String, Digest)>,
    /// The way up.
    pub proof: RecordProof,
    /// The root of the split.
    pub root: Digest,
}

/// Proves that a record is in a version.
pub fn prove(session: &Session, request: &RecordRequest<'_>) -> Outcome<Proven> {
    let At { view, split, id, .. } = At::find(session, request)?;
    let hidden = split.labels.labels().iter().find(|label| label.is_open() && !session.viewer.sees(label));
    if let Some(label) = hidden {
        let message = format!("the audience `{}` may not have proofs over `{}`", session.viewer.name(), label.name());
        return Err(Refusal::denied(Code::E120, message, "run it as the owner, without `--as`"));
    }
    let damaged = || StoreError::damaged(format!("the rows of split {}", split.doc.name));
    let dataset = &view.resolved.dataset;
    let keys = session.store.keys().load(&dataset.id)?;
    let keys = keys.ok_or_else(|| StoreError::NoKey { dataset: dataset.slug.clone() })?;
    let (rows, grant) = (view.rows(&split)?, upkeep());
    let reading = Reading {
        store: &session.store,
        keys: Some(&keys),
        dataset: &dataset.id,
        labels: &split.labels,
        grant: &grant,
    };
    let (chunk, place, row) = rows.locate(&reading, &id)?.ok_or_else(damaged)?;
    let pack = &rows.packs[place.pack].1;
    let range = place.first..place.first + place.rows;
    let batch = Batch::of(reading.groups(pack, std::slice::from_ref(&range))?);
    let mut leaves = Leaves::committed(split.labels.clone(), &keys.commit_key());
    let mut present = Vec::with_capacity(batch.len());
    for row in 0..batch.len() {
        present.push(leaves.leaf(&batch.record(row)?));
    }
    let own_row = usize::try_from(row - place.first).map_err(StoreError::internal)?;
    let record = batch.record(own_row)?;
    let groups = leaves.groups(&record).map(|(label, digest)| (label.to_owned(), digest)).collect();
    let (all, index) = with_erased(&present, own_row, &pack.chunks[place.chunk]).ok_or_else(damaged)?;
    let roots: Vec<Digest> = rows.chunks.iter().map(|(root, _)| *root).collect();
    let proof = RecordProof::of(&all, index, &roots, chunk).ok_or_else(damaged)?;
    let root: Digest = split.doc.root.parse().map_err(|_| damaged())?;
    let leaf = all[index];
    if !proof.proves(leaf, root) {
        return Err(damaged().into());
    }
    Ok(Proven { resolved: view.resolved, split: split.doc.name, id, leaf, groups, proof, root })
}

/// All leaves of a chunk, those of erased rows in their places, and where the row is among them.
fn with_erased(present: &[Digest], row: usize, chunk: &ChunkDoc) -> Option<(Vec<Digest>, usize)> {
    let total = present.len() + chunk.erased.len();
    let (mut all, mut index, mut next) = (Vec::with_capacity(total), None, 0);
    for place in 0..total {
        match chunk.erased.get(&(place as u64)) {
            Some(hex) => all.push(hex.parse().ok()?),
            None => {
                if next == row {
                    index = Some(place);
                }
                all.push(*present.get(next)?);
                next += 1;
            }
        }
    }
    Some((all, index?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use heldset_core::digest::sha256;

    use super::*;

    #[test]
    fn erased_rows_keep_their_places_in_a_chunk() {
        let leaf = |name: &str| sha256(name.as_bytes());
        let erased = [(0, leaf("a").hex()), (2, leaf("c").hex())].into_iter().collect();
        let chunk = ChunkDoc { root: String::new(), rows: 2, erased };
        let (all, index) = with_erased(&[leaf("b"), leaf("d")], 1, &chunk).unwrap();
        assert_eq!(all, ["a", "b", "c", "d"].map(leaf));
        assert_eq!(index, 3);
        let beyond = ChunkDoc { erased: [(9, leaf("x").hex())].into_iter().collect(), ..chunk };
        assert!(with_erased(&[leaf("b"), leaf("d")], 1, &beyond).is_none());
    }
}
