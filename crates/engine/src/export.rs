//! `export`: the records of a split as an audience sees them, in a file of any dialect.
//!
//! *Invariant:* built on a view, so that what the audience may not see is not there to be written. The copy is on
//! record before the file has its name.

use std::io::{self, Write};

use heldset_core::code::Code;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Place;
use heldset_dialect::DatasetInfo;
use heldset_dialect::write::{Sidecar, Target, WriteOptions};

use crate::Listener;
use crate::cat::unwritten;
use crate::copies;
use crate::refusal::{Outcome, Refusal};
use crate::session::Session;
use crate::spool::{Spooled, Spooling, Temporary};
use crate::view::{Look, View, VisibleSplit, cited};

/// What is exported, and how.
pub struct ExportRequest<'e> {
    /// The dataset and version.
    pub cite: &'e str,
    /// The split; the only one when absent.
    pub split: Option<&'e str>,
    /// Where the file goes.
    pub place: Option<Place>,
    /// What is written.
    pub target: Target,
    /// What the writer may do.
    pub write: WriteOptions,
    /// Write what a dialect cannot carry as well as it can.
    pub lossy: bool,
}

/// Records that were exported and may be handed out, or not.
pub struct Export<'s> {
    session: &'s Session,
    view: View<'s>,
    spooled: Option<Spooled>,
    /// Whether nothing may be handed out, because the target cannot carry all of it.
    pub refused: bool,
    /// How many fields the target cannot carry.
    pub dropped: u64,
    /// The split.
    pub split: String,
    /// How many records there are.
    pub rows: u64,
}

/// Writes the records of a split into a temporary place.
pub fn export<'s>(
    session: &'s Session,
    request: &ExportRequest<'_>,
    temporary: Box<dyn Temporary>,
    listener: &mut dyn Listener,
) -> Outcome<Export<'s>> {
    let look = Look { cite: request.cite, split: request.split, place: request.place, purpose: "export" };
    crate::status::exportable(session, request.cite)?;
    let view = View::open(session, &look)?;
    let split = the_split(&view)?;
    let mut spooling = Spooling::new(request.target, request.write, temporary);
    let (each, mut rows) = (spooling.each(), 0);
    view.each_batch(split, |batch| {
        for row in 0..batch.len() {
            let written = each.row(&batch.record(row)?);
            spooling.take(written).map_err(|error| unwritten(&error))?;
        }
        rows += batch.len() as u64;
        listener.progress(0, rows);
        Ok(())
    })?;
    let spooled = spooling.finish(request.lossy, listener).map_err(|error| unwritten(&error))?;
    let split = split.doc.name.clone();
    let (refused, dropped) = (spooled.refused, spooled.dropped);
    Ok(Export { session, view, spooled: Some(spooled), refused, dropped, split, rows })
}

/// The one split of records that can be seen.
fn the_split<'v>(view: &'v View<'_>) -> Outcome<&'v VisibleSplit> {
    let records: Vec<&VisibleSplit> = view.splits.iter().filter(|split| !split.doc.files).collect();
    let names: Vec<String> = records.iter().map(|split| format!("`{}`", split.doc.name)).collect();
    match records.as_slice() {
        [one] => Ok(one),
        [] => Err(Refusal::usage(
            Code::E103,
            format!("{} has no records to export here", cited(&view.resolved)),
            "lay files out with `heldset mount`",
        )),
        _ => Err(Refusal::usage(
            Code::E103,
            format!("{} has several splits, and a file holds one: {}", cited(&view.resolved), names.join(", ")),
            "name one with `--split`",
        )),
    }
}

impl Export<'_> {
    /// Puts the copy on record, and says what stands beside it: which data it is, and for whom.
    pub fn keep(&self, at: &str) -> Outcome<Object<'static>> {
        let copy = copies::keep(self.session, &self.view, "export", at)?;
        let resolved = &self.view.resolved;
        let mut beside = Object::new();
        for (name, value) in [
            ("format", Value::from("heldset/export/1")),
            ("dataset", Value::from(resolved.dataset.slug.clone())),
            ("version", Value::Number(Number::from_u64(resolved.version.number))),
            ("digest", Value::from(resolved.version.digest.clone())),
            ("split", Value::from(self.split.clone())),
            ("rows", Value::Number(Number::from_u64(self.rows))),
            ("audience", Value::from(copy.audience)),
            ("place", Value::from(copy.place)),
            ("labels", Value::Array(copy.labels.into_iter().map(Value::from).collect())),
            ("made_at", Value::from(copy.made_at)),
            ("expires_at", copy.expires_at.map_or(Value::Null, Value::from)),
        ] {
            beside.set(name, value);
        }
        beside.set("checkpoint", crate::audit::checkpoint(self.session)?.to_value().into_owned());
        Ok(beside)
    }

    /// Hands out what was written, once, and what belongs beside it.
    pub fn write_to(&mut self, out: &mut (dyn Write + Send)) -> io::Result<Sidecar> {
        let dataset = &self.view.resolved.dataset;
        let info = DatasetInfo {
            name: Some(dataset.name.clone()),
            description: dataset.description.clone(),
            ..DatasetInfo::default()
        };
        match self.spooled.take() {
            Some(spooled) => spooled.write_to(&info, out),
            None => Ok(Sidecar::default()),
        }
    }
}
