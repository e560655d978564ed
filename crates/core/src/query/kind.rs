//! What type the values of a field have, and which comparisons make sense with it.
//!
//! *Invariant:* a comparison that can never hold for any value of its field is told, not answered with nothing.

use crate::code::Code;
use crate::fault::Problem;
use crate::filter::{Filter, Operator, Test};
use crate::path::Path;
use crate::value::Value;

/// The type that all values of a field have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Text.
    Text,
    /// Integers of 64 bits.
    Integer,
    /// Numbers.
    Number,
    /// True and false.
    Boolean,
    /// Lists, mappings, or values of several types.
    Json,
}

impl Kind {
    /// The name of the type, as schemas have it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Json => "json",
        }
    }

    /// The kind of both together.
    #[must_use]
    pub fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (one, same) if one == same => one,
            (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Kind::Number,
            _ => Kind::Json,
        }
    }

    fn takes(self, value: &Value<'_>) -> bool {
        match value {
            Value::Null => true,
            Value::String(_) => matches!(self, Kind::Text | Kind::Json),
            Value::Number(_) => matches!(self, Kind::Integer | Kind::Number | Kind::Json),
            Value::Bool(_) => matches!(self, Kind::Boolean | Kind::Json),
            Value::Array(_) | Value::Object(_) => self == Kind::Json,
        }
    }
}

/// Checks every comparison of a filter against the type of its field, where that is known.
pub fn check_kinds(filter: &Filter, kind_of: &dyn Fn(&str) -> Option<Kind>) -> Result<(), Problem> {
    match filter {
        Filter::And(parts) | Filter::Or(parts) => parts.iter().try_for_each(|part| check_kinds(part, kind_of)),
        Filter::Not(part) => check_kinds(part, kind_of),
        Filter::Test(test) => kind_of(&test.field).map_or(Ok(()), |kind| check(test, kind)),
    }
}

fn check(test: &Test, kind: Kind) -> Result<(), Problem> {
    use Operator::{Contains, EndsWith, Eq, Gt, Gte, In, Lt, Lte, Ne, Nin, StartsWith};
    let (field, operator) = (&test.field, test.operator.name());
    let refuse = |message: String, help: String| Err(Problem::new(Code::E063, Path::key(field), message).help(help));
    let fits = match test.operator {
        Contains | StartsWith | EndsWith if !matches!(kind, Kind::Text | Kind::Json) => {
            let message = format!("`{field}` is of type {}, and `{operator}` is for text", kind.name());
            return refuse(message, "compare it with `=`, `<` or `>`".to_owned());
        }
        Gt | Gte | Lt | Lte if kind == Kind::Boolean => {
            let message = format!("`{field}` is of type boolean, which has no order for `{operator}`");
            return refuse(message, format!("write `{field} = true` or `{field} = false`"));
        }
        In | Nin => test.value.as_array().is_none_or(|values| values.iter().all(|value| kind.takes(value))),
        Eq | Ne | Gt | Gte | Lt | Lte | Contains | StartsWith | EndsWith => kind.takes(&test.value),
    };
    if fits {
        return Ok(());
    }
    let given = match (&test.value, test.operator) {
        (Value::Array(values), In | Nin) => values.iter().find(|value| !kind.takes(value)).unwrap_or(&Value::Null),
        (value, _) => value,
    };
    let shown = String::from_utf8(crate::canonical::bytes(given)).unwrap_or_default();
    let message =
        format!("`{field}` is of type {}, and `{operator}` was given {} `{shown}`", kind.name(), given.type_name());
    let help = match kind {
        Kind::Text => format!("put it in quotes: `{field} = \"{}\"`", shown.trim_matches('"')),
        Kind::Boolean => "write `true` or `false`".to_owned(),
        _ => format!("write a number without quotes, such as `{field} > 0.8`"),
    };
    refuse(message, help)
}

/// The filter with ids as text: an id that was a number in its file is compared as it is kept.
pub fn with_text_ids(filter: &Filter) -> Filter {
    let all = |parts: &[Filter]| parts.iter().map(with_text_ids).collect();
    match filter {
        Filter::And(parts) => Filter::And(all(parts)),
        Filter::Or(parts) => Filter::Or(all(parts)),
        Filter::Not(part) => Filter::Not(Box::new(with_text_ids(part))),
        Filter::Test(test) if test.field == "id" => {
            let value = match &test.value {
                Value::Array(values) => Value::Array(values.iter().map(as_id).collect()),
                value => as_id(value),
            };
            Filter::Test(Test { value, ..test.clone() })
        }
        Filter::Test(test) => Filter::Test(test.clone()),
    }
}

fn as_id(value: &Value<'static>) -> Value<'static> {
    match value {
        Value::Number(number) if number.is_integer() => Value::from(number.to_string()),
        value => value.clone(),
    }
}
