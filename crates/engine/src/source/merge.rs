//! The records of a split after a sync: those of the synced sources anew, all others as they are.
//!
//! *Invariant:* an id belongs to one source. A source keeps its place among the others, so that what did not change
//! makes no new version. What is read here under upkeep is only written back.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::mapping::SOURCE_FIELD;
use heldset_core::value::Value;
use heldset_core::visibility::upkeep;
use heldset_dialect::{Body, Files, Input, NoFiles};
use heldset_store::registry::FeedDoc;

use super::frame::Frame;
use crate::import::Target;
use crate::ports::Sources;
use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::view::Batch;

/// Records on their way into a split.
pub(super) struct Merged {
    name: String,
    pieces: Arc<Vec<Vec<u8>>>,
}

/// A source with what it gave.
pub(super) type Given<'g> = (&'g FeedDoc, &'g [Frame]);

/// The records of a split with those of some sources put in their place.
pub(super) fn merge(
    session: &Session,
    target: &Target,
    split: &str,
    given: &[Given<'_>],
    docs: &[FeedDoc],
) -> Outcome<Merged> {
    let mut merging = Merging { pieces: Vec::new(), ids: HashMap::new(), docs };
    let mut left: Vec<&Given<'_>> = given.iter().collect();
    each_kept(session, target, split, |batch, row| {
        let record = batch.record(row)?;
        let source = record.fields.get(SOURCE_FIELD).and_then(Value::as_str);
        if let Some(place) = left.iter().position(|(doc, _)| Some(doc.id.as_str()) == source) {
            let (doc, frames) = left.remove(place);
            return merging.give(doc, frames);
        }
        let replaced = given.iter().any(|(doc, _)| Some(doc.id.as_str()) == source);
        let removed = source.is_some_and(|id| docs.iter().all(|doc| doc.id != id));
        if replaced || removed {
            return Ok(());
        }
        merging.note(record.id.as_str(), source)?;
        let piece = merging.open_piece();
        batch.write_json(row, piece);
        piece.push(b'\n');
        Ok(())
    })?;
    for (doc, frames) in left {
        merging.give(doc, frames)?;
    }
    let name = format!("{} sources.jsonl", target.dataset.slug);
    Ok(Merged { name, pieces: Arc::new(merging.pieces) })
}

fn each_kept(
    session: &Session,
    target: &Target,
    split: &str,
    mut take: impl FnMut(&Batch, usize) -> Outcome<()>,
) -> Outcome<()> {
    let Some((version, policy)) = &target.head else { return Ok(()) };
    let Some(doc) = resolve::split(version, split) else { return Ok(()) };
    if doc.files {
        let message = format!("split `{split}` holds files, and a source gives records");
        return Err(Refusal::usage(Code::E103, message, "declare another `split` for the source"));
    }
    let labels = policy.in_split(split)?;
    let rows = SplitRows::load(&session.store, &target.dataset.id, doc)?;
    let (grant, keys) = (upkeep(), Some(&target.keys));
    let reading = Reading { store: &session.store, keys, dataset: &target.dataset.id, labels: &labels, grant: &grant };
    for run in rows.runs()? {
        let batch = Batch::of(reading.groups(&rows.packs[run.pack].1, &run.rows)?);
        for row in 0..batch.len() {
            take(&batch, row)?;
        }
    }
    Ok(())
}

struct Merging<'m> {
    pieces: Vec<Vec<u8>>,
    /// Ids, and the sources they are from.
    ids: HashMap<Box<str>, Option<Box<str>>>,
    docs: &'m [FeedDoc],
}

impl Merging<'_> {
    /// Puts in all records of a source.
    fn give(&mut self, doc: &FeedDoc, frames: &[Frame]) -> Outcome<()> {
        for frame in frames {
            for id in &frame.ids {
                self.note(id, Some(&doc.id))?;
            }
            self.pieces.push(frame.lines.clone());
        }
        self.pieces.push(Vec::new());
        Ok(())
    }

    fn open_piece(&mut self) -> &mut Vec<u8> {
        if self.pieces.is_empty() {
            self.pieces.push(Vec::new());
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    fn note(&mut self, id: &str, source: Option<&str>) -> Outcome<()> {
        let Some(other) = self.ids.insert(id.into(), source.map(Into::into)) else { return Ok(()) };
        let named = |source: Option<&str>| match source {
            None => "among the records that were imported".to_owned(),
            Some(id) => {
                let doc = self.docs.iter().find(|doc| doc.id == id);
                format!("in source `{}`", doc.map_or(id, |doc| doc.display_name.as_str()))
            }
        };
        Err(Refusal::invalid(
            Code::E012,
            format!("duplicate id `{id}`: it is {} and {}", named(other.as_deref()), named(source)),
            "take ids from another path with `id_from`, or give one of them a `split` of its own",
        ))
    }
}

impl Sources for Merged {
    fn len(&self) -> usize {
        1
    }

    fn name(&self, _index: usize) -> String {
        self.name.clone()
    }

    fn open(&self, _index: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        let body = Body::Stream(Box::new(Pieces { pieces: Arc::clone(&self.pieces), piece: 0, at: 0 }));
        Ok((Input { name: self.name.clone(), body }, Box::new(NoFiles)))
    }

    fn digest(&self, _index: usize) -> io::Result<(u64, String)> {
        // What was read is told page by page.
        Ok((0, String::new()))
    }
}

struct Pieces {
    pieces: Arc<Vec<Vec<u8>>>,
    piece: usize,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(piece) = self.pieces.get(self.piece) {
            let rest = &piece[self.at..];
            if rest.is_empty() {
                (self.piece, self.at) = (self.piece + 1, 0);
                continue;
            }
            let count = rest.len().min(out.len());
            out[..count].copy_from_slice(&rest[..count]);
            self.at += count;
            return Ok(count);
        }
        Ok(0)
    }
}
