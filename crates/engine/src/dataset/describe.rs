//! A dataset as it is described: what is stated of it, what is computed, and the tag that tells two states apart.
//!
//! *Invariant:* what is counted is what the caller may see. The tag is over what is stated, so it tells nothing of what
//! is sealed.

use heldset_core::code::Code;
use heldset_core::digest::tagged_value;
use heldset_core::fault::{Fault, Problem};
use heldset_core::number::Number;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};
use heldset_store::documents::{DatasetDoc, version_key};

use crate::refusal::Outcome;
use crate::resolve::{Resolved, mapping, policy_of};
use crate::rows::SplitRows;
use crate::session::Session;
use crate::status;
use crate::view::{VisibleSplit, visible_splits};

/// Characters of a tag: enough that no two states share one.
const ETAG: usize = 32;

/// A dataset as it is described.
pub struct Described {
    /// The dataset.
    pub dataset: DatasetDoc,
    /// All of its fields, in the order they are shown.
    pub fields: Object<'static>,
    /// Where what is stated and what is computed differ.
    pub warnings: Vec<Fault>,
}

/// Describes a dataset.
pub fn describe(session: &Session, dataset: &DatasetDoc) -> Outcome<Described> {
    let mut fields = stated(dataset);
    let declared = ["quality_score", "record_count", "size_bytes"];
    let declared: Object<'static> = declared
        .into_iter()
        .filter_map(|name| Some((name.into(), fields.get(name).filter(|value| !value.is_null())?.clone())))
        .collect();
    let computed = computed(session, dataset)?;
    let mut warnings = Vec::new();
    for (name, value) in computed.iter() {
        match declared.get(name) {
            None => fields.set(name.to_owned(), value.clone()),
            Some(said) if said != value => warnings.push(differ(dataset, name, said, value)),
            Some(_) => {}
        }
    }
    fields.set("declared", Value::Object(declared));
    fields.set("computed", Value::Object(computed));
    fields.set("version", count_or_null(dataset.head));
    fields.set("created_at", Value::from(dataset.created_at.clone()));
    fields.set("etag", Value::from(etag(dataset)));
    Ok(Described { dataset: dataset.clone(), fields, warnings })
}

/// Every field as it is stated, `null` where nothing is.
pub(crate) fn stated(dataset: &DatasetDoc) -> Object<'static> {
    let mut more = dataset.more.as_deref().map(mapping).unwrap_or_default();
    let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    let mut fields = Object::new();
    for name in ["id", "slug"].into_iter().chain(heldset_core::registry::NAMES) {
        let value = match name {
            "id" => Value::from(dataset.id.clone()),
            "slug" => Value::from(dataset.slug.clone()),
            "name" => Value::from(dataset.name.clone()),
            "description" => text(&dataset.description),
            "license" => text(&dataset.license),
            "tags" => Value::Array(dataset.tags.iter().cloned().map(Value::from).collect()),
            "categories" | "policy_tags" => more.remove(name).unwrap_or_else(|| Value::Array(Vec::new())),
            "status" => Value::from(status::of(dataset).name()),
            "certification_level" => Value::from(status::level_of(dataset).name()),
            "deletion_status" => Value::from(dataset.deletion_status.clone()),
            "retention" => dataset.retention.as_deref().map_or(Value::Null, |text| mapping(text).into()),
            _ => more.remove(name).unwrap_or(Value::Null),
        };
        fields.set(name, value);
    }
    fields
}

/// The tag of a dataset as it is now: over what is stated, and which version is the newest.
pub(crate) fn etag(dataset: &DatasetDoc) -> String {
    let mut all = stated(dataset);
    all.set("version", count_or_null(dataset.head));
    tagged_value("dataset", &Value::Object(all)).hex()[..ETAG].to_owned()
}

/// How many records of the newest version can be seen, and how many bytes they have at rest.
fn computed(session: &Session, dataset: &DatasetDoc) -> Outcome<Object<'static>> {
    let mut computed = Object::new();
    let head = session.store.document(&version_key(&dataset.id, dataset.head))?;
    let Some(version) = head.filter(|_| dataset.head > 0) else { return Ok(computed) };
    let policy = policy_of(&version)?;
    let resolved = Resolved { dataset: dataset.clone(), version, policy };
    let (mut rows, mut bytes) = (0, Some(0));
    for split in visible_splits(session, &resolved)? {
        rows += split.doc.rows;
        bytes = bytes.zip(bytes_of(session, dataset, &split)).map(|(all, some)| all + some);
    }
    computed.set("record_count", Value::Number(Number::from_u64(rows)));
    if let Some(bytes) = bytes {
        computed.set("size_bytes", Value::Number(Number::from_u64(bytes)));
    }
    Ok(computed)
}

/// The bytes that a split has at rest; nothing if that cannot be told, which `verify` explains.
fn bytes_of(session: &Session, dataset: &DatasetDoc, split: &VisibleSplit) -> Option<u64> {
    if split.doc.files {
        let files = crate::files::load(&session.store, &dataset.id, &split.doc).ok()?;
        return Some(files.files.iter().map(|file| file.size).sum());
    }
    let labels = || split.labels.labels().iter().chain([split.labels.own()]);
    let visible = |label: &str| labels().any(|one| one.name() == label && session.viewer.sees(one));
    Some(SplitRows::load(&session.store, &dataset.id, &split.doc).ok()?.stored_bytes(visible))
}

fn differ(dataset: &DatasetDoc, name: &str, said: &Value<'_>, found: &Value<'_>) -> Fault {
    let shown = |value: &Value<'_>| String::from_utf8_lossy(&heldset_core::canonical::bytes(value)).into_owned();
    let message =
        format!("`{name}` of `{}` is declared as {}, and {} is computed", dataset.slug, shown(said), shown(found));
    let help = format!("take it away with `heldset dataset update {} --set {name}=null`", dataset.slug);
    Problem::new(Code::H007, Path::root().then_key(name), message).help(help).of_file()
}

fn count_or_null(head: u64) -> Value<'static> {
    if head == 0 { Value::Null } else { Value::Number(Number::from_u64(head)) }
}
