//! `copies`: what left the store: exports, mounts, reports, each with its owner, place, labels, expiry and state.
//!
//! *Invariant:* the entry of a copy is written before the copy has its name.

use heldset_core::code::Code;
use heldset_core::visibility::{Label, Place, Policy, PolicyDraft};
use heldset_store::catalog::Batch;
use heldset_store::documents::{CopyDoc, Document, copy_key, last_part, prefix};
use heldset_store::run::RunDoc;

use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::session::Session;
use crate::view::View;

/// The labels that results have.
const RESULTS: [&str; 2] = ["internal", "evaluator_only"];

/// A copy with its id.
pub struct Copy {
    /// The id.
    pub id: String,
    /// What is known of it.
    pub doc: CopyDoc,
}

/// Lists the copies of a dataset, oldest first.
pub fn copies(session: &Session, slug: &str) -> Outcome<Vec<Copy>> {
    session.must_manage("copies")?;
    let dataset = resolve::dataset(&session.store, &resolve::parse(slug)?.slug)?;
    let mut copies = Vec::new();
    for (key, bytes) in session.store.catalog().scan("copy", &prefix(&[&dataset.id]))? {
        let doc = CopyDoc::from_bytes(&bytes, &format!("catalog: a copy of {}", dataset.slug))?;
        copies.push(Copy { id: last_part(&key).to_owned(), doc });
    }
    copies.sort_by(|a, b| (&a.doc.made_at, &a.id).cmp(&(&b.doc.made_at, &b.id)));
    Ok(copies)
}

/// Writes the entry of a copy of what a view shows.
pub(crate) fn keep(session: &Session, view: &View<'_>, kind: &str, at: &str) -> Outcome<CopyDoc> {
    let resolved = &view.resolved;
    let made = Made { kind, at, place: view.grant().place(), dataset: &resolved.dataset.id };
    made.keep(session, resolved.version.number, &resolved.policy, &view.labels())
}

/// Writes the entry of a copy of results; the policy of the version may forbid it.
pub(crate) fn keep_results(session: &Session, run: &RunDoc, kind: &str, place: Place, at: &str) -> Outcome<CopyDoc> {
    let policy = may_travel(session, run, place)?;
    let labels: Vec<Label> = RESULTS.iter().filter_map(|name| policy.label(name)).collect();
    Made { kind, at, place, dataset: &run.dataset_id }.keep(session, run.version, &policy, &labels)
}

/// Refuses results of a run to a place that the policy of its version, or the built-in rule, closes to them.
pub(crate) fn may_travel(session: &Session, run: &RunDoc, place: Place) -> Outcome<Policy> {
    let policy = match resolve::resolve(&session.store, &format!("{}@{}", run.dataset, run.version)) {
        Ok(resolved) => resolved.policy,
        // The version may be gone since.
        Err(_) => PolicyDraft::default().resolve()?,
    };
    let closed = |name: &&&str| policy.label(name).is_some_and(|label| !policy.movement(&label).allows(place));
    let held: Vec<String> = RESULTS.iter().filter(closed).map(|name| format!("`{name}`")).collect();
    if held.is_empty() {
        return Ok(policy);
    }
    let message = format!("{} may not travel to `{}`", held.join(", "), place.name());
    let help = "name a place the policy allows with `--place`, or allow it under `movement` in a new version";
    Err(Refusal::denied(Code::E121, message, help))
}

/// A copy that is made.
struct Made<'m> {
    kind: &'m str,
    at: &'m str,
    place: Place,
    dataset: &'m str,
}

impl Made<'_> {
    fn keep(&self, session: &Session, version: u64, policy: &Policy, labels: &[Label]) -> Outcome<CopyDoc> {
        let made_at = session.clock.now();
        let days = labels.iter().filter_map(|label| policy.movement(label).retain_days).min();
        let doc = CopyDoc {
            kind: self.kind.to_owned(),
            owner: session.user.clone(),
            audience: session.viewer.name().to_owned(),
            place: self.place.name().to_owned(),
            at: self.at.to_owned(),
            version,
            labels: labels.iter().map(|label| label.name().to_owned()).collect(),
            expires_at: days.and_then(|days| after(&made_at, days)),
            made_at,
            state: "kept".to_owned(),
        };
        let mut batch = Batch { durable: true, ..Batch::default() };
        batch.put.push((copy_key(self.dataset, &session.new_id()), doc.to_bytes()?));
        session.store.commit(&batch)?;
        Ok(doc)
    }
}

/// The time so many days later.
fn after(time: &str, days: u32) -> Option<String> {
    let time: jiff::Timestamp = time.parse().ok()?;
    let later = time.checked_add(jiff::SignedDuration::from_hours(i64::from(days) * 24)).ok()?;
    Some(later.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn days_are_counted_over_months_and_leap_years() {
        for (time, days, expected) in [
            ("2026-05-01T12:00:00Z", 0, Some("2026-05-01T12:00:00Z")),
            ("2026-05-01T12:00:00Z", 31, Some("2026-06-01T12:00:00Z")),
            ("2028-02-28T00:00:00Z", 2, Some("2028-03-01T00:00:00Z")),
            ("2026-05-01T12:00:00Z", u32::MAX, None),
            ("soon", 1, None),
        ] {
            assert_eq!(after(time, days).as_deref(), expected, "{time} + {days}");
        }
    }
}
