//! From a citation to a dataset and one of its versions.
//!
//! *Invariant:* `slug`, `slug@3`, `slug@tag` and `slug@sha256:…` mean the same everywhere.

use heldset_core::cite::{At, Cite};
use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{Policy, PolicyDraft};
use heldset_store::documents::{
    DatasetDoc, Document, SplitDoc, TagDoc, VersionDoc, dataset_key, digest_key, last_part, prefix, tag_key,
    version_key,
};
use heldset_store::{DatasetKeys, Store, StoreError};

use crate::refusal::{Outcome, Refusal};

/// The deletion status of a dataset without any version.
pub(crate) const ERASED: &str = "erased";

/// A dataset and one of its versions.
pub struct Resolved {
    /// The dataset.
    pub dataset: DatasetDoc,
    /// The version.
    pub version: VersionDoc,
    /// The version's policy.
    pub policy: Policy,
}

/// What a text cites.
pub fn resolve(store: &Store, text: &str) -> Outcome<Resolved> {
    let cite: Cite = parse(text)?;
    let dataset = dataset(store, &cite.slug)?;
    let version = match &cite.at {
        At::Head => version(store, &dataset, dataset.head)?,
        At::Number(number) => version(store, &dataset, *number)?,
        At::Tag(tag) => version(store, &dataset, tagged(store, &dataset, tag)?)?,
        At::Digest(digest) => {
            let number = store.catalog().get(&digest_key(&dataset.id, &digest.hex()))?;
            let number = number.and_then(|bytes| std::str::from_utf8(&bytes).ok()?.parse().ok());
            let unknown = || unknown_version(&dataset, &digest.to_string());
            version(store, &dataset, number.ok_or_else(unknown)?)?
        }
    };
    let policy = policy_of(&version)?;
    Ok(Resolved { dataset, version, policy })
}

/// A citation as it is written.
pub fn parse(text: &str) -> Outcome<Cite> {
    text.parse().map_err(|error: heldset_core::cite::CiteError| {
        Refusal::usage(Code::E105, error.to_string(), "write `slug`, `slug@3`, `slug@tag` or `slug@sha256:…`")
    })
}

/// The dataset of that name.
pub fn dataset(store: &Store, slug: &str) -> Outcome<DatasetDoc> {
    match find_dataset(store, slug)? {
        Some(dataset) => Ok(dataset),
        None => {
            let known = datasets(store)?;
            let known = known.iter().map(|dataset| dataset.slug.as_str());
            Err(Refusal::unknown(format!("there is no dataset `{slug}`"), slug, known))
        }
    }
}

/// The dataset of that name, if there is one.
pub fn find_dataset(store: &Store, slug: &str) -> Result<Option<DatasetDoc>, StoreError> {
    store.document(&dataset_key(slug))
}

/// Every dataset, by slug.
pub fn datasets(store: &Store) -> Result<Vec<DatasetDoc>, StoreError> {
    let entries = store.catalog().scan("dataset", "")?;
    entries.iter().map(|(key, bytes)| DatasetDoc::from_bytes(bytes, &format!("catalog: dataset {key}"))).collect()
}

/// The keys of a dataset, if they are here. Keys of another dataset are refused before they spoil anything.
pub fn keys_of(store: &Store, dataset: &DatasetDoc) -> Outcome<Option<DatasetKeys>> {
    let keys = store.keys().load(&dataset.id)?;
    match (&keys, &dataset.key_check) {
        (Some(keys), Some(check)) if keys.check(&dataset.id) != *check => Err(Refusal::usage(
            Code::E114,
            format!("the key that is kept for dataset `{}` is not its key", dataset.slug),
            "bring the right one back with `heldset keys import FILE`",
        )),
        _ => Ok(keys),
    }
}

/// The version with that number.
pub fn version(store: &Store, dataset: &DatasetDoc, number: u64) -> Outcome<VersionDoc> {
    let found = store.document(&version_key(&dataset.id, number))?;
    found.ok_or_else(|| unknown_version(dataset, &number.to_string()))
}

/// Every version of a dataset, oldest first. If none was ever dropped, one that is not there is missed.
pub fn versions(store: &Store, dataset: &DatasetDoc) -> Result<Vec<VersionDoc>, StoreError> {
    let entries = store.catalog().scan("version", &prefix(&[&dataset.id]))?;
    let what = format!("catalog: a version of {}", dataset.slug);
    let read = entries.iter().map(|(_, bytes)| VersionDoc::from_bytes(bytes, &what));
    let versions: Vec<VersionDoc> = read.collect::<Result<_, _>>()?;
    let numbers = versions.iter().map(|version| version.number).take_while(|number| *number <= dataset.head);
    // Somebody may have dropped some since the dataset was read.
    let kept = |now: DatasetDoc| matches!(now.deletion_status.as_str(), "none" | "requested");
    let all_kept = || Ok::<_, StoreError>(find_dataset(store, &dataset.slug)?.is_some_and(kept));
    if !numbers.eq(1..=dataset.head) && all_kept()? {
        return Err(StoreError::missing(what));
    }
    Ok(versions)
}

/// Every tag of a dataset, with the number of its version.
pub fn tags(store: &Store, dataset: &DatasetDoc) -> Result<Vec<(String, u64)>, StoreError> {
    let entries = store.catalog().scan("tag", &prefix(&[&dataset.id]))?;
    let read = |(key, bytes): &(String, Vec<u8>)| {
        let tag = TagDoc::from_bytes(bytes, "catalog: a tag")?;
        Ok((last_part(key).to_owned(), tag.version))
    };
    entries.iter().map(read).collect()
}

fn tagged(store: &Store, dataset: &DatasetDoc, tag: &str) -> Outcome<u64> {
    if let Some(found) = store.document::<TagDoc>(&tag_key(&dataset.id, tag))? {
        return Ok(found.version);
    }
    let known = tags(store, dataset)?;
    let message = format!("dataset `{}` has no tag `{tag}`", dataset.slug);
    Err(Refusal::unknown(message, tag, known.iter().map(|(tag, _)| tag.as_str())))
}

fn unknown_version(dataset: &DatasetDoc, asked: &str) -> Box<Refusal> {
    if dataset.deletion_status == ERASED {
        let message = format!("dataset `{}` was erased when its retention ended", dataset.slug);
        return Refusal::usage(Code::E102, message, "its log and its citations stay; choose another slug for new data");
    }
    if dataset.head == 0 {
        let message = format!("dataset `{}` has no version yet", dataset.slug);
        return Refusal::usage(Code::E102, message, "import files, or add a source and sync it");
    }
    let message = format!("dataset `{}` has no version `{asked}`", dataset.slug);
    Refusal::usage(Code::E102, message, format!("the newest is `{}@{}`", dataset.slug, dataset.head))
}

/// The policy of a version.
pub fn policy_of(version: &VersionDoc) -> Outcome<Policy> {
    let damaged =
        || Box::<Refusal>::from(StoreError::damaged(format!("catalog: the policy of version {}", version.number)));
    let value = json::read(&version.policy).map_err(|_| damaged())?;
    let draft = PolicyDraft::from_value(&value).map_err(|_| damaged())?;
    draft.resolve().map_err(|_| damaged())
}

/// A mapping that a document keeps as canonical text.
pub fn mapping(text: &str) -> Object<'static> {
    match json::read(text) {
        Ok(Value::Object(object)) => object.into_owned(),
        _ => Object::new(),
    }
}

/// The split of that name.
pub fn split<'v>(version: &'v VersionDoc, name: &str) -> Option<&'v SplitDoc> {
    version.splits.iter().find(|split| split.name == name)
}
