//! A version as one audience sees it at one place: the only way from stored bytes to rows that leave.
//!
//! *Invariant:* built from the objects the audience may read, not from whole rows with fields removed. The entry in
//! the audit log is written before the first row is handed out, durably if anything in the view is sealed. What the
//! audience may not see is not known here: no error and no count differs by it.

use std::collections::BTreeSet;

use heldset_core::code::Code;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::Object;
use heldset_core::visibility::{Grant, Label, Place, SplitLabels, Viewer, decide};
use heldset_core::{canonical, digest::Digest};
use heldset_store::documents::{AuditDoc, SplitDoc, VersionDoc};
use heldset_store::pack::Group;
use heldset_store::{DatasetKeys, Held, StoreError};

use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, Resolved, policy_of, resolve};
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::status;

/// What is looked at.
pub struct Look<'l> {
    /// The dataset and version.
    pub cite: &'l str,
    /// One split; all that can be seen when absent.
    pub split: Option<&'l str>,
    /// Where the rows go; the usual place of the audience when absent.
    pub place: Option<Place>,
    /// The verb.
    pub purpose: &'l str,
}

/// A version as an audience sees it.
pub struct View<'s> {
    session: &'s Session,
    viewer: Viewer,
    /// The dataset and version.
    pub resolved: Resolved,
    /// The splits that were asked for and can be seen, in order.
    pub splits: Vec<VisibleSplit>,
    grant: Grant,
    keys: Option<DatasetKeys>,
    /// Keeps objects from being collected while they are read.
    _held: Option<Held>,
}

/// A split that can be seen.
pub struct VisibleSplit {
    /// What the version says of it.
    pub doc: SplitDoc,
    /// The labels of its fields.
    pub labels: SplitLabels,
}

/// Some rows of a split, as far as they can be seen.
pub struct Batch {
    groups: Vec<Group>,
}

impl<'s> View<'s> {
    /// Opens a view of records or files; the look is logged.
    pub fn open(session: &'s Session, look: &Look<'_>) -> Outcome<View<'s>> {
        let held = session.store.hold()?;
        // Before the version is looked for: a draft has none.
        status::usable(&resolve::dataset(&session.store, &resolve::parse(look.cite)?.slug)?, look.purpose)?;
        let resolved = resolve(&session.store, look.cite)?;
        View::held(session, resolved, look, held, session.viewer)
    }

    /// Opens a view of a version that is already resolved.
    pub fn of(session: &'s Session, resolved: Resolved, look: &Look<'_>) -> Outcome<View<'s>> {
        View::seen_by(session, resolved, look, session.viewer)
    }

    /// Opens a view of a version for somebody the caller acts for, such as the agent of a run.
    pub(crate) fn seen_by(
        session: &'s Session,
        resolved: Resolved,
        look: &Look<'_>,
        viewer: Viewer,
    ) -> Outcome<View<'s>> {
        let held = session.store.hold()?;
        View::held(session, resolved, look, held, viewer)
    }

    fn held(
        session: &'s Session,
        resolved: Resolved,
        look: &Look<'_>,
        held: Option<Held>,
        viewer: Viewer,
    ) -> Outcome<View<'s>> {
        status::usable(&resolved.dataset, look.purpose)?;
        let place = look.place.unwrap_or_else(|| viewer.place());
        let grant = decide(&resolved.policy, viewer, place);
        let mut splits = splits_for(viewer, &resolved)?;
        if let Some(name) = look.split {
            let known: Vec<String> = splits.iter().map(|split| split.doc.name.clone()).collect();
            splits.retain(|split| split.doc.name == name);
            if splits.is_empty() {
                let message = format!("{} has no split `{name}`", cited(&resolved));
                return Err(Refusal::unknown(message, name, known.iter().map(String::as_str)));
            }
        }
        let sealed = |split: &VisibleSplit| {
            let labels = split.labels.labels().iter().chain([split.labels.own()]);
            labels.into_iter().any(|label| !label.is_open() && grant.covers(label))
        };
        let keys = match splits.iter().any(sealed) {
            true => resolve::keys_of(&session.store, &resolved.dataset)?,
            false => None,
        };
        if keys.is_none() && splits.iter().any(|split| split.doc.rows > 0 && sealed(split)) {
            return Err(StoreError::NoKey { dataset: resolved.dataset.slug.clone() }.into());
        }
        let view = View { session, viewer, resolved, splits, grant, keys, _held: held };
        view.check_movement(place, look.purpose)?;
        view.log(place, look.purpose, true, None)?;
        Ok(view)
    }

    /// The grant that the view was opened with.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The labels of what can be seen, over all its splits.
    pub fn labels(&self) -> Vec<Label> {
        let mut labels: Vec<Label> = Vec::new();
        for split in &self.splits {
            let own = std::iter::once(split.labels.own());
            for label in own.chain(split.labels.labels()).filter(|label| self.grant.covers(label)) {
                if !labels.contains(label) {
                    labels.push(label.clone());
                }
            }
        }
        labels
    }

    /// What is needed to read the rows of a split.
    pub fn reading<'v>(&'v self, split: &'v VisibleSplit) -> Reading<'v> {
        Reading {
            store: &self.session.store,
            keys: self.keys.as_ref(),
            dataset: &self.resolved.dataset.id,
            labels: &split.labels,
            grant: &self.grant,
        }
    }

    /// The rows of a split of records at rest.
    pub fn rows(&self, split: &VisibleSplit) -> Outcome<SplitRows> {
        Ok(SplitRows::load(&self.session.store, &self.resolved.dataset.id, &split.doc)?)
    }

    /// Hands out all rows of a split of records, in order.
    pub fn each_batch(&self, split: &VisibleSplit, mut take: impl FnMut(&Batch) -> Outcome<()>) -> Outcome<()> {
        let rows = self.rows(split)?;
        let reading = self.reading(split);
        for run in rows.runs()? {
            let groups = reading.groups(&rows.packs[run.pack].1, &run.rows).map_err(|error| self.named(error))?;
            take(&Batch { groups })?;
        }
        Ok(())
    }

    /// The record with this id, as a batch of one row, and where it is.
    pub fn find(&self, split: &VisibleSplit, id: &str) -> Outcome<Option<Batch>> {
        let rows = self.rows(split)?;
        let reading = self.reading(split);
        let located = rows.locate(&reading, id).map_err(|error| self.named(error))?;
        let Some((_, place, row)) = located else { return Ok(None) };
        let range = row..row + 1;
        let groups = reading.groups(&rows.packs[place.pack].1, std::slice::from_ref(&range));
        let groups = groups.map_err(|error| self.named(error))?;
        Ok(Some(Batch { groups }))
    }

    /// The error with the name that people know the dataset by.
    fn named(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::NoKey { .. } => StoreError::NoKey { dataset: self.resolved.dataset.slug.clone() },
            error => error,
        }
    }

    fn check_movement(&self, place: Place, purpose: &str) -> Outcome<()> {
        let mut held: Vec<String> = Vec::new();
        for split in &self.splits {
            held.extend(self.grant.held_back(&split.labels).iter().map(|label| format!("`{}`", label.name())));
        }
        held.sort();
        held.dedup();
        if held.is_empty() {
            return Ok(());
        }
        self.log(place, purpose, false, Some("movement"))?;
        Err(Refusal::denied(
            Code::E121,
            format!("{} may not travel to `{}`", held.join(", "), place.name()),
            "name a place the policy allows with `--place`, or allow it under `movement` in a new version",
        ))
    }

    fn log(&self, place: Place, purpose: &str, allowed: bool, note: Option<&str>) -> Outcome<()> {
        let labels = self.labels();
        let sealed = labels.iter().any(|label| !label.is_open());
        let entry = AuditDoc {
            time: self.session.clock.now(),
            who: self.session.user.clone(),
            audience: self.viewer.name().to_owned(),
            place: place.name().to_owned(),
            purpose: purpose.to_owned(),
            dataset: self.resolved.dataset.slug.clone(),
            version: self.resolved.version.digest.clone(),
            splits: self.splits.iter().map(|split| split.doc.name.clone()).collect(),
            labels: labels.iter().map(|label| label.name().to_owned()).collect(),
            rows: self.splits.iter().map(|split| split.doc.rows).sum(),
            allowed,
            note: note.map(str::to_owned),
        };
        Ok(log::append(self.session, &entry, sealed || !allowed)?)
    }
}

