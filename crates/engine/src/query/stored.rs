//! Rows at rest as a part of a table: columns of the objects that the audience may read.
//!
//! *Invariant:* made from a view, and so from nothing that the view does not cover.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow::array::StringArray;
use heldset_core::query::Kind;
use heldset_core::value::Value;
use heldset_query::{Cells, Part, QueryError};
use heldset_store::StoreError;
use heldset_store::documents::PackDoc;
use heldset_store::pack::{Scan, Source, find_rows, id_hash};

use crate::rows::Reading;

/// Looking up so many ids is worth holding the index.
const WORTH_HOLDING: u32 = 3;

/// Some rows of a pack, as far as they may be seen.
pub(crate) struct Stored {
    key: String,
    rows: usize,
    ranges: Vec<Range<u64>>,
    scans: Vec<Scan>,
    names: Vec<(String, Kind)>,
    /// Which scan a column is in.
    places: Vec<usize>,
    index: Source,
    held: OnceLock<Source>,
    looked_up: AtomicU32,
}

impl Stored {
    /// Some rows of a pack.
    pub(crate) fn open(reading: &Reading<'_>, pack: &PackDoc, ranges: &[Range<u64>]) -> Result<Stored, StoreError> {
        let whole = matches!(ranges, [all] if all.start == 0 && all.end == pack.rows);
        let asked = if whole { &[] } else { ranges };
        let (mut scans, mut names, mut places, mut key) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        for object in reading.objects(pack)? {
            let source = reading.store.source(object, reading.dataset, reading.keys, false)?;
            let scan = Scan::open(source, &reading.store.path_of(object), asked)?;
            for column in scan.columns() {
                names.push(column);
                places.push(scans.len());
            }
            key.push_str(&object.address);
            scans.push(scan);
        }
        asked.iter().for_each(|range| key.push_str(&format!(" {}-{}", range.start, range.end)));
        let index = reading.store.source(&pack.ids, reading.dataset, reading.keys, false)?;
        let rows = ranges.iter().map(|range| (range.end - range.start) as usize).sum();
        let ranges = ranges.to_vec();
        let (held, looked_up) = (OnceLock::new(), AtomicU32::new(0));
        Ok(Stored { key, rows, ranges, scans, names, places, index, held, looked_up })
    }

    /// Where a row of the pack is among these rows.
    fn position(&self, row: u64) -> Option<usize> {
        let mut before = 0;
        for range in &self.ranges {
            if range.contains(&row) {
                return Some(before + (row - range.start) as usize);
            }
            before += (range.end - range.start) as usize;
        }
        None
    }

    /// Where some of these rows are in the pack.
    fn places_in_pack(&self, rows: &[usize]) -> Vec<Range<u64>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        let (mut before, mut ranges) = (0, self.ranges.iter());
        let mut range = ranges.next();
        for row in rows {
            while let Some(current) = range {
                let len = (current.end - current.start) as usize;
                if *row < before + len {
                    let at = current.start + (row - before) as u64;
                    match found.last_mut().filter(|last| last.end == at) {
                        Some(last) => last.end += 1,
                        None => found.push(at..at + 1),
                    }
                    break;
                }
                before += len;
                range = ranges.next();
            }
        }
        found
    }

    /// The index of ids, whole once it is asked often.
    fn index(&self) -> Result<&Source, StoreError> {
        if self.looked_up.fetch_add(1, Ordering::Relaxed) < WORTH_HOLDING {
            return Ok(&self.index);
        }
        if let Some(held) = self.held.get() {
            return Ok(held);
        }
        let whole = Source::whole(self.index.fetch(0..self.index.len())?);
        Ok(self.held.get_or_init(|| whole))
    }
}

impl Part for Stored {
    fn key(&self) -> &str {
        &self.key
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[(String, Kind)] {
        &self.names
    }

    fn column(&self, name: &str) -> Result<Cells, QueryError> {
        let damaged = || QueryError::source(StoreError::damaged("a column of a pack"));
        let at = self.names.iter().position(|(known, _)| known == name).ok_or_else(damaged)?;
        let array = self.scans[self.places[at]].column(name).map_err(QueryError::source)?;
        Cells::of(self.names[at].1, &array).ok_or_else(damaged)
    }

    fn ids(&self) -> Result<StringArray, QueryError> {
        let ids = self.scans.first().map(Scan::ids).transpose().map_err(QueryError::source)?.flatten();
        ids.ok_or_else(|| QueryError::source(StoreError::missing("the ids of a pack")))
    }

    fn rests(&self) -> Result<Vec<StringArray>, QueryError> {
        let rests = self.scans.iter().map(|scan| scan.rest().map_err(QueryError::source));
        Ok(rests.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn bounds(&self, name: &str) -> Option<(Value<'static>, Value<'static>)> {
        let at = self.names.iter().position(|(known, _)| known == name)?;
        self.scans[self.places[at]].bounds(name)
    }

    fn find_id(&self, id: &str) -> Result<Option<Vec<usize>>, QueryError> {
        let rows = self.index().and_then(|index| find_rows(index, id_hash(id))).map_err(QueryError::source)?;
        let mut found = Vec::new();
        for row in rows {
            let Some(position) = self.position(u64::from(row)) else { continue };
            // A hash may lead to several rows: ids are compared.
            let row = u64::from(row);
            let range = row..row + 1;
            let own = self.scans.first().map(|scan| scan.some(std::slice::from_ref(&range))).transpose();
            let ids = own.and_then(|scan| scan.map(|scan| scan.ids()).transpose()).map_err(QueryError::source)?;
            if ids.flatten().is_some_and(|ids| ids.value(0) == id) {
                found.push(position);
            }
        }
        Ok(Some(found))
    }

    fn some(&self, rows: &[usize]) -> Result<Box<dyn Part>, QueryError> {
        let ranges = self.places_in_pack(rows);
        let scans = self.scans.iter().map(|scan| scan.some(&ranges));
        let scans = scans.collect::<Result<Vec<_>, _>>().map_err(QueryError::source)?;
        Ok(Box::new(Stored {
            key: String::new(),
            rows: rows.len(),
            ranges,
            scans,
            names: self.names.clone(),
            places: self.places.clone(),
            index: self.index.clone(),
            held: OnceLock::new(),
            looked_up: AtomicU32::new(0),
        }))
    }
}
