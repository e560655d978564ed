//! Lookups: more fields for a record, from the records of another dataset as the caller sees it.
//!
//! *Invariant:* a key never stands for two different answers; what nothing is found for stays as it is.

use std::collections::{BTreeSet, HashMap};

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::filter::{Names, find};
use heldset_core::prepare::{Lookup, Preparation};
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Place;

use super::unknown_field;
use crate::refusal::{Outcome, Refusal};
use crate::session::Session;
use crate::view::{Look, View, cited};

/// A dataset that is looked up in.
pub(super) struct Opened<'o> {
    pub(super) asked: &'o Lookup,
    pub(super) view: View<'o>,
    /// By key: the id, and the fields by the names that they get.
    found: HashMap<Vec<u8>, Answer>,
}

struct Answer {
    id: String,
    fields: Vec<(String, Value<'static>)>,
    /// Another record with the same key and other fields.
    rival: Option<String>,
}

/// Opens the datasets that are looked up in.
pub(super) fn open<'o>(
    session: &'o Session,
    preparation: &'o Preparation,
    place: Option<Place>,
) -> Outcome<Vec<Opened<'o>>> {
    preparation.lookups.iter().map(|asked| Opened::new(session, asked, place)).collect()
}

impl<'o> Opened<'o> {
    fn new(session: &'o Session, asked: &'o Lookup, place: Option<Place>) -> Outcome<Self> {
        let look = Look { cite: &asked.dataset, split: asked.split.as_deref(), place, purpose: "prepare" };
        let view = View::open(session, &look)?;
        let mut opened = Opened { asked, view, found: HashMap::new() };
        let (mut names, mut any) = (BTreeSet::new(), false);
        let mut found = HashMap::new();
        for split in opened.view.splits.iter().filter(|split| !split.doc.files) {
            opened.view.each_batch(split, |batch| {
                for row in 0..batch.len() {
                    any = true;
                    let record = batch.record(row)?;
                    for (name, _) in record.fields.iter() {
                        if !names.contains(name) {
                            names.insert(name.to_owned());
                        }
                    }
                    opened.add(&mut found, &record);
                }
                Ok(())
            })?;
        }
        opened.found = found;
        let wanted = asked.fields.iter().map(|(there, _)| ("lookup.fields", there));
        for (place, field) in wanted.chain([("lookup.on", &asked.on.1)]) {
            let is_known = |name: &str| name == "id" || names.contains(name);
            if any && !is_known(field) && !is_known(super::first(field)) {
                let data = cited(&opened.view.resolved);
                return Err(unknown_field(&data, place, field, names.iter().map(String::as_str)));
            }
        }
        Ok(opened)
    }

    fn add(&self, found: &mut HashMap<Vec<u8>, Answer>, record: &Record<'_>) {
        let id = record.id.as_str();
        let Some(key) = key(id, &record.fields, &self.asked.on.1) else { return };
        let value = |(there, here): &(String, String)| {
            let value = match there.as_str() {
                "id" => Some(Value::from(id.to_owned())),
                there => find(&record.fields, there, Names::Exact).cloned().map(Value::into_owned),
            };
            value.map(|value| (here.clone(), value))
        };
        let fields: Vec<(String, Value<'static>)> = self.asked.fields.iter().filter_map(value).collect();
        match found.get_mut(&key) {
            None => drop(found.insert(key, Answer { id: id.to_owned(), fields, rival: None })),
            Some(answer) if answer.fields != fields => answer.rival = answer.rival.take().or(Some(id.to_owned())),
            Some(_) => {}
        }
    }

    /// Adds what is found for a record; says whether something was.
    pub(super) fn complete(&self, id: &str, fields: &mut Object<'static>) -> Outcome<bool> {
        let Some(answer) = key(id, fields, &self.asked.on.0).and_then(|key| self.found.get(&key)) else {
            return Ok(false);
        };
        if let Some(rival) = &answer.rival {
            let data = cited(&self.view.resolved);
            let message = format!(
                "record `{id}` finds two records of {data} by `{}`: `{}` and `{rival}`",
                self.asked.on.1, answer.id
            );
            let help = "look up by a field whose values are unique there, or name one `split` of it";
            return Err(Refusal::invalid(Code::E069, message, help));
        }
        for (here, value) in &answer.fields {
            fields.set(here.clone(), value.clone());
        }
        Ok(true)
    }
}

/// The bytes of a key. Ids are text, so an integer stands for its digits.
fn key(id: &str, fields: &Object<'_>, field: &str) -> Option<Vec<u8>> {
    let value = match field {
        "id" => Value::from(id.to_owned()),
        field => find(fields, field, Names::Exact)?.clone(),
    };
    match value {
        Value::Null => None,
        Value::Number(number) if number.is_integer() => Some(canonical::bytes(&Value::from(number.to_string()))),
        value => Some(canonical::bytes(&value)),
    }
}
