//! What changed in rows that differ: both are read again, field by field.

use std::collections::HashMap;
use std::ops::Range;

use heldset_core::canonical;
use heldset_core::value::{Object, Value};

use super::FieldChange;
use super::splits::Half;
use crate::refusal::Outcome;
use crate::view::Batch;

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At {
    pub(super) pack: usize,
    pub(super) row: u64,
}

/// A row of the one version and the row of the other.
pub(super) type Pair = (At, At);

/// How many rows are read again at once.
const AT_ONCE: usize = 4096;
/// How much of a value is kept, in characters.
const KEPT: usize = 200;

/// Hands out what changed from the first to the second of each pair; pairs without a change are left out.
pub(super) fn details(
    left: &Half<'_, '_>,
    right: &Half<'_, '_>,
    pairs: &[Pair],
    values: bool,
    mut take: impl FnMut(&str, Vec<FieldChange>),
) -> Outcome<()> {
    for pairs in pairs.chunks(AT_ONCE) {
        let before = Fetched::of(left, pairs.iter().map(|(at, _)| *at))?;
        let after = Fetched::of(right, pairs.iter().map(|(_, at)| *at))?;
        for (was, is) in pairs {
            let ((old, old_row), (new, new_row)) = (before.row(was), after.row(is));
            let (old, new) = (old.record(old_row)?, new.record(new_row)?);
            let fields = changes(&old.fields, &new.fields, values);
            if !fields.is_empty() {
                take(new.id.as_str(), fields);
            }
        }
    }
    Ok(())
}

/// Rows that were read again.
struct Fetched {
    batches: Vec<Batch>,
    places: HashMap<At, (usize, usize)>,
}

impl Fetched {
    fn of(half: &Half<'_, '_>, places: impl Iterator<Item = At>) -> Outcome<Fetched> {
        let mut wanted: Vec<At> = places.collect();
        wanted.sort_unstable();
        let reading = half.view.reading(half.split);
        let mut fetched = Fetched { batches: Vec::new(), places: HashMap::with_capacity(wanted.len()) };
        for of_pack in wanted.chunk_by(|a, b| a.pack == b.pack) {
            let batch = fetched.batches.len();
            fetched.places.extend(of_pack.iter().enumerate().map(|(row, at)| (*at, (batch, row))));
            let pack = &half.rows.packs[of_pack[0].pack].1;
            fetched.batches.push(Batch::of(reading.groups(pack, &ranges(of_pack))?));
        }
        Ok(fetched)
    }

    fn row(&self, at: &At) -> (&Batch, usize) {
        let (batch, row) = self.places[at];
        (&self.batches[batch], row)
    }
}

/// Rows in ascending order, as ranges.
fn ranges(rows: &[At]) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for at in rows {
        match ranges.last_mut().filter(|last| last.end == at.row) {
            Some(last) => last.end += 1,
            None => ranges.push(at.row..at.row + 1),
        }
    }
    ranges
}

/// The fields that differ: those of the old record in order, then the new ones.
fn changes(old: &Object<'_>, new: &Object<'_>, values: bool) -> Vec<FieldChange> {
    let names = old.iter().chain(new.iter().filter(|(name, _)| !old.contains(name))).map(|(name, _)| name);
    let text = |value: Option<&Value<'_>>| value.filter(|_| values).map(shortened);
    names
        .map(|name| (name, old.get(name), new.get(name)))
        .filter(|(_, before, after)| before != after)
        .map(|(name, before, after)| FieldChange { name: name.to_owned(), before: text(before), after: text(after) })
        .collect()
}

fn shortened(value: &Value<'_>) -> String {
    let text = String::from_utf8(canonical::bytes(value)).expect("canonical bytes are UTF-8");
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
