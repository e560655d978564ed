//! The specification of a declared dataset: where it comes from, how it was made, what is in it.

use std::collections::BTreeMap;

use super::part::{Kind, Part, Reader, TEXT, texts};
use super::{Declaration, Generation, Parent, Source, Stream, splits};
use crate::digest::Digest;
use crate::manifest::Mode;
use crate::mapping::{in_the_clear, secret_in_address};
use crate::path::Path;
use crate::registry::fields::RETENTION;
use crate::value::{Object, Value};
use crate::visibility::PolicyDraft;

/// The modes as a declaration names them.
pub(super) const MODES: Kind = Kind::OneOf(&["synced", "mounted", "remote_streamed", "generated", "hidden"]);

const KEYS: &[&str] = &[
    "mode",
    "source",
    "splits",
    "artifacts",
    "checksum",
    "provenance",
    "retention",
    "parents",
    "run",
    "code",
    "agent",
    "seed",
    "policy",
    "filters",
    "redaction",
    "query",
    "query_digest",
    "snapshot_time",
    "replay_manifest",
    "mount",
    "visibility",
];

const AUDIENCES: Kind = Kind::AllOf(&[
    "agent",
    "annotator",
    "dashboard",
    "evaluator",
    "export",
    "grader",
    "infrastructure",
    "log",
    "operator",
    "tool",
    "trainer",
]);

const MOUNT: &[(&str, Kind)] = &[
    ("path", TEXT),
    ("access", Kind::OneOf(&["read_only"])),
    ("cache", Kind::Any),
    ("locality", TEXT),
    ("on_unavailable", Kind::OneOf(&["fail", "use_copy"])),
    ("audiences", AUDIENCES),
];

/// Reads the specification into a declaration that has no metadata yet.
pub(super) fn read(value: &Value<'_>, path: Path, reader: &mut Reader) -> Option<Declaration> {
    let part = reader.part(value, path, KEYS)?;
    let source = source(&part, reader);
    let visibility = visibility(&part, reader);
    let splits = splits::read(&part, visibility.as_ref(), reader);
    if !["source", "splits", "artifacts"].iter().any(|key| part.object.contains(key)) {
        reader.wrong(part.path.clone(), "a dataset has a `source` or `splits`", None);
    }
    let provenance = reader.member(&part, "provenance", Kind::Mapping).and_then(Value::as_object);
    Some(Declaration {
        slug: String::new(),
        name: String::new(),
        description: None,
        license: None,
        tags: Vec::new(),
        metadata: Object::new(),
        mode: mode(&part, reader).unwrap_or(Mode::Synced),
        source,
        splits,
        checksum: checksum(&part, reader),
        provenance: provenance.map(|declared| declared.clone().into_owned()).unwrap_or_default(),
        retention: reader.mapping(&part, "retention", RETENTION),
        parents: parents(&part, reader),
        generation: generation(&part, reader),
        stream: Stream {
            query: reader.text(&part, "query"),
            query_digest: query_digest(&part, reader),
            snapshot_time: reader.text(&part, "snapshot_time"),
            replay_manifest: reader.text(&part, "replay_manifest"),
        },
        mount: reader.mapping(&part, "mount", MOUNT),
        visibility,
    })
}

/// The mode that a part names.
pub(super) fn mode(part: &Part<'_, '_>, reader: &mut Reader) -> Option<Mode> {
    reader.member(part, "mode", MODES).and_then(Value::as_str).and_then(Mode::parse)
}

fn source(part: &Part<'_, '_>, reader: &mut Reader) -> Option<Source> {
    let value = part.object.get("source")?;
    if let Some(uri) = value.as_str().filter(|uri| !uri.is_empty()) {
        hides(uri, part.at("source"), reader);
        return Some(Source { uri: uri.to_owned(), revision: None });
    }
    let inner = reader.part(value, part.at("source"), &["uri", "revision"])?;
    let uri = reader.required(&inner, "uri", TEXT).and_then(Value::as_str).map(str::to_owned);
    let revision = reader.text(&inner, "revision");
    if let Some(uri) = &uri {
        hides(uri, inner.at("uri"), reader);
    }
    Some(Source { uri: uri?, revision })
}

/// An address is kept in the clear, and shown: it holds no secret.
fn hides(uri: &str, at: Path, reader: &mut Reader) {
    if secret_in_address(uri) {
        let message = format!("`{at}` holds a secret in the clear");
        reader.note(in_the_clear(at, message));
    }
}

fn checksum(part: &Part<'_, '_>, reader: &mut Reader) -> BTreeMap<String, Digest> {
    let files = reader.member(part, "checksum", Kind::Mapping).and_then(Value::as_object);
    let mut digests = BTreeMap::new();
    for (file, value) in files.into_iter().flat_map(Object::iter) {
        match value.as_str().and_then(|text| text.parse().ok()) {
            Some(digest) => drop(digests.insert(file.to_owned(), digest)),
            None => {
                let message = format!("the checksum of `{file}` is not `sha256:` and 64 lowercase hexadecimal digits");
                reader.wrong(part.at("checksum").then_key(file), message, None);
            }
        }
    }
    digests
}

fn query_digest(part: &Part<'_, '_>, reader: &mut Reader) -> Option<Digest> {
    let text = reader.text(part, "query_digest")?;
    let digest: Option<Digest> = text.parse().ok();
    if digest.is_none() {
        let message = "`query_digest` is not `sha256:` and 64 lowercase hexadecimal digits";
        reader.wrong(part.at("query_digest"), message, None);
    }
    digest
}

fn parents(part: &Part<'_, '_>, reader: &mut Reader) -> Vec<Parent> {
    let mut parents = Vec::new();
    let cited = reader.member(part, "parents", Kind::Texts).map(texts).unwrap_or_default();
    for (index, text) in cited.iter().enumerate() {
        let path = part.at("parents").then_index(index);
        match Parent::parse(text) {
            Some(Ok(parent)) => parents.push(parent),
            Some(Err(error)) => reader.wrong(path, error.to_string(), None),
            None => {
                let help = "write `dataset:SLUG@VERSION` or `run:NAME`".to_owned();
                reader.wrong(path, format!("`{text}` is neither a dataset nor a run"), Some(help));
            }
        }
    }
    parents
}

fn generation(part: &Part<'_, '_>, reader: &mut Reader) -> Generation {
    Generation {
        run: reader.text(part, "run"),
        code: reader.text(part, "code"),
        agent: reader.text(part, "agent"),
        seed: reader.any(part, "seed"),
        policy: reader.any(part, "policy"),
        filters: reader.any(part, "filters"),
        redaction: reader.any(part, "redaction"),
    }
}

fn visibility(part: &Part<'_, '_>, reader: &mut Reader) -> Option<PolicyDraft> {
    let draft = PolicyDraft::from_value(part.object.get("visibility")?);
    draft.map_err(|error| reader.wrong(part.at("visibility"), error.to_string(), None)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visibility::Audience;

    #[test]
    fn the_names_are_those_of_the_types() {
        let names: Vec<_> = Mode::ALL.iter().map(|mode| mode.name()).collect();
        assert!(matches!(MODES, Kind::OneOf(known) if known == names));
        let names: Vec<_> = Audience::ALL.iter().map(|audience| audience.name()).collect();
        assert!(matches!(AUDIENCES, Kind::AllOf(known) if known == names));
    }
}
