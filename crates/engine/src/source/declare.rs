//! `source add`, `update`, `ls`, `rm`: which sources a dataset has.
//!
//! *Invariant:* a declaration is checked whole before it is kept; what others see of it has no names of fields.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::mapping::SourceDeclaration;
use heldset_core::record::name_problem;
use heldset_core::value::{Object, Value};
use heldset_store::catalog::Batch;
use heldset_store::documents::{DatasetDoc, Document, dataset_key};
use heldset_store::registry::{FeedDoc, feed_key};

use super::{Reach, Source, named, of_dataset};
use crate::connector::{self, refusal_of, text_of};
use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping};
use crate::session::Session;
use crate::status::{self, Gained};

/// The longest name.
const LONGEST: usize = 200;

/// Adds a source to a dataset.
pub fn add(session: &Session, reach: Reach<'_>, slug: &str, declared: &Value<'static>) -> Outcome<Source> {
    session.must_manage("source")?;
    let (dataset, docs) = of_dataset(session, slug)?;
    let now = session.clock.now();
    let doc = FeedDoc {
        id: session.new_id(),
        display_name: String::new(),
        declared: String::new(),
        created_at: now,
        created_by: session.user.clone(),
        synced_at: None,
        synced_version: None,
        last: None,
    };
    let source = checked(session, reach, (&dataset.id, doc), declared, &docs)?;
    keep(session, &dataset, &source, None, "added")?;
    Ok(source)
}

/// Changes members of a declaration; a null takes one away.
pub fn update(session: &Session, reach: Reach<'_>, slug: &str, name: &str, patch: &Value<'static>) -> Outcome<Source> {
    session.must_manage("source")?;
    let (dataset, docs) = of_dataset(session, slug)?;
    let before = named(&docs, slug, name)?.clone();
    let Value::Object(patch) = patch else {
        let message = format!("a change of a source is a mapping, not {}", patch.type_name());
        return Err(Refusal::usage(Code::E067, message, "name the members that change"));
    };
    let mut declared = mapping(&before.declared);
    for (key, value) in patch.iter() {
        match value {
            Value::Null => drop(declared.remove(key)),
            value => declared.set(key.to_owned(), value.clone()),
        }
    }
    let others: Vec<FeedDoc> = docs.into_iter().filter(|doc| doc.id != before.id).collect();
    let source = checked(session, reach, (&dataset.id, before.clone()), &Value::Object(declared), &others)?;
    let split = mapping(&before.declared).get("split").and_then(Value::as_str).unwrap_or("default").to_owned();
    if before.synced_version.is_some() && split != source.declared.split {
        // What it gave stays in the split it was given to, and would be there twice.
        let message = format!("source `{name}` was synced into split `{split}`, and stays there");
        let help = "remove it with `heldset source rm`, sync, and add it anew with the other split";
        return Err(Refusal::usage(Code::E103, message, help));
    }
    keep(session, &dataset, &source, Some(before), "changed")?;
    Ok(source)
}

/// The sources of a dataset, in the order they were added.
pub fn ls(session: &Session, slug: &str) -> Outcome<Vec<Source>> {
    session.must_manage("source")?;
    let (dataset, docs) = of_dataset(session, slug)?;
    docs.into_iter().map(|doc| Source::of(session, &dataset.id, doc)).collect()
}

/// What the last sync of a source did, if its keys are here.
pub fn last_sync(session: &Session, source: &Source) -> Option<Object<'static>> {
    let text: String = session.store.open_note(&source.dataset, source.doc.last.as_deref()?).ok()?;
    Some(mapping(&text))
}

/// Removes a source; the rows it gave stay in the versions they are in.
pub fn rm(session: &Session, slug: &str, name: &str) -> Outcome<FeedDoc> {
    session.must_manage("source")?;
    let (dataset, docs) = of_dataset(session, slug)?;
    let doc = named(&docs, slug, name)?.clone();
    super::pull::discard(session, &dataset.id, &doc.id)?;
    log::commit(session, || {
        let mut batch = Batch::durable();
        batch.expect(feed_key(&dataset.id, &doc.id), Some(doc.to_bytes()?));
        batch.delete(feed_key(&dataset.id, &doc.id));
        let note = format!("source `{}` is removed", doc.display_name);
        let entry = log::upkeep_entry(session, "source", &dataset.slug, note);
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
    })?;
    Ok(doc)
}

