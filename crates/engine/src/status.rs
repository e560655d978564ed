//! Whether a dataset can be used for something, by its status; and what a new version or schema makes of the status.
//!
//! *Invariant:* every verb that hands out rows asks here. Only status and slug are told, which anybody may know.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use heldset_core::registry::{Level, Status};
use heldset_core::value::{Object, Value};
use heldset_store::documents::{AuditDoc, DatasetDoc, digest_key, prefix};

use crate::commit::Draft;
use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping};
use crate::session::Session;

/// Verbs that hand out rows: what is archived refuses them.
const ROWS: &[&str] = &["query", "sql", "run", "score", "cat", "record", "export", "prepare", "mount", "promote"];
/// Verbs that ask something of a dataset: a draft refuses them, and a deprecated one warns.
const ASKING: &[&str] = &["query", "sql", "run", "score", "prepare"];

/// Where in its life a dataset is. One that says nothing is active as soon as it has a version.
pub fn of(dataset: &DatasetDoc) -> Status {
    let stated = dataset.more.as_deref().map(mapping).and_then(|more| Status::parse(more.get("status")?.as_str()?));
    stated.unwrap_or(if dataset.head > 0 { Status::Active } else { Status::Draft })
}

/// How far a dataset is certified.
pub fn level_of(dataset: &DatasetDoc) -> Level {
    let more = dataset.more.as_deref().map(mapping).unwrap_or_default();
    more.get("certification_level").and_then(Value::as_str).and_then(Level::parse).unwrap_or(Level::None)
}

/// Refuses a verb that a dataset in this status does not serve; a warning where it serves it for the last time.
pub(crate) fn usable(dataset: &DatasetDoc, verb: &str) -> Outcome<Option<Fault>> {
    let (status, slug) = (of(dataset), &dataset.slug);
    match status {
        Status::Archived if ROWS.contains(&verb) => Err(Refusal::usage(
            Code::E075,
            format!("dataset `{slug}` is archived, and `{verb}` needs one that is not"),
            "it is kept for lineage: `heldset show`, `history` and `lineage` still tell of it",
        )),
        Status::Draft if ASKING.contains(&verb) => {
            let missing = if dataset.head == 0 { "it has no version yet" } else { "nobody made it active" };
            let help = format!("import files with `heldset import {slug} FILE`, or add a source and sync it");
            let message = format!("dataset `{slug}` is a draft, and `{verb}` needs an active one: {missing}");
            Err(Refusal::usage(Code::E075, message, help))
        }
        Status::Deprecated if ASKING.contains(&verb) => {
            let problem = Problem::new(Code::E075, Path::root(), format!("dataset `{slug}` is deprecated"));
            Ok(Some(
                problem.help("it can still be used, and will be archived: look for what takes its place").of_file(),
            ))
        }
        _ => Ok(None),
    }
}

/// The dataset after a new version or schema: a draft becomes active, and what was certified is not any more.
pub(crate) fn renewed(mut dataset: DatasetDoc) -> DatasetDoc {
    let before = of(&dataset);
    let after = before.renewed();
    if level_of(&dataset) != Level::None {
        set(&mut dataset, "certification_level", None);
    }
    if after != before {
        set(&mut dataset, "status", Some(Value::from(after.name())));
    }
    dataset
}

/// What a dataset gets beside versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gained {
    /// A schema.
    Schema,
    /// A source.
    Source,
}

/// The dataset with a schema or source that is about to be written: a draft that then has both becomes active, and a
/// new schema makes what was certified another thing.
pub fn gained(session: &Session, dataset: DatasetDoc, what: Gained) -> Outcome<DatasetDoc> {
    let is_draft = of(&dataset) == Status::Draft;
    let filled = match what {
        _ if !is_draft || dataset.head > 0 => true,
        Gained::Schema => !session.store.catalog().scan("feed", &prefix(&[&dataset.id]))?.is_empty(),
        Gained::Source => crate::schema::newest(session, &dataset.id)?.is_some(),
    };
    let changes = filled && (is_draft || what == Gained::Schema);
    Ok(if changes { renewed(dataset) } else { dataset })
}

/// The dataset with the policy tags of what its new version comes from: what must be guarded there must be here.
pub(crate) fn inheriting(session: &Session, mut dataset: DatasetDoc, draft: &Draft) -> Outcome<DatasetDoc> {
    let parents = parents_of(session, draft)?;
    let mut tags = policy_tags(&dataset);
    let before = tags.len();
    for tag in parents.iter().flat_map(policy_tags) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > before {
        set(&mut dataset, "policy_tags", Some(Value::Array(tags.into_iter().map(Value::from).collect())));
    }
    Ok(dataset)
}

/// The datasets that a version comes from, by its edges and by the digests of its parents.
fn parents_of(session: &Session, draft: &Draft) -> Outcome<Vec<DatasetDoc>> {
    let store = &session.store;
    let named = |slug: &str| draft.edges.iter().any(|(_, node)| node.kind == "dataset" && node.name == slug);
    let mut parents = Vec::new();
    if draft.edges.is_empty() && draft.parents.is_empty() {
        return Ok(parents);
    }
    for dataset in resolve::datasets(store)?.into_iter().filter(|dataset| dataset.slug != draft.dataset.slug) {
        let mut is_parent = named(&dataset.slug);
        for parent in &draft.parents {
            is_parent = is_parent || store.catalog().get(&digest_key(&dataset.id, &parent.hex()))?.is_some();
        }
        parents.extend(is_parent.then_some(dataset));
    }
    Ok(parents)
}

