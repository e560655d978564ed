//! Filters as they are written in plans and queries.
//!
//! *Invariant:* what is written reads back to the same filter; what cannot be a filter is told, never taken as one that
//! matches nothing.

use super::{Filter, Operator, Test};
use crate::code::Code;
use crate::fault::{Problem, nearest};
use crate::path::Path;
use crate::value::{Object, Value};

const JOINS: &[&str] = &["and", "or", "not"];
const OF_A_TEST: &[&str] = &["field", "operator", "value"];

pub(super) fn read(value: &Value<'_>, at: &Path) -> Result<Filter, Problem> {
    match value {
        Value::Array(items) => Ok(Filter::And(all(items, at)?)),
        Value::Object(object) => read_mapping(object, at),
        other => Err(wrong(at, format!("a filter is a mapping or a list, not {}", other.type_name()))),
    }
}

pub(super) fn write(filter: &Filter) -> Value<'static> {
    let joined = |name, parts: &[Filter]| one(name, Value::Array(parts.iter().map(write).collect()));
    match filter {
        Filter::And(parts) => joined("and", parts),
        Filter::Or(parts) => joined("or", parts),
        Filter::Not(part) => one("not", write(part)),
        Filter::Test(test) => {
            let mut object = Object::with_capacity(3);
            object.set("field", test.field.clone().into());
            object.set("operator", test.operator.name().into());
            object.set("value", test.value.clone());
            object.into()
        }
    }
}

fn one(name: &'static str, value: Value<'static>) -> Value<'static> {
    let mut object = Object::with_capacity(1);
    object.set(name, value);
    object.into()
}

fn all(items: &[Value<'_>], at: &Path) -> Result<Vec<Filter>, Problem> {
    items.iter().enumerate().map(|(index, item)| read(item, &at.then_index(index))).collect()
}

fn read_mapping(object: &Object<'_>, at: &Path) -> Result<Filter, Problem> {
    if let Some((join, value)) = object.iter().find(|(key, _)| JOINS.contains(key)) {
        if object.len() > 1 {
            let problem = wrong(at, format!("`{join}` stands alone in its mapping"));
            return Err(problem.help("write a list of both to ask for both"));
        }
        return read_join(join, value, &at.then_key(join));
    }
    let has = |key| object.contains(key);
    if has("field") && (has("operator") || has("value")) || has("operator") && has("value") {
        return read_test(object, at).map(Filter::Test);
    }
    let each = object.iter().map(|(field, value)| {
        let operator = if value.as_array().is_some() { Operator::In } else { Operator::Eq };
        Filter::Test(Test { field: field.to_owned(), operator, value: value.clone().into_owned() })
    });
    let mut each: Vec<_> = each.collect();
    match each.pop() {
        Some(only) if each.is_empty() => Ok(only),
        Some(last) => {
            each.push(last);
            Ok(Filter::And(each))
        }
        None => Ok(Filter::And(each)),
    }
}

fn read_join(join: &str, value: &Value<'_>, at: &Path) -> Result<Filter, Problem> {
    if join == "not" {
        return Ok(Filter::Not(Box::new(read(value, at)?)));
    }
    let Some(items) = value.as_array() else {
        return Err(wrong(at, format!("`{join}` takes a list of filters, not {}", value.type_name())));
    };
    let parts = all(items, at)?;
    Ok(if join == "and" { Filter::And(parts) } else { Filter::Or(parts) })
}

fn read_test(object: &Object<'_>, at: &Path) -> Result<Test, Problem> {
    if let Some((key, _)) = object.iter().find(|(key, _)| !OF_A_TEST.contains(key)) {
        let problem = wrong(&at.then_key(key), format!("`{key}` is not known in a filter"));
        return Err(problem.help("a test has `field`, `operator` and `value`"));
    }
    let member = |key: &str| object.get(key).ok_or_else(|| wrong(at, format!("`{key}` is missing in a filter")));
    let (field, operator, value) = (member("field")?, member("operator")?, member("value")?);
    let Some(field) = field.as_str().filter(|field| !field.is_empty()) else {
        return Err(wrong(&at.then_key("field"), format!("`field` is a name, not {}", shown(field))));
    };
    let operator = read_operator(operator, &at.then_key("operator"))?;
    check_value(operator, value, &at.then_key("value"))?;
    Ok(Test { field: field.to_owned(), operator, value: value.clone().into_owned() })
}

fn read_operator(value: &Value<'_>, at: &Path) -> Result<Operator, Problem> {
    let Some(name) = value.as_str() else {
        return Err(wrong(at, format!("`operator` is a name, not {}", value.type_name())));
    };
    if let Some(operator) = Operator::named(name) {
        return Ok(operator);
    }
    let problem = wrong(at, format!("`{name}` is not an operator"));
    let known: Vec<_> = Operator::ALL.iter().map(|operator| operator.name()).collect();
    let help = match symbol(name).or_else(|| nearest(&name.to_ascii_lowercase(), known.iter().copied())) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("known are {}", known.join(", ")),
    };
    Err(problem.help(help))
}

/// What people write from habit, too far from the name for a likeness to find it.
fn symbol(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "=" | "==" | "equals" | "is" => "eq",
        "!=" | "<>" | "not_equals" => "ne",
        ">" | "greater_than" => "gt",
        ">=" => "gte",
        "<" | "less_than" => "lt",
        "<=" => "lte",
        "not_in" | "not in" => "nin",
        "like" | "matches" => "contains",
        "starts_with" => "startswith",
        "ends_with" => "endswith",
        _ => return None,
    })
}

fn check_value(operator: Operator, value: &Value<'_>, at: &Path) -> Result<(), Problem> {
    use Operator::{Contains, EndsWith, Eq, Gt, Gte, In, Lt, Lte, Ne, Nin, StartsWith};
    let (fits, takes) = match operator {
        Eq | Ne => (true, "any value"),
        Gt | Gte | Lt | Lte => (matches!(value, Value::Number(_) | Value::String(_)), "a number or text"),
        In | Nin => (value.as_array().is_some(), "a list"),
        Contains => {
            (matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_)), "text, a number or a boolean")
        }
        StartsWith | EndsWith => (value.as_str().is_some(), "text"),
    };
    if fits {
        return Ok(());
    }
    let name = operator.name();
    let problem = wrong(at, format!("`{name}` takes {takes}, not {}", value.type_name()));
    Err(match value {
        Value::Null if !matches!(operator, In | Nin) => problem.help("`eq` finds null and missing values, `ne` others"),
        _ => problem,
    })
}

fn shown(value: &Value<'_>) -> &'static str {
    if value.as_str().is_some() { "empty" } else { value.type_name() }
}

fn wrong(at: &Path, message: String) -> Problem {
    Problem::new(Code::E052, at.clone(), message)
}
