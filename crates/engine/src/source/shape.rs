//! From the rows of a page to records: mapping, privacy filters, and the name of the source.
//!
//! *Invariant:* a row that cannot be a record is told by its place, never by what is in it.

use heldset_core::digest::CommitKey;
use heldset_core::fault::Problem;
use heldset_core::mapping::{Matches, SOURCE_FIELD, Seen};
use heldset_core::privacy::HashKeys;
use heldset_core::record::RecordId;
use heldset_core::value::{Object, Value};

use super::Source;
use crate::feeds::FeedRequest;

/// Rows of these are looked at for their keys.
const LOOKED_AT: usize = 20;

/// Makes records of the rows of one source.
pub(super) struct Shaper<'s> {
    source: &'s Source,
    keys: HashKeys,
}

/// A record on its way.
pub(super) struct Shaped {
    /// Which row of the page it was, from 1.
    pub(super) row: u64,
    pub(super) id: RecordId<'static>,
    pub(super) fields: Object<'static>,
}

/// What became of the rows of a page.
#[derive(Default)]
pub(super) struct ShapedPage {
    pub(super) records: Vec<Shaped>,
    /// Rows that cannot be records: place in the page from 1, and why.
    pub(super) failed: Vec<(u64, Problem)>,
    pub(super) matches: Matches,
    /// How many values each filter changed.
    pub(super) changed: Vec<u64>,
    /// The keys of some rows.
    pub(super) seen: Seen,
}

impl<'s> Shaper<'s> {
    pub(super) fn new(source: &'s Source, key: &CommitKey, request: &FeedRequest) -> Shaper<'s> {
        let secret = request.secret.as_ref();
        let salt = |name: &'s str| Some((name, secret?.get(name)?.as_str()?.to_owned()));
        let salts: Vec<(&str, String)> = source.declared.privacy.salts().filter_map(salt).collect();
        let keys = HashKeys::new(key, salts.iter().map(|(name, salt)| (*name, salt.as_str())));
        Shaper { source, keys }
    }

    pub(super) fn page(&self, rows: Vec<Value<'static>>) -> ShapedPage {
        let mut page = ShapedPage::default();
        page.records.reserve(rows.len());
        for (place, row) in rows.into_iter().enumerate() {
            if place < LOOKED_AT {
                page.seen.note(&row);
            }
            match self.row(row, &mut page.matches, &mut page.changed) {
                Ok((id, fields)) => page.records.push(Shaped { row: place as u64 + 1, id, fields }),
                Err(problem) => page.failed.push((place as u64 + 1, problem)),
            }
        }
        page
    }

    fn row(
        &self,
        row: Value<'static>,
        matches: &mut Matches,
        changed: &mut Vec<u64>,
    ) -> Result<(RecordId<'static>, Object<'static>), Problem> {
        let mapped = self.source.declared.mapping.apply(row, matches)?;
        let (id, mut fields) = self.source.declared.privacy.apply(mapped.id, mapped.fields, &self.keys, changed)?;
        fields.set(SOURCE_FIELD, Value::from(self.source.doc.id.clone()));
        Ok((id, fields))
    }

    /// Warnings of paths and filters that did nothing.
    pub(super) fn warnings(&self, matches: &Matches, changed: &[u64], seen: &Seen) -> Vec<Problem> {
        let declared = &self.source.declared;
        let mut warnings = declared.mapping.unmatched(matches, seen);
        warnings.extend(declared.privacy.unmatched(matches.rows, changed));
        warnings
    }
}
