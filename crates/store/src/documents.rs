//! What the catalogue holds, as documents: datasets, versions, packs, tags, audit entries, copies.
//!
//! *Invariant:* a document carries the tag of its format; all old formats are read, the newest is written. One that is
//! read and written again has the same bytes: what is new in a format is left out where it is absent. Policies,
//! schemas and provenance are kept as canonical text, so that their digests can be computed again.

use std::collections::{BTreeMap, BTreeSet};

use heldset_core::digest::sha256;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use crate::catalog::Key;
use crate::error::StoreError;

/// Stands between the parts of a key; no name has it in it.
const BETWEEN: char = '\n';

/// A document with the tag of its format.
pub trait Document: Serialize + DeserializeOwned {
    /// The tag.
    const FORMAT: &'static str;

    /// The bytes that the catalogue keeps.
    fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let tagged = Tagged { format: Self::FORMAT.to_owned(), body: self };
        serde_json::to_vec(&tagged).map_err(StoreError::internal)
    }

    /// The document that these bytes are.
    fn from_bytes(bytes: &[u8], what: &str) -> Result<Self, StoreError> {
        let head: Head = serde_json::from_slice(bytes).map_err(|_| StoreError::damaged(what))?;
        if head.format != Self::FORMAT {
            return Err(StoreError::NewerFormat { found: head.format });
        }
        let tagged: Tagged<Self> = serde_json::from_slice(bytes).map_err(|_| StoreError::damaged(what))?;
        Ok(tagged.body)
    }
}

#[derive(Deserialize)]
struct Head {
    format: String,
}

#[derive(Serialize, Deserialize)]
struct Tagged<T> {
    format: String,
    #[serde(flatten)]
    body: T,
}

/// A dataset: what may change without a new version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetDoc {
    /// A random id that keys and objects are named by.
    pub id: String,
    /// The name in citations.
    pub slug: String,
    /// The name for people.
    pub name: String,
    /// What it contains.
    pub description: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// What its records are taken for.
    pub profile: String,
    /// The number of the newest version.
    pub head: u64,
    /// Its license.
    pub license: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Where it comes from, as canonical text.
    pub source: Option<String>,
    /// How long it is kept, as canonical text.
    pub retention: Option<String>,
    /// Whether something was erased: `none`, `requested`, `partial`, `erased`.
    pub deletion_status: String,
    /// For each split, the mark that its sealed objects carry.
    pub canaries: BTreeMap<String, String>,
    /// All else that was declared of it, as canonical text.
    pub more: Option<String>,
    /// What the commit key makes of the id: another key is told by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_check: Option<String>,
}

/// An immutable version.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VersionDoc {
    /// Its number.
    pub number: u64,
    /// Its digest.
    pub digest: String,
    /// How it came to be.
    pub mode: String,
    /// When it was registered.
    pub created_at: String,
    /// Who registered it.
    pub created_by: String,
    /// What was said of it.
    pub message: Option<String>,
    /// The resolved policy, as canonical text.
    pub policy: String,
    /// The registered schema, as canonical text.
    pub schema: String,
    /// What was declared about where it comes from, as canonical text.
    pub provenance: String,
    /// The digests of the versions it comes from.
    pub parents: Vec<String>,
    /// Its splits in order.
    pub splits: Vec<SplitDoc>,
    /// The files it was read from.
    pub sources: SourcesDoc,
    /// The contract of a mount, as canonical text.
    pub mount: Option<String>,
    /// Why it lets more audiences see something than the version before, if it does.
    pub declassified: Option<String>,
}

/// A split of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitDoc {
    /// Its name.
    pub name: String,
    /// The name of its label.
    pub label: String,
    /// How many records or files it has.
    pub rows: u64,
    /// Its root, in hex.
    pub root: String,
    /// Whether it is a split of files.
    pub files: bool,
}

