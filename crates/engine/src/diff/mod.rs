//! `diff`: what two versions do not have in common, record by record.
//!
//! *Invariant:* compares what the caller can see and nothing else: a record that changed only where the caller may
//! not look has not changed. What lies in chunks that both versions have is not read.

mod detail;
mod shapes;
mod splits;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use heldset_core::visibility::{Place, Viewer};
use heldset_store::run::RunDoc;

use crate::refusal::Outcome;
use crate::resolve::{Resolved, resolve};
use crate::results::all_runs;
use crate::session::Session;
use crate::view::{Look, View, visible_splits};
use detail::Pair;
use splits::Compared;

/// What is compared.
pub struct DiffRequest<'d> {
    /// The one version.
    pub a: &'d str,
    /// The other.
    pub b: &'d str,
    /// One split; all that can be seen when absent.
    pub split: Option<&'d str>,
    /// Where the answer goes.
    pub place: Option<Place>,
    /// Whether the values of changed fields are wanted.
    pub values: bool,
}

/// What differs, in the order of the versions.
pub struct Difference {
    /// The one version.
    pub a: Resolved,
    /// The other.
    pub b: Resolved,
    /// Records that only the other has.
    pub added: Vec<Listed>,
    /// Records that only the one has.
    pub removed: Vec<Listed>,
    /// Records that both have, with different fields.
    pub changed: Vec<Changed>,
    /// Records that are in another split.
    pub moved: Vec<Moved>,
    /// How the schemas differ.
    pub schema: SchemaChange,
    /// Runs on the one version, whose results may be other ones now; for the owner alone.
    pub runs: Vec<String>,
}

/// A record, and its split.
pub struct Listed {
    /// The id; of a file, its path.
    pub id: String,
    /// The split.
    pub split: Arc<str>,
}

/// A record that changed.
pub struct Changed {
    /// The id; of a file, its path.
    pub id: String,
    /// The split it is in now.
    pub split: Arc<str>,
    /// What changed in it; at least one.
    pub fields: Vec<FieldChange>,
}

/// A field that changed.
pub struct FieldChange {
    /// Its name.
    pub name: String,
    /// What it was, as JSON that may be cut; absent if the field was, or if values are not wanted.
    pub before: Option<String>,
    /// What it is.
    pub after: Option<String>,
}

/// A record that moved.
pub struct Moved {
    /// The id.
    pub id: String,
    /// The split it was in.
    pub from: Arc<str>,
    /// The split it is in.
    pub to: Arc<str>,
}

/// How two schemas differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaChange {
    /// They are the same.
    Same,
    /// Who could use the one can use the other.
    NonBreaking,
    /// Somebody may have to act.
    Breaking,
}

impl SchemaChange {
    /// The name in answers.
    pub fn name(self) -> &'static str {
        match self {
            SchemaChange::Same => "same",
            SchemaChange::NonBreaking => "non_breaking",
            SchemaChange::Breaking => "breaking",
        }
    }
}

impl Difference {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        let records = [self.added.len(), self.removed.len(), self.changed.len(), self.moved.len()];
        records.iter().all(|count| *count == 0) && self.schema == SchemaChange::Same
    }
}

/// Compares two versions.
pub fn diff(session: &Session, request: &DiffRequest<'_>) -> Outcome<Difference> {
    let (a, b) = (resolve(&session.store, request.a)?, resolve(&session.store, request.b)?);
    // A split that only one of them has is all added or all removed; one that neither has is unknown.
    let lacks = |resolved: &Resolved| match request.split {
        Some(name) => visible_splits(session, resolved).map(|splits| splits.iter().all(|known| known.doc.name != name)),
        None => Ok(false),
    };
    let (in_a, in_b) = (!lacks(&a)?, !lacks(&b)?);
    let (a, b) = (Side::of(session, a, request, in_a || !in_b)?, Side::of(session, b, request, in_b)?);
    let mut compared = Vec::new();
    for name in names(&a, &b) {
        compared.push(Compared::of(session, a.view(), b.view(), name)?);
    }
    let mut changed = Vec::new();
    for split in &compared {
        split.changes(request.values, &mut changed)?;
    }
    let moved = moves(&mut compared, request.values, &mut changed)?;
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for split in compared {
        let listed = |found: splits::Found| Listed { id: found.id, split: split.name.clone() };
        added.extend(split.added.into_iter().map(listed));
        removed.extend(split.removed.into_iter().map(listed));
    }
    let nothing = added.is_empty() && removed.is_empty() && changed.is_empty() && moved.is_empty();
    let schema = shapes::compare(session, &a, &b, nothing)?;
    let (a, b) = (a.resolved(), b.resolved());
    let runs = affected(session, &a)?;
    Ok(Difference { a, b, added, removed, changed, moved, schema, runs })
}

