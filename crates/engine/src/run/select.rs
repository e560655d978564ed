//! Which records of a split a plan means.
//!
//! *Invariant:* a selection of nothing is an error; what was selected is pinned by the digest of its ids, in order.

use std::collections::HashSet;

use heldset_core::code::Code;
use heldset_core::digest::{Digest, tagged_value};
use heldset_core::plan::{Admitted, Selection};
use heldset_core::value::Value;

use super::records::Records;
use crate::refusal::{Outcome, Refusal};
use crate::results::{RowOutcome, RunResults};
use crate::session::Session;

/// The records that are meant, in order.
pub(crate) struct Selected {
    /// Their numbers in the split.
    pub(crate) rows: Vec<u64>,
    /// Their ids.
    pub(crate) ids: Vec<String>,
    /// The digest of the ids.
    pub(crate) digest: Digest,
}

/// Finds the records that are meant.
pub(crate) fn select(session: &Session, records: &Records<'_>, selection: &Selection) -> Outcome<Selected> {
    let failed = selection.failed_from.as_deref().map(|run| failed_in(session, run)).transpose()?;
    let by_fields = is_by_fields(selection);
    let (mut rows, mut ids, mut strata) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..records.len() {
        let seen = records.at(number)?;
        let id = seen.id();
        if failed.as_ref().is_some_and(|failed| !failed.contains(id)) {
            continue;
        }
        if by_fields {
            let record = seen.for_evaluator()?;
            if !selection.admits(id, &record.fields) {
                continue;
            }
            strata.push(selection.stratum(&record.fields));
        } else {
            strata.push(String::new());
        }
        rows.push(number);
        ids.push(id.to_owned());
    }
    let admitted: Vec<Admitted<'_>> = ids.iter().zip(&strata).map(|(id, stratum)| Admitted { id, stratum }).collect();
    let kept = selection.narrow(&admitted);
    if kept.is_empty() {
        return Err(nothing(records, rows.len()));
    }
    let rows: Vec<u64> = kept.iter().map(|place| rows[*place]).collect();
    let ids: Vec<String> = kept.iter().map(|place| std::mem::take(&mut ids[*place])).collect();
    let listed = Value::Array(ids.iter().map(|id| Value::from(id.as_str())).collect());
    let digest = tagged_value("selection", &listed);
    Ok(Selected { rows, ids, digest })
}

/// Whether the fields of a record must be looked at.
fn is_by_fields(selection: &Selection) -> bool {
    let stratified = selection.sample.as_ref().is_some_and(|sample| sample.stratify_by.is_some());
    let tags = [&selection.tags_all, &selection.tags_any, &selection.tags_none];
    selection.filter.is_some()
        || selection.group.is_some()
        || selection.labels.is_some()
        || tags.iter().any(|tags| !tags.is_empty())
        || !selection.ids.is_empty()
        || stratified
}

/// The records that did not pass in another run.
fn failed_in(session: &Session, run: &str) -> Outcome<HashSet<String>> {
    let mut failed = HashSet::new();
    RunResults::open(session, run, "run")?.each(|row| {
        if row.outcome != RowOutcome::Pass {
            failed.insert(row.record_id);
        }
        Ok(())
    })?;
    Ok(failed)
}

fn nothing(records: &Records<'_>, admitted: usize) -> Box<Refusal> {
    let resolved = records.resolved();
    let message = format!(
        "nothing is selected of the {} records of `{}@{}`, split `{}`",
        records.len(),
        resolved.dataset.slug,
        resolved.version.number,
        records.split()
    );
    let help = match admitted {
        0 => "look at the filter, tags, ids and labels of `select`; `heldset cat` prints the records",
        _ => "look at `shard`, `sample` and `limit` of `select`",
    };
    Refusal::usage(Code::E053, message, help)
}
