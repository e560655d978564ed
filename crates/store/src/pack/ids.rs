//! The index of a pack's ids: where in the pack a record may be, found by reading a few kilobytes.
//!
//! *Invariant:* a hash may lead to several rows; whoever looks one up compares the ids.

use heldset_core::digest::sha256;

use super::Source;
use super::draft::PackDraft;
use crate::error::StoreError;

/// The tag of the format.
const MAGIC: &[u8] = b"heldset/ids/1\n\0\0";
/// A hash and a row.
const ENTRY: u64 = 8;
/// How far around the expected place is read at first, in entries.
const AROUND: u64 = 1024;

/// The hash that ids are sorted by.
pub fn id_hash(id: &str) -> u32 {
    let [a, b, c, d, ..] = *sha256(id.as_bytes()).as_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// The index of these rows.
pub fn id_index(draft: &PackDraft) -> Vec<u8> {
    index_of(draft.rows.iter().map(|row| row.id_hash))
}

/// The index of rows whose ids have these hashes.
pub(super) fn index_of(hashes: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut entries: Vec<u64> = hashes.zip(0u64..).map(|(hash, row)| u64::from(hash) << 32 | row).collect();
    entries.sort_unstable();
    let mut out = Vec::with_capacity(MAGIC.len() + entries.len() * ENTRY as usize);
    out.extend_from_slice(MAGIC);
    entries.iter().for_each(|entry| out.extend_from_slice(&entry.to_be_bytes()));
    out
}

/// The rows whose ids have this hash.
pub fn find_rows(index: &Source, hash: u32) -> Result<Vec<u32>, StoreError> {
    let start = MAGIC.len() as u64;
    let count = index.len().saturating_sub(start) / ENTRY;
    let expected = (u64::from(hash) * count) >> 32;
    let mut around = AROUND;
    loop {
        let (low, high) = (expected.saturating_sub(around), (expected + around).min(count));
        let bytes = index.fetch(start + low * ENTRY..start + high * ENTRY)?;
        let entries: Vec<u64> =
            bytes.chunks_exact(8).map(|entry| entry.iter().fold(0, |n, b| n << 8 | u64::from(*b))).collect();
        let hash_of = |entry: &u64| (*entry >> 32) as u32;
        let below = low == 0 || entries.first().is_some_and(|entry| hash_of(entry) < hash);
        let above = high == count || entries.last().is_some_and(|entry| hash_of(entry) > hash);
        if below && above {
            let from = entries.partition_point(|entry| hash_of(entry) < hash);
            let found = entries[from..].iter().take_while(|entry| hash_of(entry) == hash);
            return Ok(found.map(|entry| *entry as u32).collect());
        }
        around *= 4;
    }
}
