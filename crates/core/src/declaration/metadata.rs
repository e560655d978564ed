//! The metadata of a declared dataset: the fields of the registry, by the rules of the registry.

use super::part::{Reader, texts};
use crate::path::Path;
use crate::registry::{Purpose, fields};
use crate::value::{Object, Value};

/// The metadata, the rest of it as it stands.
pub(super) struct Metadata {
    pub(super) slug: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) license: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) more: Object<'static>,
}

pub(super) fn read(value: &Value<'_>, path: Path, reader: &mut Reader) -> Option<Metadata> {
    let part = reader.mapping_at(value, path)?;
    let mut more = fields::take(&part, Purpose::Declare, reader);
    let mut text = |key: &str| more.remove(key).and_then(|value| value.as_str().map(str::to_owned));
    let (name, slug) = (text("name"), text("slug"));
    let (description, license) = (text("description"), text("license"));
    let tags = more.remove("tags").map(|value| texts(&value)).unwrap_or_default();
    Some(Metadata { slug: slug?, name: name?, description, license, tags, more })
}