impl Batch {
    /// Rows whose groups were opened, the one with the ids first.
    pub(crate) fn of(groups: Vec<Group>) -> Self {
        Batch { groups }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.groups.first().map_or(0, Group::rows)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id of a row.
    pub fn id(&self, row: usize) -> &str {
        self.groups.first().and_then(|group| group.id(row)).unwrap_or_default()
    }

    /// The groups, by label.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Appends a row as a JSON mapping, the id first.
    pub fn write_json(&self, row: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":");
        canonical::write_text(self.id(row), out);
        self.groups.iter().for_each(|group| group.write_entries(row, out));
        out.push(b'}');
    }

    /// A row as a record.
    pub fn record(&self, row: usize) -> Result<Record<'_>, StoreError> {
        let id = RecordId::from_text(self.id(row), "id").map_err(|_| StoreError::damaged("an id at rest"))?;
        let mut fields = Object::new();
        self.groups.iter().for_each(|group| group.add_fields(row, &mut fields));
        Ok(Record { id, fields })
    }
}

/// The splits of a version whose ids the caller may see.
pub fn visible_splits(session: &Session, resolved: &Resolved) -> Outcome<Vec<VisibleSplit>> {
    splits_for(session.viewer, resolved)
}

fn splits_for(viewer: Viewer, resolved: &Resolved) -> Outcome<Vec<VisibleSplit>> {
    let mut splits = Vec::new();
    for doc in &resolved.version.splits {
        let labels = resolved.policy.in_split(&doc.name)?;
        if viewer.sees(labels.own()) {
            splits.push(VisibleSplit { doc: doc.clone(), labels });
        }
    }
    Ok(splits)
}

/// The names of splits that the caller may not know, as the newest of these versions with such a split says.
pub(crate) fn hidden_splits(session: &Session, versions: &[VersionDoc]) -> Outcome<BTreeSet<String>> {
    let mut hidden = BTreeSet::new();
    for version in versions {
        let policy = policy_of(version)?;
        for split in &version.splits {
            match session.viewer.sees(policy.in_split(&split.name)?.own()) {
                true => hidden.remove(&split.name),
                false => hidden.insert(split.name.clone()),
            };
        }
    }
    Ok(hidden)
}

/// A version as people cite it.
pub fn cited(resolved: &Resolved) -> String {
    format!("version `{}@{}`", resolved.dataset.slug, resolved.version.number)
}

/// The digest of a version.
pub fn digest_of(resolved: &Resolved) -> Outcome<Digest> {
    let damaged = |_| StoreError::damaged("catalog: the digest of a version");
    Ok(resolved.version.digest.parse().map_err(damaged)?)
}
