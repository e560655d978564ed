//! What each operator means, one line each.
//!
//! *Invariant:* `ne` is exactly not `eq`, and `nin` exactly not `in`.

use std::cmp::Ordering;

use super::compare::{order, same};
use super::{Filter, Names, Operator, Test};
use crate::value::{Object, Value};

/// The record that a filter is asked about.
pub(super) struct Subject<'s> {
    pub(super) id: Value<'s>,
    pub(super) fields: &'s Object<'s>,
    pub(super) names: Names,
}

pub(super) fn matches(filter: &Filter, subject: &Subject<'_>) -> bool {
    match filter {
        Filter::And(parts) => parts.iter().all(|part| matches(part, subject)),
        Filter::Or(parts) => parts.iter().any(|part| matches(part, subject)),
        Filter::Not(part) => !matches(part, subject),
        Filter::Test(test) => {
            let found = match test.field.as_str() {
                "id" => &subject.id,
                field => find(subject.fields, field, subject.names).unwrap_or(&Value::Null),
            };
            holds(test, found)
        }
    }
}

/// The value of a field that is named by a dotted path; a key that itself has the dots comes first.
pub fn find<'v, 'a>(fields: &'v Object<'a>, field: &str, names: Names) -> Option<&'v Value<'a>> {
    let found = fields.get(field).or_else(|| descend(fields, field));
    // Null and missing are alike: neither hides what stands further inside.
    if names == Names::Exact || field.contains('.') || found.is_some_and(|value| !value.is_null()) {
        return found;
    }
    let inside = |place| fields.get(place).and_then(Value::as_object).and_then(|inner| inner.get(field));
    ["metadata", "labels"].into_iter().filter_map(inside).find(|value| !value.is_null()).or(found)
}

fn descend<'v, 'a>(fields: &'v Object<'a>, field: &str) -> Option<&'v Value<'a>> {
    let (first, rest) = field.split_once('.')?;
    rest.split('.').try_fold(fields.get(first)?, |value, step| match value {
        Value::Object(object) => object.get(step),
        Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
        _ => None,
    })
}

pub(super) fn holds(test: &Test, found: &Value<'_>) -> bool {
    let value = &test.value;
    let ordered = |wanted: fn(Ordering) -> bool| order(found, value).is_some_and(wanted);
    match test.operator {
        Operator::Eq => equal(found, value),
        Operator::Ne => !equal(found, value),
        Operator::Gt => ordered(Ordering::is_gt),
        Operator::Gte => ordered(Ordering::is_ge),
        Operator::Lt => ordered(Ordering::is_lt),
        Operator::Lte => ordered(Ordering::is_le),
        Operator::In => one_of(found, value),
        Operator::Nin => !one_of(found, value),
        Operator::Contains => match found {
            Value::Array(items) => items.iter().any(|item| same(item, value)),
            _ => texts(found, value).is_some_and(|(found, part)| found.contains(part)),
        },
        Operator::StartsWith => texts(found, value).is_some_and(|(found, part)| found.starts_with(part)),
        Operator::EndsWith => texts(found, value).is_some_and(|(found, part)| found.ends_with(part)),
    }
}

/// The same as a whole, or one element of a list is.
fn equal(found: &Value<'_>, value: &Value<'_>) -> bool {
    same(found, value) || found.as_array().is_some_and(|items| items.iter().any(|item| same(item, value)))
}

fn one_of(found: &Value<'_>, values: &Value<'_>) -> bool {
    values.as_array().is_some_and(|values| values.iter().any(|value| equal(found, value)))
}

fn texts<'v>(found: &'v Value<'_>, part: &'v Value<'_>) -> Option<(&'v str, &'v str)> {
    found.as_str().zip(part.as_str())
}
