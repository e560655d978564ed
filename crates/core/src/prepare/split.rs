//! Putting records into splits by a seed: exact shares, strata kept, groups whole.
//!
//! *Invariant:* the split of a record depends on the seed and on the set of records, never on their order. Without
//! groups every stratum is within one record of its exact share, and strata make up for each other.

use std::collections::BTreeMap;

use thiserror::Error;

use super::SplitPlan;
use crate::digest::{Digest, Hashing};

/// Guards a share that is a whole number of records from being one less, as fractions in binary are.
const CLOSE: f64 = 1e-9;

/// A record that is put into a split.
#[derive(Clone, Debug)]
pub struct Unit<'u> {
    /// Its id.
    pub id: &'u str,
    /// The value whose shares are kept, as bytes; records without one are together.
    pub stratum: Option<&'u [u8]>,
    /// The value that stays in one split, as bytes; a record without one is alone.
    pub group: Option<&'u [u8]>,
}

/// For each record, in the order they were given, the number of its split.
pub type Assigned = Vec<usize>;

/// Why records cannot be split as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SplitError {
    /// A group has records of several strata.
    #[error("the group of record `{id}` has records of several strata, so it cannot be both whole and stratified")]
    TornGroup {
        /// The first record of it.
        id: String,
    },
}

/// Records that go into one split together.
struct Block {
    order: Digest,
    members: Vec<usize>,
}

/// Puts each record into a split.
pub fn assign(plan: &SplitPlan, units: &[Unit<'_>]) -> Result<Assigned, SplitError> {
    let mut strata: BTreeMap<Option<&[u8]>, Vec<Block>> = BTreeMap::new();
    for (stratum, block) in blocks(plan, units)? {
        strata.entry(stratum).or_default().push(block);
    }
    let mut assigned = vec![0; units.len()];
    // What each split has had too little of so far: strata make up for each other.
    let mut owed = vec![0.0; plan.shares.len()];
    for blocks in strata.values_mut() {
        blocks.sort_by(|a, b| (b.members.len(), &a.order).cmp(&(a.members.len(), &b.order)));
        let total: usize = blocks.iter().map(|block| block.members.len()).sum();
        let mut left = quotas(plan, total, &mut owed);
        for block in blocks.iter() {
            let split = roomiest(&left);
            if let Some(left) = left.get_mut(split) {
                *left -= block.members.len() as f64;
            }
            block.members.iter().for_each(|member| assigned[*member] = split);
        }
        // With whole groups a stratum cannot always give each split its due; the next one makes up for it.
        owed.iter_mut().zip(left).for_each(|(owed, left)| *owed += left);
    }
    Ok(assigned)
}

type Stratified<'u> = Vec<(Option<&'u [u8]>, Block)>;

/// The groups, or each record by itself, with the stratum of each.
fn blocks<'u>(plan: &SplitPlan, units: &[Unit<'u>]) -> Result<Stratified<'u>, SplitError> {
    let mut groups: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        match unit.group {
            Some(group) => groups.entry(group).or_default().push(index),
            None => {
                alone.push((unit.stratum, Block { order: order(plan, "id", unit.id.as_bytes()), members: vec![index] }))
            }
        }
    }
    for (group, members) in groups {
        let stratum = members.first().and_then(|first| units[*first].stratum);
        if members.iter().any(|member| units[*member].stratum != stratum) {
            let ids = members.iter().map(|member| units[*member].id);
            return Err(SplitError::TornGroup { id: ids.min().unwrap_or_default().to_owned() });
        }
        alone.push((stratum, Block { order: order(plan, "group", group), members }));
    }
    Ok(alone)
}

/// Where something stands in the shuffle.
fn order(plan: &SplitPlan, kind: &str, name: &[u8]) -> Digest {
    let mut hashing = Hashing::default();
    for part in [b"heldset/split/1", plan.seed.as_bytes(), kind.as_bytes(), name] {
        hashing.update(&(part.len() as u64).to_be_bytes());
        hashing.update(part);
    }
    hashing.finish()
}

/// How many records each split gets of so many: whole parts of its share, then one more for those that are owed most.
fn quotas(plan: &SplitPlan, total: usize, owed: &mut [f64]) -> Vec<f64> {
    let exact: Vec<f64> = plan.shares.iter().map(|(_, share)| share * total as f64).collect();
    let mut quotas: Vec<f64> = exact.iter().map(|exact| (exact + CLOSE).floor()).collect();
    let given: f64 = quotas.iter().sum();
    let mut due: Vec<(usize, f64)> =
        exact.iter().zip(&quotas).zip(&*owed).map(|((exact, given), owed)| exact - given + owed).enumerate().collect();
    due.sort_by(|(a, left), (b, right)| right.total_cmp(left).then(a.cmp(b)));
    let missing = (total as f64 - given).max(0.0);
    for (rank, (split, _)) in due.into_iter().enumerate() {
        if (rank as f64) < missing {
            quotas[split] += 1.0;
        }
    }
    owed.iter_mut().zip(exact.iter().zip(&quotas)).for_each(|(owed, (exact, given))| *owed += exact - given);
    quotas
}

/// The split with the most room; the first of those that have the same.
fn roomiest(left: &[f64]) -> usize {
    let best = (0..left.len()).max_by(|a, b| left[*a].total_cmp(&left[*b]).then(b.cmp(a)));
    best.unwrap_or(0)
}
