//! What is done to each record, and how often.
//!
//! *Invariant:* ids are never touched, and cleaning what is clean changes nothing (redactions with a replacement that
//! their own pattern finds excepted).

use super::{Cleaning, Redaction};
use crate::canonical;
use crate::filter::{Names, find};
use crate::value::{Object, Value};

/// A pattern, compiled by those who know regular expressions.
pub trait Replace {
    /// The text with `replacement` in place of what the pattern finds; nothing if it finds nothing.
    fn replace(&self, text: &str, replacement: &str) -> Option<String>;
}

/// How often each thing was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Members that were null and are gone.
    pub nulls_removed: u64,
    /// Texts with white space at an end.
    pub values_trimmed: u64,
    /// Values with something redacted.
    pub values_redacted: u64,
    /// Fields that were left out.
    pub fields_dropped: u64,
    /// Fields with another name.
    pub fields_renamed: u64,
}

/// Cleans records.
pub struct Cleaner<'c> {
    cleaning: &'c Cleaning,
    /// For each redaction its pattern, if it has one.
    patterns: Vec<Option<Box<dyn Replace + 'c>>>,
}

impl<'c> Cleaner<'c> {
    /// A cleaner; `compile` makes a pattern of a text, or says what is wrong with it.
    pub fn new<E>(
        cleaning: &'c Cleaning,
        mut compile: impl FnMut(&str) -> Result<Box<dyn Replace + 'c>, E>,
    ) -> Result<Self, E> {
        let pattern = |rule: &Redaction| rule.pattern.as_deref().map(&mut compile).transpose();
        let patterns = cleaning.redact.iter().map(pattern).collect::<Result<_, E>>()?;
        Ok(Cleaner { cleaning, patterns })
    }

    /// Trims texts. Keys and groups are taken after this and before the rest: what is redacted must not become equal.
    pub fn trim(&self, fields: &mut Object<'static>, counts: &mut Counts) {
        if self.cleaning.trim_whitespace {
            *fields = map_object(std::mem::take(fields), &mut |text| trimmed(text, counts));
        }
    }

    /// Redacts, and takes out nulls. Fields keep their names.
    pub fn tidy(&self, fields: &mut Object<'static>, counts: &mut Counts) {
        for (rule, pattern) in self.cleaning.redact.iter().zip(&self.patterns) {
            counts.values_redacted += redact(fields, rule, pattern.as_deref());
        }
        if self.cleaning.remove_nulls {
            *fields = without_nulls(std::mem::take(fields), counts);
        }
    }

    /// Leaves fields out and gives others their new names, all at once; tells the name that two fields would have.
    pub fn shape(&self, fields: Object<'static>, counts: &mut Counts) -> Result<Object<'static>, String> {
        let mut shaped = Object::with_capacity(fields.len());
        for (name, value) in fields {
            if self.cleaning.drop_fields.iter().any(|dropped| *dropped == name) {
                counts.fields_dropped += 1;
                continue;
            }
            let renamed = self.cleaning.rename.iter().find(|(old, _)| *old == name);
            let name = renamed.map_or_else(|| name.into_owned(), |(_, new)| new.clone());
            counts.fields_renamed += u64::from(renamed.is_some());
            if shaped.insert(name.clone(), value).is_err() {
                return Err(name);
            }
        }
        Ok(shaped)
    }
}

/// The values of some fields as bytes to compare; nothing if all of them are null or missing.
pub fn key_of(id: &str, fields: &Object<'_>, names: &[&str]) -> Option<Vec<u8>> {
    let value = |name: &&str| match *name {
        "id" => Value::from(id.to_owned()),
        name => find(fields, name, Names::Exact).cloned().unwrap_or(Value::Null).into_owned(),
    };
    let values: Vec<Value<'static>> = names.iter().map(value).collect();
    values.iter().any(|value| !value.is_null()).then(|| canonical::bytes(&Value::Array(values)))
}

fn trimmed(text: &str, counts: &mut Counts) -> Option<String> {
    let short = text.trim();
    counts.values_trimmed += u64::from(short.len() < text.len());
    (short.len() < text.len()).then(|| short.to_owned())
}

fn map_object(object: Object<'static>, change: &mut dyn FnMut(&str) -> Option<String>) -> Object<'static> {
    let mut mapped = Object::with_capacity(object.len());
    for (key, value) in object {
        mapped.push_unique(key, map_texts(value, change));
    }
    mapped
}

/// The value with each text in it changed where `change` says so.
fn map_texts(value: Value<'static>, change: &mut dyn FnMut(&str) -> Option<String>) -> Value<'static> {
    match value {
        Value::String(text) => change(&text).map_or(Value::String(text), Value::from),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| map_texts(item, change)).collect()),
        Value::Object(object) => Value::Object(map_object(object, change)),
        other => other,
    }
}

fn without_nulls(object: Object<'static>, counts: &mut Counts) -> Object<'static> {
    let mut kept = Object::with_capacity(object.len());
    for (key, value) in object {
        match value {
            Value::Null => counts.nulls_removed += 1,
            other => kept.push_unique(key, without_nulls_inside(other, counts)),
        }
    }
    kept
}

/// Elements of lists stay even if they are null: their places mean something.
fn without_nulls_inside(value: Value<'static>, counts: &mut Counts) -> Value<'static> {
    match value {
        Value::Object(object) => Value::Object(without_nulls(object, counts)),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| without_nulls_inside(item, counts)).collect()),
        other => other,
    }
}

/// Redacts by one rule; says in how many values.
fn redact(fields: &mut Object<'static>, rule: &Redaction, pattern: Option<&dyn Replace>) -> u64 {
    let mut count = 0;
    let mut change = |text: &str| {
        let changed = match pattern {
            Some(pattern) => pattern.replace(text, &rule.replacement),
            None => Some(rule.replacement.clone()),
        };
        let changed = changed.filter(|changed| changed != text);
        count += u64::from(changed.is_some());
        changed
    };
    let Some(field) = &rule.field else {
        *fields = map_object(std::mem::take(fields), &mut change);
        return count;
    };
    let Some(place) = place_of(fields, field) else { return 0 };
    *place = match (std::mem::replace(place, Value::Null), pattern) {
        (Value::Null, _) => Value::Null,
        // Without a pattern all of it goes, whatever it is.
        (Value::String(text), _) => map_texts(Value::String(text), &mut change),
        (_, None) => {
            count += 1;
            Value::from(rule.replacement.clone())
        }
        (value, Some(_)) => map_texts(value, &mut change),
    };
    count
}

/// The place that a dotted path names; a key that itself has the dots comes first.
fn place_of<'v>(fields: &'v mut Object<'static>, path: &str) -> Option<&'v mut Value<'static>> {
    if fields.contains(path) {
        return fields.get_mut(path);
    }
    let (first, rest) = path.split_once('.')?;
    rest.split('.').try_fold(fields.get_mut(first)?, |value, step| match value {
        Value::Object(object) => object.get_mut(step),
        Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
        _ => None,
    })
}
