//! Which rows of a part a filter means, column by column.
//!
//! *Invariant:* the same rows that `core::filter` means, record by record.

use arrow::array::{Array, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use heldset_core::filter::{Filter, Operator, Test, is_instant};
use heldset_core::number::Number;
use heldset_core::value::Value;
use memchr::memmem::Finder;

use crate::cache::Cache;
use crate::cells::Cells;
use crate::error::QueryError;
use crate::part::Part;
use crate::prune::never;
use crate::values::{Values, values};

/// The rows that a filter means.
pub(crate) fn select(part: &dyn Part, cache: &Cache, filter: &Filter) -> Result<BooleanBuffer, QueryError> {
    let rows = part.rows();
    match filter {
        Filter::And(parts) => {
            let mut kept: Option<BooleanBuffer> = None;
            for inner in parts {
                // What is false already stays so, whatever follows.
                if kept.as_ref().is_some_and(|kept| kept.count_set_bits() == 0) {
                    break;
                }
                let found = select(part, cache, inner)?;
                kept = Some(kept.map_or_else(|| found.clone(), |kept| &kept & &found));
            }
            Ok(kept.unwrap_or_else(|| BooleanBuffer::new_set(rows)))
        }
        Filter::Or(parts) => {
            let mut kept = BooleanBuffer::new_unset(rows);
            for inner in parts {
                kept = &kept | &select(part, cache, inner)?;
            }
            Ok(kept)
        }
        Filter::Not(inner) => Ok(!&select(part, cache, inner)?),
        Filter::Test(test) => test_rows(part, cache, test),
    }
}

fn test_rows(part: &dyn Part, cache: &Cache, test: &Test) -> Result<BooleanBuffer, QueryError> {
    let rows = part.rows();
    if let Some(found) = by_id(part, test)? {
        return Ok(found);
    }
    if never(part, cache, test)? {
        return Ok(BooleanBuffer::new_unset(rows));
    }
    let on_null = test.holds(&Value::Null);
    Ok(match &*values(part, cache, &test.field)? {
        Values::Cells(cells) => with_nulls(present(cells, test), cells.nulls().as_ref(), on_null),
        Values::Mixed(values) => BooleanBuffer::collect_bool(rows, |row| test.holds(&values[row])),
        Values::Absent | Values::Keys(_) | Values::Rests(_) if on_null => BooleanBuffer::new_set(rows),
        Values::Absent | Values::Keys(_) | Values::Rests(_) => BooleanBuffer::new_unset(rows),
    })
}

/// The rows of one id or a few, by the index.
fn by_id(part: &dyn Part, test: &Test) -> Result<Option<BooleanBuffer>, QueryError> {
    let ids: Vec<&str> = match (&test.value, test.operator) {
        _ if test.field != "id" => return Ok(None),
        (Value::String(id), Operator::Eq) => vec![id],
        (Value::Array(ids), Operator::In) if ids.len() <= 16 => ids.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(None),
    };
    // Equal instants may be written in several ways, and are then several ids.
    if ids.iter().any(|id| is_instant(id)) {
        return Ok(None);
    }
    let mut found = arrow::array::BooleanBufferBuilder::new(part.rows());
    found.append_n(part.rows(), false);
    for id in ids {
        let Some(rows) = part.find_id(id)? else { return Ok(None) };
        rows.into_iter().for_each(|row| found.set_bit(row, true));
    }
    Ok(Some(found.finish()))
}

fn with_nulls(found: BooleanBuffer, nulls: Option<&NullBuffer>, on_null: bool) -> BooleanBuffer {
    match nulls {
        None => found,
        Some(nulls) if on_null => &found | &!nulls.inner(),
        Some(nulls) => &found & nulls.inner(),
    }
}

/// What a test says of the rows that have a value; of the others anything.
fn present(cells: &Cells, test: &Test) -> BooleanBuffer {
    match cells {
        Cells::Text(texts) => text(texts, test),
        Cells::Integer(integers) => integer(integers, test),
        Cells::Number(numbers) => number(numbers, test),
        Cells::Boolean(flags) => boolean(flags, test),
        Cells::Json(texts) => json_text(texts, test),
    }
}

fn boolean(flags: &BooleanArray, test: &Test) -> BooleanBuffer {
    let (on_true, on_false) = (test.holds(&Value::Bool(true)), test.holds(&Value::Bool(false)));
    BooleanBuffer::collect_bool(flags.len(), |row| if flags.value(row) { on_true } else { on_false })
}

fn integer(integers: &Int64Array, test: &Test) -> BooleanBuffer {
    let cells = integers.values();
    let by = |fits: &dyn Fn(i64) -> bool| BooleanBuffer::collect_bool(cells.len(), |row| fits(cells[row]));
    let Value::Number(value) = &test.value else { return by(&|cell| test.holds(&Value::from(cell))) };
    let Some(value) = value.as_i64() else { return by(&|cell| test.holds(&Value::from(cell))) };
    match test.operator {
        Operator::Eq => by(&|cell| cell == value),
        Operator::Ne => by(&|cell| cell != value),
        Operator::Gt => by(&|cell| cell > value),
        Operator::Gte => by(&|cell| cell >= value),
        Operator::Lt => by(&|cell| cell < value),
        Operator::Lte => by(&|cell| cell <= value),
        _ => by(&|cell| test.holds(&Value::from(cell))),
    }
}

/// The double that a number is exactly.
fn double(number: Number) -> Option<f64> {
    match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) if integer.unsigned_abs() <= 1 << 53 => Some(number.as_f64()),
        (None, None) => Some(number.as_f64()),
        _ => None,
    }
}

