//! A version: what its digest covers, and the digests it is made of.
//!
//! *Invariant:* the core has no member for what may change without a new version: names, descriptions, tags,
//! lifecycle, times, the layout of files.

use crate::digest::{Digest, tagged_value};
use crate::number::Number;
use crate::value::{Object, Value};
use crate::visibility::Policy;

/// The recipe of the version digest, named inside the core.
pub const SPEC: &str = "heldset/version/1";

/// How a version came to be and where its bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bytes copied into the store.
    Synced,
    /// Files that stay where they are, pinned by a manifest.
    Mounted,
    /// Pages of a query against a remote source.
    RemoteStreamed,
    /// Made by a run or a preparation.
    Generated,
    /// Any of these with all splits sealed.
    Hidden,
}

/// One split in a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitEntry {
    /// The name.
    pub name: String,
    /// The name of its label.
    pub visibility: String,
    /// How many records or files it has.
    pub rows: u64,
    /// Its root.
    pub root: Digest,
}

/// All that the version digest covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCore {
    /// The slug of the dataset.
    pub dataset: String,
    /// How the version came to be.
    pub mode: Mode,
    /// The digest of the registered schema.
    pub schema: Digest,
    /// The digest of the resolved policy.
    pub policy: Digest,
    /// The digest of the declared provenance.
    pub provenance: Digest,
    /// The digests of the versions it comes from.
    pub parents: Vec<Digest>,
    /// The splits in order.
    pub splits: Vec<SplitEntry>,
}

impl Mode {
    /// Every mode.
    pub const ALL: &'static [Mode] =
        &[Mode::Synced, Mode::Mounted, Mode::RemoteStreamed, Mode::Generated, Mode::Hidden];

    /// The name as people and cores write it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Synced => "synced",
            Mode::Mounted => "mounted",
            Mode::RemoteStreamed => "remote_streamed",
            Mode::Generated => "generated",
            Mode::Hidden => "hidden",
        }
    }

    /// The mode of that name.
    pub fn parse(name: &str) -> Option<Mode> {
        Mode::ALL.iter().copied().find(|mode| mode.name() == name)
    }
}

impl VersionCore {
    /// The core as the JSON value that is hashed.
    pub fn to_value(&self) -> Value<'_> {
        let parents = self.parents.iter().map(|parent| Value::from(parent.hex())).collect();
        object([
            ("spec", Value::from(SPEC)),
            ("dataset", Value::from(self.dataset.as_str())),
            ("mode", Value::from(self.mode.name())),
            ("schema", Value::from(self.schema.hex())),
            ("policy", Value::from(self.policy.hex())),
            ("provenance", Value::from(self.provenance.hex())),
            ("parents", Value::Array(parents)),
            ("splits", splits_value(&self.splits)),
        ])
    }

    /// The version digest.
    pub fn digest(&self) -> Digest {
        tagged_value("version", &self.to_value())
    }

    /// Whether this says nothing that the head does not say, so that no new version is made. Parents do not count.
    pub fn repeats(&self, head: &VersionCore) -> bool {
        self.schema == head.schema
            && self.policy == head.policy
            && self.provenance == head.provenance
            && self.splits == head.splits
    }
}

/// The digest of the registered schema; `None` where none is registered. An inferred schema never enters.
pub fn schema_digest(schema: Option<&Value<'_>>) -> Digest {
    tagged_value("schema", schema.unwrap_or(&Value::Object(Object::new())))
}

/// The digest of a resolved policy.
pub fn policy_digest(policy: &Policy) -> Digest {
    tagged_value("policy", &policy.to_value())
}

/// The digest of the provenance that was declared.
pub fn provenance_digest(declared: &Object<'_>) -> Digest {
    tagged_value("provenance", &Value::Object(declared.clone()))
}

/// The digest of the records alone: of the splits with their roots. Over roots of content leaves it is the
/// content digest.
pub fn records_digest(splits: &[SplitEntry]) -> Digest {
    tagged_value("records", &splits_value(splits))
}

fn splits_value(splits: &[SplitEntry]) -> Value<'_> {
    let entries = splits.iter().map(|split| {
        object([
            ("name", Value::from(split.name.as_str())),
            ("visibility", Value::from(split.visibility.as_str())),
            ("rows", Value::Number(Number::from_u64(split.rows))),
            ("root", Value::from(split.root.hex())),
        ])
    });
    Value::Array(entries.collect())
}

fn object<'a, const N: usize>(entries: [(&'static str, Value<'a>); N]) -> Value<'a> {
    Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