fn checked(
    session: &Session,
    reach: Reach<'_>,
    (dataset, doc): (&str, FeedDoc),
    value: &Value<'static>,
    others: &[FeedDoc],
) -> Outcome<Source> {
    let declared = SourceDeclaration::from_value(value).map_err(|problems| refusal_of(&problems))?;
    crate::import::check_name("split", &declared.split)?;
    let connector = connector::find(session, &declared.connector)?;
    let name = declared.display_name.clone().unwrap_or_else(|| connector.name.clone());
    check_display_name(&name, others)?;
    let mut kept = value.as_object().cloned().unwrap_or_default();
    kept.set("connector_instance_id", Value::from(connector.id.clone()));
    kept.set("display_name", Value::from(name.clone()));
    let text = text_of(&Value::Object(kept.iter().filter(|(_, value)| !value.is_null()).map(owned).collect()));
    let declared = SourceDeclaration { connector: connector.id.clone(), display_name: Some(name.clone()), ..declared };
    let doc = FeedDoc { display_name: name, declared: text, ..doc };
    let source = Source { dataset: dataset.to_owned(), doc, declared, connector };
    // Without the secret: whether somebody may use it is asked when it is used.
    reach.feeds.check(&crate::feeds::FeedRequest {
        kind: source.connector.kind.clone(),
        config: mapping(&source.connector.config),
        operation: source.declared.operation.clone(),
        operation_config: source.declared.operation_config.clone(),
        folder: reach.folder.to_owned(),
        ..Default::default()
    })?;
    Ok(source)
}

fn owned<'v>((key, value): (&str, &Value<'v>)) -> (std::borrow::Cow<'v, str>, Value<'v>) {
    (key.to_owned().into(), value.clone())
}

fn check_display_name(name: &str, others: &[FeedDoc]) -> Outcome<()> {
    let why = match name.chars().count() {
        0 => Some("is empty"),
        count if count > LONGEST => Some("has more than 200 characters"),
        _ => name_problem(name),
    };
    if let Some(why) = why {
        let message = format!("the name `{name}` {why}");
        return Err(Refusal::usage(Code::E067, message, "choose another `display_name`"));
    }
    if others.iter().any(|other| other.display_name == name) {
        let message = format!("the dataset has a source `{name}` already");
        return Err(Refusal::usage(
            Code::E116,
            message,
            "give it another `display_name`, or change it with `source update`",
        ));
    }
    Ok(())
}

fn keep(session: &Session, dataset: &DatasetDoc, source: &Source, before: Option<FeedDoc>, done: &str) -> Outcome<()> {
    let key = feed_key(&dataset.id, &source.doc.id);
    log::commit(session, || {
        let mut batch = Batch::durable();
        batch.expect(key.clone(), before.as_ref().map(Document::to_bytes).transpose()?);
        batch.put(key.clone(), source.doc.to_bytes()?);
        let known = resolve::dataset(&session.store, &dataset.slug)?;
        let gained = status::gained(session, known.clone(), Gained::Source)?;
        if gained != known {
            batch.expect(dataset_key(&known.slug), Some(known.to_bytes()?));
            batch.put(dataset_key(&known.slug), gained.to_bytes()?);
        }
        let note = format!("source `{}` is {done}", source.doc.display_name);
        let entry = log::upkeep_entry(session, "source", &dataset.slug, note);
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
    })
}

/// The digest of what decides how rows are read: with another one, what was spooled is of no use.
pub(super) fn reading_digest(source: &Source) -> String {
    let mut parts: Object<'static> = mapping(&source.doc.declared);
    parts.remove("display_name");
    parts.set("connector", Value::from(source.connector.config.clone()));
    heldset_core::digest::sha256(&canonical::bytes(&Value::Object(parts))).hex()
}
