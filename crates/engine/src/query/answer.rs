//! One page of an answer: which rows, and as much of each as was asked for.
//!
//! *Invariant:* the rows, their order and their values are those of the version; the next page begins where this ends.

use heldset_core::canonical;
use heldset_core::fault::Fault;
use heldset_core::query::{Cursor, Query, check_kinds};
use heldset_core::value::Object;
use heldset_query::{Few, page};

use super::desk::{Desk, bad_cursor};
use super::{failed, refused, unknown_field};
use crate::refusal::Outcome;

/// What was queried.
#[derive(Clone, Debug)]
pub struct Over {
    /// The dataset, run or log.
    pub dataset: String,
    /// The same for people.
    pub cited: String,
    /// The number of the version.
    pub version: Option<u64>,
    /// Its digest.
    pub digest: Option<String>,
}

/// One page.
pub struct Answered {
    /// What was queried.
    pub over: Over,
    /// The rows.
    pub rows: Vec<Object<'static>>,
    /// How many rows the filter means in all.
    pub total: u64,
    /// Where the next page begins, if there is one.
    pub next_cursor: Option<String>,
    /// When sources were read just now: at what time, and what they answered.
    pub live: Option<super::live::Read>,
    /// What the caller should know of the dataset.
    pub warning: Option<Fault>,
}

pub(super) fn answer(desk: &Desk, query: &Query) -> Outcome<Answered> {
    check(desk, query)?;
    let filter = query.whole_filter();
    let over = [desk.over.dataset.as_str(), desk.over.digest.as_deref().unwrap_or_default(), desk.viewer];
    let offset = match &query.cursor {
        None => query.offset,
        Some(text) => Cursor::from_text(text, &desk.key, query, &over).map_err(|_| bad_cursor())?.offset,
    };
    let (parts, cache) = (&desk.opened.parts, &desk.cache);
    let found = page(parts, cache, &filter, &query.sort, (offset, query.limit)).map_err(failed)?;
    let rows = rows(desk, query, &found.rows)?;
    let end = offset + rows.len() as u64;
    let more = !rows.is_empty() && end < found.total;
    let next_cursor = more.then(|| Cursor { offset: end }.to_text(&desk.key, query, &over));
    Ok(Answered {
        over: desk.over.clone(),
        rows,
        total: found.total,
        next_cursor,
        live: None,
        warning: desk.warning.clone(),
    })
}

/// Every name is one that there is, and every comparison makes sense.
fn check(desk: &Desk, query: &Query) -> Outcome<()> {
    let fields = &desk.opened.fields;
    let filtered = query.filter.fields();
    let sorted = query.sort.iter().map(|sort| sort.field.as_str());
    let wanted = query.fields.iter().flatten().map(String::as_str);
    for name in filtered.chain(sorted).chain(wanted) {
        if !fields.leads(name) {
            let known = std::iter::once("id").chain(fields.iter().map(|(name, _)| name));
            return Err(unknown_field(&desk.over.cited, name, known));
        }
    }
    let filter = heldset_core::query::with_text_ids(&query.filter);
    check_kinds(&filter, &|name| fields.kind_at(name)).map_err(refused)
}

fn rows(desk: &Desk, query: &Query, places: &[(usize, usize)]) -> Outcome<Vec<Object<'static>>> {
    let mut rows = vec![Object::new(); places.len()];
    let mut by_part: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, (part, _)) in places.iter().enumerate() {
        match by_part.iter_mut().find(|(known, _)| known == part) {
            Some((_, found)) => found.push(at),
            None => by_part.push((*part, vec![at])),
        }
    }
    for (part, found) in by_part {
        let wanted: Vec<usize> = found.iter().map(|at| places[*at].1).collect();
        let mut few = Few::new(&*desk.opened.parts[part], &desk.cache, &wanted);
        // A field that was asked for is there in every row.
        for name in query.fields.as_deref().unwrap_or(&["id".to_owned()]) {
            for (at, value) in found.iter().zip(few.field(name).map_err(failed)?) {
                rows[*at].set(name.clone(), value);
            }
        }
        if query.fields.is_none() {
            for (at, record) in found.iter().zip(few.records().map_err(failed)?) {
                record.into_iter().for_each(|(name, value)| rows[*at].set(name, value));
            }
        }
    }
    Ok(rows)
}

impl Answered {
    /// The rows as lines of JSON.
    pub fn lines(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for row in &self.rows {
            write_row(row, &mut out);
            out.push(b'\n');
        }
        out
    }
}

/// A row as JSON, its fields in the order they were asked for.
fn write_row(row: &Object<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (name, value)) in row.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        canonical::write_text(name, out);
        out.push(b':');
        canonical::write(value, out);
    }
    out.push(b'}');
}
