//! `copies`: what left the store: exports, mounts, each with its owner, place, labels, expiry and state.
//!
//! *Invariant:* the entry of a copy is written before the copy has its name.

use heldset_store::catalog::Batch;
use heldset_store::documents::{CopyDoc, Document, copy_key, last_part, prefix};

use crate::refusal::Outcome;
use crate::resolve;
use crate::session::Session;
use crate::view::View;

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
    let made_at = session.clock.now();
    let labels = view.labels();
    let days = labels.iter().filter_map(|label| view.resolved.policy.movement(label).retain_days).min();
    let doc = CopyDoc {
        kind: kind.to_owned(),
        owner: session.user.clone(),
        audience: session.viewer.name().to_owned(),
        place: view.grant().place().name().to_owned(),
        at: at.to_owned(),
        version: view.resolved.version.number,
        labels: labels.iter().map(|label| label.name().to_owned()).collect(),
        expires_at: days.and_then(|days| after(&made_at, days)),
        made_at,
        state: "kept".to_owned(),
    };
    let mut batch = Batch { durable: true, ..Batch::default() };
    batch.put.push((copy_key(&view.resolved.dataset.id, &session.new_id()), doc.to_bytes()?));
    session.store.commit(&batch)?;
    Ok(doc)
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
