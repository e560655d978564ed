//! Filters over records: the slow, obvious evaluator that is their meaning.
//!
//! *Invariant:* null and missing are alike: `eq null` finds both, comparisons never match them, `ne` and `nin` do.

mod compare;
mod evaluate;
mod form;
mod glob;
pub(crate) mod instant;

use crate::fault::Problem;
use crate::path::Path;
use crate::value::{Object, Value};

pub use compare::order;
pub use evaluate::find;
pub use glob::glob;
pub(crate) use instant::is_day;
pub use instant::is_instant;

/// What must hold of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// All of them.
    And(Vec<Filter>),
    /// One of them.
    Or(Vec<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// A comparison.
    Test(Test),
}

/// A comparison of a field with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// A dotted path.
    pub field: String,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub value: Value<'static>,
}

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Operator {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    Nin,
    Contains,
    StartsWith,
    EndsWith,
}

/// How names of fields are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// As they stand, from the top.
    Exact,
    /// A bare name at the top, then in `metadata`, then in `labels`.
    Loose,
}

impl Filter {
    /// The filter that a value is: a test `{field, operator, value}`, `{and: […]}`, `{or: […]}`, `{not: …}`, a list
    /// (all of them), or a mapping of field to value (equality; a list there means one of its elements).
    pub fn from_value(value: &Value<'_>, at: &Path) -> Result<Filter, Problem> {
        form::read(value, at)
    }

    /// The filter as a value that reads back to the same filter.
    pub fn to_value(&self) -> Value<'static> {
        form::write(self)
    }

    /// Whether a record is meant.
    pub fn matches(&self, id: &str, fields: &Object<'_>, names: Names) -> bool {
        evaluate::matches(self, &evaluate::Subject { id: Value::from(id), fields, names })
    }

    /// The paths of all fields that are compared, in order, each as often as it is.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let mut found = Vec::new();
        self.collect_fields(&mut found);
        found.into_iter()
    }

    fn collect_fields<'f>(&'f self, found: &mut Vec<&'f str>) {
        match self {
            Filter::And(parts) | Filter::Or(parts) => parts.iter().for_each(|part| part.collect_fields(found)),
            Filter::Not(part) => part.collect_fields(found),
            Filter::Test(test) => found.push(&test.field),
        }
    }
}

impl Test {
    /// Whether it holds for a value; null stands for a missing one.
    pub fn holds(&self, found: &Value<'_>) -> bool {
        evaluate::holds(self, found)
    }
}

impl Operator {
    /// Every operator, in the order of the reference.
    pub const ALL: &'static [Operator] = &[
        Operator::Eq,
        Operator::Ne,
        Operator::Gt,
        Operator::Gte,
        Operator::Lt,
        Operator::Lte,
        Operator::In,
        Operator::Nin,
        Operator::Contains,
        Operator::StartsWith,
        Operator::EndsWith,
    ];

    /// The name that it is written by.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Eq => "eq",
            Operator::Ne => "ne",
            Operator::Gt => "gt",
            Operator::Gte => "gte",
            Operator::Lt => "lt",
            Operator::Lte => "lte",
            Operator::In => "in",
            Operator::Nin => "nin",
            Operator::Contains => "contains",
            Operator::StartsWith => "startswith",
            Operator::EndsWith => "endswith",
        }
    }

    /// The operator of that name.
    pub fn named(name: &str) -> Option<Operator> {
        Operator::ALL.iter().copied().find(|operator| operator.name() == name)
    }
}
