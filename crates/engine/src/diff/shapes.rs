//! How the schemas of two versions differ: those that were registered, else those that their records show.
//!
//! *Invariant:* only what the caller can see counts. Chunks that both versions have are read only if the others do not
//! settle it.

use std::collections::HashSet;

use heldset_core::digest::Digest;
use heldset_core::infer::Shape;
use heldset_core::schema::{Change, ChangeKind, Schema, change};

use super::{SchemaChange, Side};
use crate::refusal::Outcome;
use crate::rows::SplitRows;
use crate::schema::registered;
use crate::session::Session;
use crate::view::{Batch, View, VisibleSplit};

impl From<Change> for SchemaChange {
    fn from(change: Change) -> Self {
        match change.kind {
            _ if change.is_same() => SchemaChange::Same,
            ChangeKind::NonBreaking => SchemaChange::NonBreaking,
            ChangeKind::Breaking => SchemaChange::Breaking,
        }
    }
}

/// How the schemas differ; `same_records` says that nothing else does.
pub(super) fn compare(session: &Session, a: &Side<'_>, b: &Side<'_>, same_records: bool) -> Outcome<SchemaChange> {
    let (before, after) = (registered(session, a.cited())?, registered(session, b.cited())?);
    match (before, after) {
        (Some(before), Some(after)) => Ok(change(&before, &after).into()),
        (None, None) if same_records => Ok(SchemaChange::Same),
        (None, None) => shown(a.view(), b.view()),
        // The first schema breaks nobody; to be without one again may.
        (None, Some(_)) => Ok(SchemaChange::NonBreaking),
        (Some(_), None) => Ok(SchemaChange::Breaking),
    }
}

/// How the records of two versions differ in shape.
fn shown(a: Option<&View<'_>>, b: Option<&View<'_>>) -> Outcome<SchemaChange> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(SchemaChange::Same) };
    let (before, after) = (Part::of(a)?, Part::of(b)?);
    let common: HashSet<Digest> = before.roots().intersection(&after.roots()).copied().collect();
    let apart = |root: &Digest| !common.contains(root);
    let (mut old, mut new) = (before.shape(&apart)?, after.shape(&apart)?);
    if old.rows() == 0 && new.rows() == 0 || old.same_as(&new) {
        return Ok(SchemaChange::Same);
    }
    let both = before.shape(&|root| common.contains(root))?;
    old.merge(&both);
    new.merge(&both);
    // Where there is no record at all, nothing is shown that could have changed.
    if old.rows() == 0 || new.rows() == 0 {
        return Ok(SchemaChange::Same);
    }
    let (old, new): (Schema, Schema) = (old.schema(), new.schema());
    Ok(change(&old, &new).into())
}

/// The splits of records of one version.
struct Part<'v, 's> {
    view: &'v View<'s>,
    splits: Vec<(&'v VisibleSplit, SplitRows)>,
}

impl<'v, 's> Part<'v, 's> {
    fn of(view: &'v View<'s>) -> Outcome<Part<'v, 's>> {
        let splits = view.splits.iter().filter(|split| !split.doc.files);
        let splits = splits.map(|split| Ok((split, view.rows(split)?))).collect::<Outcome<_>>()?;
        Ok(Part { view, splits })
    }

    fn roots(&self) -> HashSet<Digest> {
        self.splits.iter().flat_map(|(_, rows)| rows.chunks.iter().map(|(root, _)| *root)).collect()
    }

    /// What the records of some chunks show.
    fn shape(&self, wanted: &dyn Fn(&Digest) -> bool) -> Outcome<Shape> {
        let mut shape = Shape::default();
        for (split, rows) in &self.splits {
            let reading = self.view.reading(split);
            let chunks = rows.chunks.iter().enumerate().filter(|(_, (root, _))| wanted(root)).map(|(index, _)| index);
            for run in rows.runs_of(chunks)? {
                let batch = Batch::of(reading.groups(&rows.packs[run.pack].1, &run.rows)?);
                for row in 0..batch.len() {
                    shape.record(&batch.record(row)?);
                }
            }
        }
        Ok(shape)
    }
}
