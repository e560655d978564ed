//! Inferring a schema: from a version as the caller sees it, from files, from rows of any source.
//!
//! *Invariant:* every row is looked at; from a version, only what the caller may see.

use std::collections::HashMap;
use std::io;

use heldset_core::fault::Fault;
use heldset_core::infer::{Inference, Inferred, Shape};
use heldset_core::query::SOURCE_FIELD;
use heldset_core::record::Record;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Place;
use heldset_dialect::{Each, ReadOptions, Take, read};
use heldset_store::documents::{Document, prefix};
use heldset_store::registry::FeedDoc;

use crate::Listener;
use crate::import::unreadable;
use crate::ports::Sources;
use crate::refusal::Outcome;
use crate::session::Session;
use crate::source::{Reach, sample_rows};
use crate::view::{Look, View, VisibleSplit};

/// What the records of a version show. Its splits are the sources, and so is each source that rows were synced from.
pub fn infer(session: &Session, cite: &str, place: Option<Place>) -> Outcome<Inferred> {
    let view = View::open(session, &Look { cite, split: None, place, purpose: "schema infer" })?;
    let names = source_names(session, &view.resolved.dataset.id)?;
    let mut inference = Inference::default();
    for split in view.splits.iter().filter(|split| !split.doc.files) {
        view.each_batch(split, |batch| {
            for row in 0..batch.len() {
                let record = batch.record(row)?;
                let synced = record.fields.get(SOURCE_FIELD).and_then(Value::as_str);
                let name = synced.map_or(split.doc.name.as_str(), |id| names.get(id).map_or(id, String::as_str));
                inference.source(name).record(&record);
            }
            Ok(())
        })?;
    }
    Ok(inference.finish())
}

/// What the sources of a dataset show now.
pub fn infer_live(session: &Session, reach: Reach<'_>, slug: &str) -> Outcome<Inferred> {
    let mut inference = Inference::default();
    for (name, rows) in sample_rows(session, reach, slug, &[], None)? {
        infer_rows(&mut inference, &name, rows.iter().map(|(_, row)| row));
    }
    Ok(inference.finish())
}

/// The names of the sources of a dataset, by their ids.
fn source_names(session: &Session, dataset: &str) -> Outcome<HashMap<String, String>> {
    let feeds = session.store.catalog().scan("feed", &prefix(&[dataset]))?;
    let read = feeds.iter().map(|(_, bytes)| FeedDoc::from_bytes(bytes, "catalog: a source"));
    let read = read.map(|doc| doc.map(|doc| (doc.id, doc.display_name)));
    Ok(read.collect::<Result<_, _>>()?)
}

/// What the records of a view show, all splits together.
pub(crate) fn shape_of(view: &View<'_>) -> Outcome<Shape> {
    let mut shape = Shape::default();
    for split in view.splits.iter().filter(|split| !split.doc.files) {
        add_split(view, split, &mut shape)?;
    }
    Ok(shape)
}

fn add_split(view: &View<'_>, split: &VisibleSplit, shape: &mut Shape) -> Outcome<()> {
    view.each_batch(split, |batch| {
        for row in 0..batch.len() {
            shape.record(&batch.record(row)?);
        }
        Ok(())
    })
}

/// Adds the rows of a source.
pub fn infer_rows<'r>(inference: &mut Inference, source: &str, rows: impl IntoIterator<Item = &'r Object<'r>>) {
    let shape = inference.source(source);
    rows.into_iter().for_each(|row| shape.row(row));
}

/// What the records of files show, and how many faults there were, which the listener was told of.
pub fn infer_files(
    sources: &dyn Sources,
    reading: &ReadOptions,
    listener: &mut dyn Listener,
) -> Outcome<(Inferred, u64)> {
    let mut inference = Inference::default();
    let mut faults = 0;
    for index in 0..sources.len() {
        let name = sources.name(index);
        let failed = |error: io::Error| unreadable(&name, &error);
        let (input, files) = sources.open(index).map_err(failed)?;
        let shape = inference.source(&name);
        let mut taking = Taking { shape, listener: &mut *listener, file: &name };
        let report = read(input, reading, &*files, &Whole, &mut taking).map_err(failed)?;
        if report.ids_given > 0 && report.ids_given == report.read {
            taking.shape.leave_out("id");
        }
        faults += report.faults;
    }
    Ok((inference.finish(), faults))
}

/// Records are looked at as they are.
struct Whole;

impl Each for Whole {
    type Out = Record<'static>;
    type Scratch = ();

    fn record(&self, _scratch: &mut (), record: Record<'_>) -> Record<'static> {
        record.into_owned()
    }
}

struct Taking<'t> {
    shape: &'t mut Shape,
    listener: &'t mut dyn Listener,
    file: &'t str,
}

impl Take<Record<'static>> for Taking<'_> {
    fn record(&mut self, record: Record<'static>) -> io::Result<()> {
        self.shape.record(&record);
        Ok(())
    }

    fn fault(&mut self, fault: &Fault, _row: Option<&[u8]>) -> io::Result<()> {
        let file = fault.file.clone().unwrap_or_else(|| self.file.to_owned());
        self.listener.fault(&fault.clone().in_file(Some(&file)))
    }

    fn progress(&mut self, bytes: u64, rows: u64) -> io::Result<()> {
        self.listener.progress(bytes, rows);
        Ok(())
    }
}
