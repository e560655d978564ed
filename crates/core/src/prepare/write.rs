//! A preparation as a value: what is recorded of it, with what was left unsaid filled in.
//!
//! *Invariant:* what is written reads back to the same preparation.

use super::{Cleaning, Lookup, Preparation, Redaction, SIMILAR, SplitPlan};
use crate::number::Number;
use crate::value::{Object, Value};

impl Preparation {
    /// The preparation as a value that reads back to the same one.
    pub fn to_value(&self) -> Value<'static> {
        let mut object = Object::new();
        if let Some(format) = self.target_format {
            object.set("target_format", Value::from(format.name()));
        }
        if self.cleaning != Cleaning::default() {
            object.set("cleaning_config", cleaning(&self.cleaning));
        }
        if !self.lookups.is_empty() {
            object.set("lookup", Value::Array(self.lookups.iter().map(lookup).collect()));
        }
        if let Some(filter) = &self.filters {
            object.set("filters", filter.to_value());
        }
        if let Some(plan) = &self.split {
            object.set("split", split(plan));
        }
        if let Some(split) = &self.from_split {
            object.set("from_split", Value::from(split.clone()));
        }
        let mut leaks = Object::new();
        if !self.leaks.fields.is_empty() {
            leaks.set("fields", texts(&self.leaks.fields));
        }
        if self.leaks.similarity.to_bits() != SIMILAR.to_bits() {
            leaks.set("similarity", number(self.leaks.similarity));
        }
        if let Some(field) = &self.leaks.group_by {
            leaks.set("group_by", Value::from(field.clone()));
        }
        if !leaks.is_empty() {
            object.set("leaks", Value::Object(leaks));
        }
        Value::Object(object)
    }
}

fn cleaning(cleaning: &Cleaning) -> Value<'static> {
    let mut object = Object::new();
    for (name, flag) in [("remove_nulls", cleaning.remove_nulls), ("trim_whitespace", cleaning.trim_whitespace)] {
        if flag {
            object.set(name, Value::Bool(true));
        }
    }
    for (name, list) in [("deduplicate_by", &cleaning.deduplicate_by), ("drop_fields", &cleaning.drop_fields)] {
        if !list.is_empty() {
            object.set(name, texts(list));
        }
    }
    if !cleaning.rename.is_empty() {
        object.set("rename", pairs(&cleaning.rename));
    }
    if !cleaning.redact.is_empty() {
        object.set("redact", Value::Array(cleaning.redact.iter().map(redaction).collect()));
    }
    Value::Object(object)
}

fn redaction(rule: &Redaction) -> Value<'static> {
    let mut object = Object::new();
    for (name, text) in [("field", &rule.field), ("pattern", &rule.pattern)] {
        if let Some(text) = text {
            object.set(name, Value::from(text.clone()));
        }
    }
    object.set("replacement", Value::from(rule.replacement.clone()));
    Value::Object(object)
}

fn lookup(lookup: &Lookup) -> Value<'static> {
    let mut object = Object::new();
    object.set("dataset", Value::from(lookup.dataset.clone()));
    if let Some(split) = &lookup.split {
        object.set("split", Value::from(split.clone()));
    }
    object.set("on", pairs(std::slice::from_ref(&lookup.on)));
    object.set("fields", pairs(&lookup.fields));
    Value::Object(object)
}

fn split(plan: &SplitPlan) -> Value<'static> {
    let mut object = Object::new();
    for (name, share) in &plan.shares {
        object.set(name.clone(), number(*share));
    }
    object.set("seed", Value::from(plan.seed.clone()));
    for (name, field) in [("stratify_by", &plan.stratify_by), ("group_by", &plan.group_by)] {
        if let Some(field) = field {
            object.set(name, Value::from(field.clone()));
        }
    }
    Value::Object(object)
}

fn texts(list: &[String]) -> Value<'static> {
    Value::Array(list.iter().cloned().map(Value::from).collect())
}

fn pairs(list: &[(String, String)]) -> Value<'static> {
    let mut object = Object::new();
    for (left, right) in list {
        object.set(left.clone(), Value::from(right.clone()));
    }
    Value::Object(object)
}

fn number(number: f64) -> Value<'static> {
    Value::Number(Number::from_f64(number).unwrap_or_else(|_| Number::from_i64(0)))
}