/// The runs on a version.
fn affected(session: &Session, version: &Resolved) -> Outcome<Vec<String>> {
    if session.viewer != Viewer::Owner {
        return Ok(Vec::new());
    }
    let on_it = |run: &RunDoc| run.dataset_id == version.dataset.id && run.version == version.version.number;
    Ok(all_runs(session)?.into_iter().filter(on_it).map(|run| run.id).collect())
}

/// One of the two versions: a view of it, unless it lacks the split that is compared.
enum Side<'s> {
    Open(View<'s>),
    Without(Resolved),
}

impl<'s> Side<'s> {
    fn of(session: &'s Session, resolved: Resolved, request: &DiffRequest<'_>, open: bool) -> Outcome<Side<'s>> {
        if !open {
            return Ok(Side::Without(resolved));
        }
        let look = Look { cite: "", split: request.split, place: request.place, purpose: "diff" };
        View::of(session, resolved, &look).map(Side::Open)
    }

    fn view(&self) -> Option<&View<'s>> {
        match self {
            Side::Open(view) => Some(view),
            Side::Without(_) => None,
        }
    }

    fn cited(&self) -> &Resolved {
        match self {
            Side::Open(view) => &view.resolved,
            Side::Without(resolved) => resolved,
        }
    }

    fn resolved(self) -> Resolved {
        match self {
            Side::Open(view) => view.resolved,
            Side::Without(resolved) => resolved,
        }
    }
}

/// The splits that are compared: those of the one in order, then those that only the other has.
fn names(a: &Side<'_>, b: &Side<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for split in [a, b].into_iter().filter_map(Side::view).flat_map(|view| &view.splits) {
        if !names.contains(&split.doc.name) {
            names.push(split.doc.name.clone());
        }
    }
    names
}

/// Takes out what was removed from one split and added to another.
fn moves(compared: &mut [Compared<'_, '_>], values: bool, changed: &mut Vec<Changed>) -> Outcome<Vec<Moved>> {
    let mut moved = Vec::new();
    let mut pairs: BTreeMap<(usize, usize), Vec<Pair>> = BTreeMap::new();
    for ((from, row), (to, new_row)) in matches(compared) {
        let (from_name, to_name) = (compared[from].name.clone(), compared[to].name.clone());
        let found = &mut compared[to].added[new_row];
        found.taken = true;
        let (id, is) = (found.id.clone(), found.at);
        let found = &mut compared[from].removed[row];
        found.taken = true;
        if let (Some(was), Some(is)) = (found.at, is) {
            pairs.entry((from, to)).or_default().push((was, is));
        }
        moved.push(Moved { id, from: from_name, to: to_name });
    }
    for ((from, to), pairs) in pairs {
        splits::changes_between(&compared[from], &compared[to], &pairs, values, changed)?;
    }
    for split in compared {
        split.added.retain(|found| !found.taken);
        split.removed.retain(|found| !found.taken);
    }
    Ok(moved)
}

/// A split, and which of its rows that were removed or added.
type Spot = (usize, usize);

/// What was removed from one split and added to another, by id.
fn matches(compared: &[Compared<'_, '_>]) -> Vec<(Spot, Spot)> {
    let added = compared.iter().any(|split| !split.added.is_empty());
    let mut removed: HashMap<&str, Vec<Spot>> = HashMap::new();
    for (split, from) in compared.iter().enumerate().filter(|_| added && compared.len() > 1) {
        for (row, found) in from.removed.iter().enumerate() {
            removed.entry(&found.id).or_default().push((split, row));
        }
    }
    let mut matched = Vec::new();
    for (split, to) in compared.iter().enumerate() {
        for (row, found) in to.added.iter().enumerate() {
            let Some(from) = removed.get_mut(found.id.as_str()) else { continue };
            let alike = |spot: &Spot| compared[spot.0].removed[spot.1].at.is_some() == found.at.is_some();
            if let Some(index) = from.iter().position(alike) {
                matched.push((from.remove(index), (split, row)));
            }
        }
    }
    matched
}
