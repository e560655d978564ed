//! What a dataset hands down to those that are made of it: license, retention, policy tags, consent, residency.
//!
//! *Invariant:* of several parents the stricter holds; a tag is never lost on the way.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::value::{Object, Value};
use heldset_store::catalog::Batch;
use heldset_store::documents::{DatasetDoc, Document, dataset_key};

use super::lookup::Opened;
use crate::import::{About, Target};
use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping};
use crate::session::Session;

/// Declared members that are handed down.
const HANDED_DOWN: [&str; 3] = ["legal_basis", "consent", "data_residency"];

/// What is handed down.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Inherited {
    name: String,
    license: Option<String>,
    retention: Option<String>,
    more: Object<'static>,
}

/// What a dataset and those that are looked up in hand down.
pub(super) fn metadata(main: &DatasetDoc, lookups: &[Opened<'_>]) -> Outcome<Inherited> {
    let mut inherited = Inherited { name: format!("{} (prepared)", main.name), ..Inherited::default() };
    inherited.add(main)?;
    for lookup in lookups {
        inherited.add(&lookup.view.resolved.dataset)?;
    }
    Ok(inherited)
}

impl Inherited {
    fn add(&mut self, parent: &DatasetDoc) -> Outcome<()> {
        self.license = match (self.license.take(), &parent.license) {
            (Some(one), Some(other)) if !one.split(" AND ").any(|part| part == other) => {
                Some(format!("{one} AND {other}"))
            }
            (one, other) => one.or_else(|| other.clone()),
        };
        self.retention = match (self.retention.take(), &parent.retention) {
            (Some(one), Some(other)) => Some(stricter(&mapping(&one), &mapping(other))),
            (one, other) => one.or_else(|| other.clone()),
        };
        let more = parent.more.as_deref().map(mapping).unwrap_or_default();
        let mut tags: Vec<Value<'static>> =
            self.more.get("policy_tags").and_then(Value::as_array).unwrap_or_default().to_vec();
        for tag in more.get("policy_tags").and_then(Value::as_array).unwrap_or_default() {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        if !tags.is_empty() {
            self.more.set("policy_tags", Value::Array(tags));
        }
        for name in HANDED_DOWN {
            match (self.more.get(name), more.get(name).filter(|value| !value.is_null())) {
                (Some(one), Some(other)) if one != other && name == "data_residency" => {
                    let message =
                        format!("dataset `{}` must stay in another region than what it is looked up for", parent.slug);
                    return Err(Refusal::denied(Code::E049, message, "prepare them apart, each in its own region"));
                }
                (Some(one), Some(other)) if one != other => {
                    let both = Value::Array([listed(one), listed(other)].concat());
                    self.more.set(name, both);
                }
                (None, Some(other)) => self.more.set(name, other.clone()),
                _ => {}
            }
        }
        Ok(())
    }

    /// The dataset with what is handed down; what it says itself stays, and tags are added.
    fn over(&self, dataset: &DatasetDoc) -> DatasetDoc {
        let mut dataset = dataset.clone();
        dataset.license = dataset.license.or_else(|| self.license.clone());
        dataset.retention = dataset.retention.or_else(|| self.retention.clone());
        let mut more = dataset.more.as_deref().map(mapping).unwrap_or_default();
        let before = more.clone();
        for (name, value) in self.more.iter() {
            match (name, more.get(name).and_then(Value::as_array)) {
                ("policy_tags", Some(known)) => {
                    let mut tags = known.to_vec();
                    tags.extend(listed(value).into_iter().filter(|tag| !known.contains(tag)));
                    more.set("policy_tags", Value::Array(tags));
                }
                (_, None) if !more.contains(name) => more.set(name.to_owned(), value.clone()),
                _ => {}
            }
        }
        if more != before {
            dataset.more = Some(text_of(more));
        }
        dataset
    }
}

/// The dataset that is made, or gets a new version.
pub(super) fn target(session: &Session, slug: &str, inherited: &Inherited) -> Outcome<Target> {
    let name: String = inherited.name.chars().take(200).collect();
    let mut target = Target::find(session, slug, &About { name: Some(name), ..About::default() })?;
    if !target.kept {
        target.dataset = inherited.over(&target.dataset);
    }
    Ok(target)
}

/// Writes what is handed down to a dataset that was there before, if it says something else.
pub(super) fn hand_down(session: &Session, slug: &str, inherited: &Inherited) -> Outcome<()> {
    log::commit(session, || {
        let dataset = resolve::dataset(&session.store, slug)?;
        let described = inherited.over(&dataset);
        let mut batch = Batch { durable: true, ..Batch::default() };
        if described == dataset {
            return Ok(batch);
        }
        batch.expect(dataset_key(slug), Some(dataset.to_bytes()?));
        batch.put(dataset_key(slug), described.to_bytes()?);
        let note = "takes over what the data it is made of hands down".to_owned();
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &log::upkeep_entry(session, "prepare", slug, note), batch)?)
    })
}

/// The earlier end and the shorter time.
fn stricter(one: &Object<'static>, other: &Object<'static>) -> String {
    let mut both = one.clone();
    for (name, value) in other.iter() {
        let earlier = match (both.get(name), value) {
            (None, _) => true,
            (Some(Value::Number(known)), Value::Number(new)) => new.as_f64() < known.as_f64(),
            (Some(Value::String(known)), Value::String(new)) => new < known,
            _ => false,
        };
        if earlier {
            both.set(name.to_owned(), value.clone());
        }
    }
    text_of(both)
}

fn listed(value: &Value<'static>) -> Vec<Value<'static>> {
    value.as_array().map_or_else(|| vec![value.clone()], <[_]>::to_vec)
}

fn text_of(object: Object<'static>) -> String {
    String::from_utf8(canonical::bytes(&Value::Object(object))).expect("canonical bytes are UTF-8")
}