macro_rules! each {
    ($cells:ident, $fits:expr) => {
        BooleanBuffer::collect_bool($cells.len(), |row| $fits($cells[row]))
    };
}

#[allow(clippy::float_cmp, reason = "values are compared as they are")]
fn number(numbers: &Float64Array, test: &Test) -> BooleanBuffer {
    let cells = numbers.values();
    let slowly = |cell: f64| Number::from_f64(cell).is_ok_and(|cell| test.holds(&Value::Number(cell)));
    let value = if let Value::Number(value) = &test.value { double(*value) } else { None };
    let Some(value) = value else { return each!(cells, slowly) };
    match test.operator {
        Operator::Eq => each!(cells, |cell: f64| cell == value),
        Operator::Ne => each!(cells, |cell: f64| cell != value),
        Operator::Gt => each!(cells, |cell: f64| cell > value),
        Operator::Gte => each!(cells, |cell: f64| cell >= value),
        Operator::Lt => each!(cells, |cell: f64| cell < value),
        Operator::Lte => each!(cells, |cell: f64| cell <= value),
        _ => each!(cells, slowly),
    }
}

fn text(texts: &StringArray, test: &Test) -> BooleanBuffer {
    let slowly = || BooleanBuffer::collect_bool(texts.len(), |row| test.holds(&Value::from(texts.value(row))));
    let (bytes, offsets) = (texts.value_data(), texts.value_offsets());
    let cell = |row: usize| &bytes[offsets[row] as usize..offsets[row + 1] as usize];
    let by = |fits: &dyn Fn(&[u8]) -> bool| BooleanBuffer::collect_bool(texts.len(), |row| fits(cell(row)));
    if let (Value::Array(values), Operator::In | Operator::Nin) = (&test.value, test.operator) {
        let known: Option<Vec<&str>> =
            values.iter().map(|value| value.as_str().filter(|text| !is_instant(text))).collect();
        let Some(known) = known else { return slowly() };
        let found = by(&|cell| known.iter().any(|known| known.as_bytes() == cell));
        return if test.operator == Operator::In { found } else { !&found };
    }
    let Some(value) = test.value.as_str() else { return slowly() };
    let wanted = value.as_bytes();
    match test.operator {
        Operator::Contains => containing(texts, wanted),
        Operator::StartsWith => by(&|cell| cell.starts_with(wanted)),
        Operator::EndsWith => by(&|cell| cell.ends_with(wanted)),
        operator if is_instant(value) => match plain_instant(wanted) {
            true => BooleanBuffer::collect_bool(texts.len(), |row| {
                let cell = cell(row);
                // Two such texts compare as instants do and as bytes do.
                match plain_instant(cell) && cell[10] == wanted[10] {
                    true => ordered(operator, cell.cmp(wanted)),
                    false => test.holds(&Value::from(texts.value(row))),
                }
            }),
            false => slowly(),
        },
        Operator::Eq => by(&|cell| cell == wanted),
        Operator::Ne => by(&|cell| cell != wanted),
        operator => by(&|cell| ordered(operator, cell.cmp(wanted))),
    }
}

/// Whether a text has the shape `2024-01-01T00:00:00Z`, where bytes compare as instants; a leap second does not.
pub(crate) fn plain_instant(text: &[u8]) -> bool {
    text.len() == 20 && text[19] == b'Z' && text[17] != b'6'
}

fn ordered(operator: Operator, order: std::cmp::Ordering) -> bool {
    match operator {
        Operator::Eq => order.is_eq(),
        Operator::Ne => order.is_ne(),
        Operator::Gt => order.is_gt(),
        Operator::Gte => order.is_ge(),
        Operator::Lt => order.is_lt(),
        Operator::Lte => order.is_le(),
        _ => false,
    }
}

/// The rows whose text has these bytes in it: all texts are searched as one, and what crosses a border is left out.
fn containing(texts: &StringArray, wanted: &[u8]) -> BooleanBuffer {
    if wanted.is_empty() {
        return BooleanBuffer::new_set(texts.len());
    }
    let (bytes, offsets) = (texts.value_data(), texts.value_offsets());
    let mut found = arrow::array::BooleanBufferBuilder::new(texts.len());
    found.append_n(texts.len(), false);
    let finder = Finder::new(wanted);
    let (mut at, mut row) = (offsets[0] as usize, 0);
    let end = offsets[texts.len()] as usize;
    while let Some(offset) = finder.find(&bytes[at..end]) {
        let hit = at + offset;
        row += offsets[row + 1..=texts.len()].partition_point(|end| *end as usize <= hit);
        let row_end = offsets[row + 1] as usize;
        match hit + wanted.len() <= row_end {
            true => {
                found.set_bit(row, true);
                at = row_end;
            }
            false => at = hit + 1,
        }
    }
    found.finish()
}

fn json_text(texts: &StringArray, test: &Test) -> BooleanBuffer {
    let needle = needle(test);
    let finder = needle.as_ref().map(Finder::new);
    BooleanBuffer::collect_bool(texts.len(), |row| {
        let text = texts.value(row);
        if finder.as_ref().is_some_and(|finder| finder.find(text.as_bytes()).is_none()) {
            return false;
        }
        heldset_core::json::read(text).is_ok_and(|value| test.holds(&value))
    })
}

/// Bytes without which no JSON text can pass the test.
fn needle(test: &Test) -> Option<Vec<u8>> {
    if !matches!(test.operator, Operator::Eq | Operator::Contains) {
        return None;
    }
    let text = test.value.as_str().filter(|text| !is_instant(text))?;
    let mut quoted = Vec::new();
    heldset_core::canonical::write_text(text, &mut quoted);
    // A text that contains it has it between other letters.
    Some(quoted[1..quoted.len() - 1].to_vec())
}
