//! What a journal holds of an unfinished run.
//!
//! *Invariant:* an output without scores is graded again; nothing that was acknowledged is asked of an agent twice.

use std::collections::HashMap;

use heldset_core::json;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::{Object, Value};
use heldset_store::{Frames, StoreError};

use crate::refusal::Outcome;
use crate::results::{Row, RowOutcome, Score};

/// A row that is durable, and whether it was graded.
pub(crate) struct Journaled {
    pub(crate) row: Row,
    pub(crate) graded: bool,
}

/// Rows by their number.
pub(crate) fn read(outputs: &Frames, scores: &Frames) -> Outcome<HashMap<u64, Journaled>> {
    let mut rows = HashMap::new();
    each(outputs, |fields| {
        let row = Row::from_record(&record_of(fields)?)?;
        rows.insert(row.number, Journaled { row, graded: false });
        Ok(())
    })?;
    each(scores, |fields| {
        let number: u64 = text(&fields, "id").and_then(|id| id.parse().ok()).ok_or_else(damaged)?;
        // Scores of an output that was not durable are of no use.
        let Some(entry) = rows.get_mut(&number) else { return Ok(()) };
        let outcome = text(&fields, "outcome").and_then(RowOutcome::parse).ok_or_else(damaged)?;
        let scores = fields.get("scores").and_then(Value::as_array).unwrap_or_default();
        entry.row.scores = scores.iter().map(Score::from_value).collect::<Option<_>>().ok_or_else(damaged)?;
        (entry.row.outcome, entry.row.reason) = (outcome, text(&fields, "reason").map(str::to_owned));
        entry.graded = true;
        Ok(())
    })?;
    Ok(rows)
}

fn each(frames: &Frames, mut take: impl FnMut(Object<'_>) -> Result<(), StoreError>) -> Outcome<()> {
    for frame in frames {
        let text = std::str::from_utf8(frame).map_err(|_| damaged())?;
        let Ok(Value::Array(rows)) = json::read(text) else { return Err(damaged().into()) };
        for row in rows {
            let Value::Object(fields) = row else { return Err(damaged().into()) };
            take(fields)?;
        }
    }
    Ok(())
}

fn record_of(mut fields: Object<'_>) -> Result<Record<'_>, StoreError> {
    let id = fields.remove("id").ok_or_else(damaged)?;
    let id = RecordId::from_value(id, "id").map_err(|_| damaged())?;
    Ok(Record { id, fields })
}

fn text<'f>(fields: &'f Object<'_>, name: &str) -> Option<&'f str> {
    fields.get(name).and_then(Value::as_str)
}

fn damaged() -> StoreError {
    StoreError::damaged("the journal of a run")
}
