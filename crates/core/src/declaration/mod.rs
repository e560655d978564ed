//! The declaration of a dataset, as people keep it in a file: `apiVersion: heldset/v1, kind: Dataset, metadata, spec`.
//!
//! *Invariant:* nothing that is declared is dropped: a key that is not known is a problem, with the nearest known one.
//! All problems are told at once.

mod metadata;
mod parent;
pub(crate) mod part;
mod spec;
mod splits;

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::fault::Problem;
use crate::manifest::Mode;
use crate::path::Path;
use crate::value::{Object, Value};
use crate::visibility::PolicyDraft;

pub use parent::Parent;
pub use splits::SplitDeclaration;

use part::{Kind, Reader};

/// What `apiVersion` must say.
pub const API_VERSION: &str = "heldset/v1";
/// What `kind` must say.
pub const KIND: &str = "Dataset";

/// A dataset as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The slug.
    pub slug: String,
    /// The name.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// The license.
    pub license: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The other metadata, checked and as it stands.
    pub metadata: Object<'static>,
    /// How versions come to be; synced unless it is said.
    pub mode: Mode,
    /// Where the bytes come from.
    pub source: Option<Source>,
    /// The splits in order, then the artifacts as splits that state nothing but their paths.
    pub splits: Vec<SplitDeclaration>,
    /// The digests that files must have.
    pub checksum: BTreeMap<String, Digest>,
    /// What is declared of where it comes from.
    pub provenance: Object<'static>,
    /// How long it is kept.
    pub retention: Option<Object<'static>>,
    /// What it is made of.
    pub parents: Vec<Parent>,
    /// How it was made.
    pub generation: Generation,
    /// What of a remote source it is.
    pub stream: Stream,
    /// The contract of a mount.
    pub mount: Option<Object<'static>>,
    /// The policy that is stated as a whole.
    pub visibility: Option<PolicyDraft>,
}

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A folder, a file or an address.
    pub uri: String,
    /// The revision upstream.
    pub revision: Option<String>,
}

/// How a generated dataset was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generation {
    /// The run.
    pub run: Option<String>,
    /// The snapshot of the code.
    pub code: Option<String>,
    /// The agent or model.
    pub agent: Option<String>,
    /// The seed, or the seeds.
    pub seed: Option<Value<'static>>,
    /// The policy of the generation.
    pub policy: Option<Value<'static>>,
    /// What was filtered.
    pub filters: Option<Value<'static>>,
    /// What was redacted.
    pub redaction: Option<Value<'static>>,
}

/// What of a remote source a streamed dataset is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// The query.
    pub query: Option<String>,
    /// The digest of the query, if it is stated.
    pub query_digest: Option<Digest>,
    /// The time of the snapshot.
    pub snapshot_time: Option<String>,
    /// Where the pages that were used are kept.
    pub replay_manifest: Option<String>,
}

impl Declaration {
    /// Reads a declaration, or tells everything that is wrong with it.
    pub fn from_value(value: &Value<'_>) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader::default();
        let declaration = read(value, &mut reader);
        match declaration {
            Some(declaration) if reader.problems.is_empty() => Ok(declaration),
            _ => Err(reader.problems),
        }
    }

    /// The policy that is declared, over one that holds where nothing is declared.
    pub fn policy_over(&self, mut base: PolicyDraft) -> PolicyDraft {
        if let Some(stated) = self.visibility.clone() {
            let same = |key: &str, other: &str| key.ends_with('*') && key.eq_ignore_ascii_case(other);
            base.fields.retain(|key, _| !stated.fields.keys().any(|other| same(key, other)));
            base.labels.extend(stated.labels);
            base.splits.extend(stated.splits);
            base.fields.extend(stated.fields);
            base.movement.extend(stated.movement);
            base.answers_for.extend(stated.answers_for);
            base.default = stated.default.or(base.default);
        }
        for split in &self.splits {
            let of = |stated: &Option<String>| stated.clone().map(|stated| (split.name.clone(), stated));
            base.splits.extend(of(&split.visibility));
            base.answers_for.extend(of(&split.answers_for));
        }
        base
    }
}

fn read(value: &Value<'_>, reader: &mut Reader) -> Option<Declaration> {
    let top = reader.part(value, Path::root(), &["apiVersion", "kind", "metadata", "spec"])?;
    reader.required(&top, "apiVersion", Kind::OneOf(&[API_VERSION]));
    reader.required(&top, "kind", Kind::OneOf(&[KIND]));
    let metadata = reader.required(&top, "metadata", Kind::Mapping);
    let metadata = metadata.and_then(|value| metadata::read(value, top.at("metadata"), reader));
    let spec = reader.required(&top, "spec", Kind::Mapping);
    let spec = spec.and_then(|value| spec::read(value, top.at("spec"), reader));
    let (metadata, spec) = (metadata?, spec?);
    Some(Declaration {
        slug: metadata.slug,
        name: metadata.name,
        description: metadata.description,
        license: metadata.license,
        tags: metadata.tags,
        metadata: metadata.more,
        ..spec
    })
}
