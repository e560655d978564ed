//! Parts that a test cannot hold in, told by the bounds of a column.
//!
//! *Invariant:* a part is left out only if no value of the field can be in it that passes.

use heldset_core::filter::{Operator, Test, is_instant, order};
use heldset_core::value::Value;

use crate::cache::Cache;
use crate::error::QueryError;
use crate::part::Part;
use crate::values::{Values, rests};

/// Whether a test holds for no row of a part.
pub(crate) fn never(part: &dyn Part, cache: &Cache, test: &Test) -> Result<bool, QueryError> {
    if test.holds(&Value::Null) || test.field.contains('.') {
        return Ok(false);
    }
    let Some((low, high)) = part.bounds(&test.field) else { return Ok(false) };
    if !outside(test, &low, &high) {
        return Ok(false);
    }
    // What lies in a rest is beyond the bounds of the column.
    let rests = rests(part, cache)?;
    Ok(matches!(&*rests, Values::Rests(rests) if rests.is_empty()))
}

/// Whether no value from `low` to `high` passes.
pub(crate) fn outside(test: &Test, low: &Value<'_>, high: &Value<'_>) -> bool {
    let value = &test.value;
    // Instants are not in the order of their bytes, and bounds are by bytes.
    let comparable = |value: &Value<'_>| match (value, low) {
        (Value::Number(_), Value::Number(_)) => true,
        (Value::String(text), Value::String(_)) => !is_instant(text),
        _ => false,
    };
    let below = |value: &Value<'_>| order_of(value, low).is_some_and(std::cmp::Ordering::is_lt);
    let above = |value: &Value<'_>| order_of(value, high).is_some_and(std::cmp::Ordering::is_gt);
    match test.operator {
        Operator::Eq => comparable(value) && (below(value) || above(value)),
        Operator::In => {
            let beyond = |value: &Value<'_>| comparable(value) && (below(value) || above(value));
            value.as_array().is_some_and(|values| values.iter().all(beyond))
        }
        Operator::Gt => comparable(value) && order_of(high, value).is_some_and(std::cmp::Ordering::is_le),
        Operator::Gte => comparable(value) && order_of(high, value).is_some_and(std::cmp::Ordering::is_lt),
        Operator::Lt => comparable(value) && order_of(low, value).is_some_and(std::cmp::Ordering::is_ge),
        Operator::Lte => comparable(value) && order_of(low, value).is_some_and(std::cmp::Ordering::is_gt),
        Operator::StartsWith => match (value.as_str(), low.as_str(), high.as_str()) {
            (Some(start), Some(low), Some(high)) => {
                let cut = |text: &str| text.as_bytes()[..text.len().min(start.len())].to_vec();
                start.as_bytes() > &cut(high)[..] && !high.as_bytes().starts_with(start.as_bytes())
                    || start.as_bytes() < &cut(low)[..]
            }
            _ => false,
        },
        Operator::Ne | Operator::Nin | Operator::Contains | Operator::EndsWith => false,
    }
}

/// Texts by their bytes, as bounds are.
fn order_of(left: &Value<'_>, right: &Value<'_>) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        _ => order(left, right),
    }
}
