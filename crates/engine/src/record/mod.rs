//! `record`: one record: as it is, as it was, its history, a proof, a change.
//!
//! *Invariant:* a record's own version is the count of its distinct leaves along the history of the dataset. For one
//! who does not see all of the record it is the count of what can be seen, so that no change of the rest shows.

mod edit;
mod history;
mod proof;

pub use edit::{EditRequest, RemoveRequest, edit, remove};
pub use history::{RecordVersion, history};
pub use proof::{Proven, prove};

use heldset_core::cite::RecordCite;
use heldset_core::code::Code;
use heldset_core::visibility::Place;
use heldset_store::documents::VersionDoc;

use crate::cat::unknown_record;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{Resolved, policy_of, version, versions};
use crate::session::Session;
use crate::view::{Batch, Look, View, VisibleSplit};

/// Which record.
pub struct RecordRequest<'r> {
    /// The dataset and version.
    pub cite: &'r str,
    /// The id, and maybe which of the record's versions.
    pub id: &'r str,
    /// One split; the first that has the record when absent.
    pub split: Option<&'r str>,
    /// Where the record goes.
    pub place: Option<Place>,
}

/// A record that was found.
pub struct Found {
    /// The dataset and the version it was read from.
    pub resolved: Resolved,
    /// Its split.
    pub split: String,
    /// Its id.
    pub id: String,
    /// The record as JSON, the id first.
    pub json: Vec<u8>,
    /// Which of its own versions it is.
    pub own: Option<RecordVersion>,
}

/// Finds a record; with `numbered` also which of its own versions it is.
pub fn record(session: &Session, request: &RecordRequest<'_>, numbered: bool) -> Outcome<Found> {
    let at = At::find(session, request)?;
    let mut json = Vec::new();
    at.batch.write_json(0, &mut json);
    let number = at.view.resolved.version.number;
    let own = match numbered {
        true => {
            let until = until(session, &at.view.resolved)?;
            let trace = history::trace(session, &at.view.resolved, &until, &at.split.doc.name, &at.id, at.place)?;
            trace.into_iter().find(|version| version.versions.contains(&number))
        }
        false => None,
    };
    Ok(Found { resolved: at.view.resolved, split: at.split.doc.name, id: at.id, json, own })
}

/// A record in a view.
struct At<'s> {
    view: View<'s>,
    split: VisibleSplit,
    batch: Batch,
    id: String,
    place: Place,
}

impl<'s> At<'s> {
    /// Finds the record that is asked for: in the version that is cited, or where its own version is first.
    fn find(session: &'s Session, request: &RecordRequest<'_>) -> Outcome<At<'s>> {
        let view = open(session, request)?;
        let place = request.place.unwrap_or_else(|| session.viewer.place());
        for reading in RecordCite::readings(request.id) {
            match reading.version {
                None => {
                    if let Some((index, batch)) = first_with(&view, reading.id)? {
                        return Ok(At::of(view, index, batch, reading.id, place));
                    }
                }
                Some(number) => {
                    let Some((split, trace)) = history::find(session, &view, reading.id, place)? else { continue };
                    let known = trace.iter().find(|version| version.number == number);
                    let known = known.ok_or_else(|| no_such(&view, reading.id, number, trace.len()))?;
                    let resolved = at_number(session, &view.resolved, known.versions[0])?;
                    let look = Look { cite: "", split: Some(&split), place: request.place, purpose: "record" };
                    let view = View::of(session, resolved, &look)?;
                    if let Some((index, batch)) = first_with(&view, reading.id)? {
                        return Ok(At::of(view, index, batch, reading.id, place));
                    }
                }
            }
        }
        Err(unknown_record(&view, request.id))
    }

    fn of(mut view: View<'s>, index: usize, batch: Batch, id: &str, place: Place) -> At<'s> {
        let split = view.splits.swap_remove(index);
        At { view, split, batch, id: id.to_owned(), place }
    }
}

fn open<'s>(session: &'s Session, request: &RecordRequest<'_>) -> Outcome<View<'s>> {
    let look = Look { cite: request.cite, split: request.split, place: request.place, purpose: "record" };
    View::open(session, &look)
}

/// The first split that has the record, and the record.
fn first_with(view: &View<'_>, id: &str) -> Outcome<Option<(usize, Batch)>> {
    for (index, split) in view.splits.iter().enumerate().filter(|(_, split)| !split.doc.files) {
        if let Some(batch) = view.find(split, id)? {
            return Ok(Some((index, batch)));
        }
    }
    Ok(None)
}

/// The versions up to this one, oldest first.
fn until(session: &Session, resolved: &Resolved) -> Outcome<Vec<VersionDoc>> {
    let mut all = versions(&session.store, &resolved.dataset)?;
    all.retain(|version| version.number <= resolved.version.number);
    Ok(all)
}

fn at_number(session: &Session, resolved: &Resolved, number: u64) -> Outcome<Resolved> {
    let version = version(&session.store, &resolved.dataset, number)?;
    let policy = policy_of(&version)?;
    Ok(Resolved { dataset: resolved.dataset.clone(), version, policy })
}

fn no_such(view: &View<'_>, id: &str, number: u64, newest: usize) -> Box<Refusal> {
    let (slug, at) = (&view.resolved.dataset.slug, view.resolved.version.number);
    let message = format!("record `{id}` has no version `{number}` up to `{slug}@{at}`");
    Refusal::usage(Code::E102, message, format!("the newest is `{id}@{newest}`"))
}