/// The files a version was read from; sealed if anything in the version is, or they would test guesses.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourcesDoc {
    /// In the clear.
    Open(Vec<SourceDoc>),
    /// A sealed list, in hex.
    Sealed(String),
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceDoc {
    /// Its name.
    pub name: String,
    /// The split it was read into.
    pub split: String,
    /// How many bytes it has.
    pub size: u64,
    /// The SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// When it was read.
    pub time: String,
    /// What became of it: `copied`, `skipped`, `failed`.
    pub state: String,
}

/// Rows at rest: which chunks, and in which objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PackDoc {
    /// How many rows it has.
    pub rows: u64,
    /// Its chunks in order.
    pub chunks: Vec<ChunkDoc>,
    /// One object for each label.
    pub objects: Vec<ObjectDoc>,
    /// The index of ids.
    pub ids: ObjectDoc,
}

impl PackDoc {
    /// The name it is kept under, which no other pack has: ids alone would not do, for two packs with the same ids
    /// may hold different records.
    pub fn name(&self) -> Result<String, StoreError> {
        Ok(sha256(&self.to_bytes()?).hex())
    }
}

/// A chunk in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkDoc {
    /// Its root, in hex.
    pub root: String,
    /// How many rows of it are in the pack, erased ones not among them.
    pub rows: u64,
    /// Rows of it that were erased, counted with those that were not, and the leaves that stay for them, in hex.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_number")]
    pub erased: BTreeMap<u64, String>,
}

/// An object at rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectDoc {
    /// The label of what is in it.
    pub label: String,
    /// The SHA-256 of its bytes as they are stored, in hex.
    pub address: String,
    /// How many bytes are stored.
    pub size: u64,
    /// The checks of its segments, if it is open; a sealed one proves its own.
    pub checks: Option<String>,
}

/// The files of a split.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FilesDoc {
    /// Sorted by path.
    pub files: Vec<FileDoc>,
    /// The paths in order, sealed and in hex, if the split is; the files have none then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<String>,
}

/// A file of a split.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileDoc {
    /// Where it lies in the split.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// Its digest, or the commitment to it, in hex.
    pub sha256: String,
    /// Where its bytes are.
    pub at: FileAt,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAt {
    /// In the store, cut into objects of at most 64 MiB.
    Objects(Vec<ObjectDoc>),
    /// Where it was, pinned by its digest.
    Pinned(String),
}

/// A name for a version.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TagDoc {
    /// The number of the version.
    pub version: u64,
    /// When it was set.
    pub set_at: String,
}

/// A copy that left the store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CopyDoc {
    /// `export`, `mount`, `sync`.
    pub kind: String,
    /// Whose it is.
    pub owner: String,
    /// For whom it was made.
    pub audience: String,
    /// The kind of place.
    pub place: String,
    /// Where it is.
    pub at: String,
    /// The number of the version.
    pub version: u64,
    /// The labels in it.
    pub labels: Vec<String>,
    /// When it was made.
    pub made_at: String,
    /// When it must be gone.
    pub expires_at: Option<String>,
    /// `kept`, `outstanding`, `done`.
    pub state: String,
}

/// A look at data, or a change of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditDoc {
    /// When.
    pub time: String,
    /// Who.
    pub who: String,
    /// For which audience.
    pub audience: String,
    /// To which place.
    pub place: String,
    /// What for: the verb.
    pub purpose: String,
    /// Of which dataset.
    pub dataset: String,
    /// The digest of the version.
    pub version: String,
    /// Which splits.
    pub splits: Vec<String>,
    /// Which labels.
    pub labels: Vec<String>,
    /// How many rows at most.
    pub rows: u64,
    /// Whether it was allowed.
    pub allowed: bool,
    /// What else there is to say.
    pub note: Option<String>,
}

/// Where the audit log stands: its size and the heads of its full subtrees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHeadDoc {
    /// How many entries there are.
    pub size: u64,
    /// In hex, largest first.
    pub peaks: Vec<String>,
}

/// That keys were written down elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BackupDoc {
    /// When, at last.
    pub time: String,
    /// The ids of the datasets whose keys were.
    pub datasets: BTreeSet<String>,
}

