//! The metadata of a declared dataset.

use super::part::{Kind, Reader, TEXT};
use crate::cite::slug_problem;
use crate::path::Path;
use crate::record::name_problem;
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

const TYPED: &[&str] = &["name", "slug", "description", "license", "tags"];

const MORE: &[(&str, Kind)] = &[
    ("connector_id", TEXT),
    ("external_id", Kind::Text(500)),
    ("owner_id", TEXT),
    ("team", Kind::Text(200)),
    ("data_residency", Kind::Text(50)),
    ("status", Kind::OneOf(&["draft", "active", "published", "deprecated", "archived"])),
    ("certification_level", Kind::OneOf(&["none", "bronze", "silver", "gold"])),
    ("categories", Kind::Texts),
    ("policy_tags", Kind::Texts),
    ("legal_basis", TEXT),
    ("consent", Kind::Any),
    ("deletion_status", Kind::OneOf(&["none", "requested", "partial", "erased"])),
    ("quality_score", Kind::Number),
    ("record_count", Kind::Count),
    ("size_bytes", Kind::Count),
];

pub(super) fn read(value: &Value<'_>, path: Path, reader: &mut Reader) -> Option<Metadata> {
    let known: Vec<_> = TYPED.iter().copied().chain(MORE.iter().map(|(key, _)| *key)).collect();
    let part = reader.part(value, path, &known)?;
    let mut named = |key, problem: fn(&str) -> Option<&'static str>| {
        let text = reader.required(&part, key, TEXT).and_then(Value::as_str)?;
        if let Some(why) = problem(text) {
            reader.wrong(part.at(key), format!("{key} `{text}` {why}"), None);
        }
        Some(text.to_owned())
    };
    let (name, slug) = (named("name", dataset_name_problem), named("slug", slug_problem));
    let (description, license) = (reader.text(&part, "description"), reader.text(&part, "license"));
    let tags = reader.texts(&part, "tags");
    for (key, kind) in MORE {
        reader.member(&part, key, *kind);
    }
    let more = part.object.iter().filter(|(key, _)| MORE.iter().any(|(known, _)| known == key));
    let more = more.map(|(key, value)| (key.to_owned().into(), value.clone().into_owned())).collect();
    Some(Metadata { slug: slug?, name: name?, description, license, tags, more })
}

fn dataset_name_problem(name: &str) -> Option<&'static str> {
    match name.chars().count() {
        ..3 => Some("is shorter than 3 characters"),
        201.. => Some("is longer than 200 characters"),
        _ => name_problem(name),
    }
}