/// The policy tags of a dataset.
pub(crate) fn policy_tags(dataset: &DatasetDoc) -> Vec<String> {
    let more = dataset.more.as_deref().map(mapping).unwrap_or_default();
    let tags = more.get("policy_tags").and_then(Value::as_array).unwrap_or_default();
    tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Refuses to export what has policy tags to everybody but those who run the store: they answer for it.
pub(crate) fn exportable(session: &Session, cite: &str) -> Outcome<()> {
    if session.viewer.manages() {
        return Ok(());
    }
    let dataset = resolve::dataset(&session.store, &resolve::parse(cite)?.slug)?;
    let tags = policy_tags(&dataset);
    if tags.is_empty() {
        return Ok(());
    }
    let note = format!("it has the policy tags {}", tags.join(", "));
    let entry = AuditDoc { allowed: false, ..log::upkeep_entry(session, "export", &dataset.slug, note) };
    log::append(session, &entry, true)?;
    let (slug, who) = (&dataset.slug, session.viewer.name());
    let tags: Vec<String> = tags.iter().map(|tag| format!("`{tag}`")).collect();
    Err(Refusal::denied(
        Code::E120,
        format!("dataset `{slug}` has the policy tags {}, and the audience `{who}` may not export it", tags.join(", ")),
        "run it as the owner, without `--as`, or `--as operator`",
    ))
}

/// Refuses a new version of a dataset that is archived, or that must lie elsewhere.
pub(crate) fn writable(session: &Session, dataset: &DatasetDoc) -> Outcome<()> {
    if of(dataset) == Status::Archived {
        let message = format!("dataset `{}` is archived, and nothing is added to it", dataset.slug);
        return Err(Refusal::usage(Code::E075, message, "import it under another slug"));
    }
    let more = dataset.more.as_deref().map(mapping).unwrap_or_default();
    match more.get("data_residency").and_then(Value::as_str) {
        Some(residency) => crate::store_rules::check_region(&session.store, residency),
        None => Ok(()),
    }
}

/// Sets a member of what else is declared of a dataset, or takes it away.
pub(crate) fn set(dataset: &mut DatasetDoc, name: &'static str, value: Option<Value<'static>>) {
    let mut more = dataset.more.as_deref().map(mapping).unwrap_or_default();
    match value {
        Some(value) => more.set(name, value),
        None => drop(more.remove(name)),
    }
    dataset.more = (!more.is_empty()).then(|| text_of(more));
}

/// A mapping as documents keep it.
pub(crate) fn text_of(object: Object<'static>) -> String {
    String::from_utf8(canonical::bytes(&Value::Object(object))).expect("canonical bytes are UTF-8")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::results::made_up::session;
    use heldset_core::visibility::Viewer;
    use heldset_store::catalog::Batch;
    use heldset_store::documents::Document;
    use heldset_store::registry::{SchemaDoc, feed_key, schema_key};

    fn made(session: &Session, head: u64, status: Option<&'static str>) -> DatasetDoc {
        let fields = heldset_core::json::read(r#"{"name":"Some set","slug":"some-set"}"#).unwrap();
        let made = crate::dataset::create(session, &fields).unwrap().unwrap();
        let mut dataset = DatasetDoc { head, ..made.dataset };
        set(&mut dataset, "status", status.map(Value::from));
        set(&mut dataset, "certification_level", Some(Value::from("silver")));
        dataset
    }

    fn schema() -> SchemaDoc {
        SchemaDoc {
            number: 1,
            schema: "{}".to_owned(),
            change_type: "non_breaking".to_owned(),
            change_summary: None,
            created_at: "2026-05-01T12:00:00Z".to_owned(),
            created_by: "me".to_owned(),
        }
    }

    #[test]
    fn a_draft_needs_a_schema_and_a_source_to_become_active() {
        for (known, gained_now, expected) in [
            (None, Gained::Schema, Status::Draft),
            (None, Gained::Source, Status::Draft),
            (Some(Gained::Source), Gained::Schema, Status::Active),
            (Some(Gained::Schema), Gained::Source, Status::Active),
            (Some(Gained::Schema), Gained::Schema, Status::Draft),
        ] {
            let session = session(Viewer::Owner);
            let dataset = made(&session, 0, None);
            let mut batch = Batch::default();
            match known {
                Some(Gained::Source) => batch.put(feed_key(&dataset.id, "one"), b"a source".to_vec()),
                Some(Gained::Schema) => batch.put(schema_key(&dataset.id, 1), schema().to_bytes().unwrap()),
                None => {}
            }
            session.store.commit(&batch).unwrap();
            assert_eq!(of(&gained(&session, dataset, gained_now).unwrap()), expected, "{known:?} {gained_now:?}");
        }
    }

    #[test]
    fn what_is_renewed_is_not_certified_any_more() {
        for (status, head, expected) in [
            (None, 1, Status::Active),
            (Some("published"), 1, Status::Active),
            (Some("deprecated"), 1, Status::Deprecated),
            (Some("draft"), 1, Status::Active),
        ] {
            let session = session(Viewer::Owner);
            let dataset = made(&session, head, status);
            let renewed = gained(&session, dataset, Gained::Schema).unwrap();
            assert_eq!((of(&renewed), level_of(&renewed)), (expected, Level::None), "{status:?}");
        }
        let session = session(Viewer::Owner);
        let dataset = made(&session, 1, Some("published"));
        assert_eq!(gained(&session, dataset.clone(), Gained::Source).unwrap(), dataset);
    }
}