macro_rules! formats {
    ($($type:ty => $format:literal,)+) => { $(impl Document for $type { const FORMAT: &'static str = $format; })+ };
}

pub(crate) use formats;

formats! {
    DatasetDoc => "heldset/dataset/1",
    VersionDoc => "heldset/version/1",
    PackDoc => "heldset/pack/1",
    FilesDoc => "heldset/files/1",
    TagDoc => "heldset/tag/1",
    CopyDoc => "heldset/copy/1",
    AuditDoc => "heldset/audit/1",
    AuditHeadDoc => "heldset/audit-head/1",
    BackupDoc => "heldset/backup/1",
}

/// Keys of a mapping are text, also where they stand for numbers.
fn by_number<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<u64, String>, D::Error> {
    let texts = BTreeMap::<String, String>::deserialize(from)?;
    let number = |(key, value): (String, String)| Ok((key.parse().map_err(D::Error::custom)?, value));
    texts.into_iter().map(number).collect()
}

fn key(space: &'static str, parts: &[&str]) -> Key {
    Key { space, key: parts.join(&BETWEEN.to_string()) }
}

/// The key of a dataset.
pub fn dataset_key(slug: &str) -> Key {
    key("dataset", &[slug])
}

/// The key of a version.
pub fn version_key(dataset: &str, number: u64) -> Key {
    key("version", &[dataset, &format!("{number:010}")])
}

/// The key under which a version's number is found by its digest.
pub fn digest_key(dataset: &str, hex: &str) -> Key {
    key("digest", &[dataset, hex])
}

/// The key of a tag.
pub fn tag_key(dataset: &str, tag: &str) -> Key {
    key("tag", &[dataset, tag])
}

/// The key of the list of chunks of a split with this root.
pub fn roots_key(dataset: &str, split: &str, root: &str) -> Key {
    key("roots", &[dataset, split, root])
}

/// The key of a pack.
pub fn pack_key(dataset: &str, split: &str, pack: &str) -> Key {
    key("pack", &[dataset, split, pack])
}

/// The key of the files of a split with this root.
pub fn files_key(dataset: &str, split: &str, root: &str) -> Key {
    key("files", &[dataset, split, root])
}

/// The key of what is remembered of the lines that a split was read from.
pub fn lines_key(dataset: &str, split: &str) -> Key {
    key("lines", &[dataset, split])
}

/// The key of a copy.
pub fn copy_key(dataset: &str, copy: &str) -> Key {
    key("copy", &[dataset, copy])
}

/// The key of an audit entry.
pub fn audit_key(number: u64) -> Key {
    key("audit", &[&format!("{number:016}")])
}

/// The key of the head of the audit log.
pub fn audit_head_key() -> Key {
    key("audit-head", &["head"])
}

/// The key of the note that keys were written down.
pub fn backup_key() -> Key {
    key("backup", &["keys"])
}

/// The key of the note that an object must still be removed.
pub fn drop_key(address: &str) -> Key {
    key("drop", &[address])
}

/// What the keys of one dataset, or of one of its splits, start with.
pub fn prefix(parts: &[&str]) -> String {
    let mut prefix = parts.join(&BETWEEN.to_string());
    prefix.push(BETWEEN);
    prefix
}

/// The last part of a key.
pub fn last_part(key: &str) -> &str {
    key.rsplit(BETWEEN).next().unwrap_or(key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_pack_with_erased_rows_is_read_back() {
        let erased = BTreeMap::from([(0, "aa".to_owned()), (12, "bb".to_owned())]);
        let chunk = ChunkDoc { root: "cc".to_owned(), rows: 3, erased };
        let ids =
            ObjectDoc { label: "public".to_owned(), address: "dd".to_owned(), size: 1, checks: Some(String::new()) };
        let pack = PackDoc { rows: 3, chunks: vec![chunk], objects: Vec::new(), ids };
        let read = PackDoc::from_bytes(&pack.to_bytes().unwrap(), "pack").unwrap();
        assert_eq!((read.chunks, read.ids), (pack.chunks, pack.ids));
    }
}
