//! `prepare`: the records that a caller sees become those of another dataset: cleaned, enriched, split.
//!
//! *Invariant:* made of a view, so that what the caller may not see is not in it; nothing in the output is seen by
//! more audiences than where it came from, and the dataset it came from stays as it is.

mod inherit;
mod labels;
mod lookup;
mod recorded;
mod rows;
mod write;

use heldset_core::code::Code;
use heldset_core::fault::nearest;
use heldset_core::prepare::{Counts, Preparation};
use heldset_core::visibility::Place;

use crate::Listener;
use crate::commit::Committed;
use crate::refusal::{Outcome, Refusal};
use crate::session::Session;
use crate::view::{Look, View, cited};
pub(crate) use recorded::preparation_of;
pub use recorded::{Recorded, recorded};
use rows::Part;

/// What is prepared, how, and where to.
pub struct PrepareRequest<'p> {
    /// The dataset and version.
    pub cite: &'p str,
    /// What is done.
    pub preparation: &'p Preparation,
    /// The dataset that is made, or gets a new version; `<slug>-prepared` when absent.
    pub to: Option<&'p str>,
    /// What is said of the version.
    pub message: Option<String>,
    /// Why more may be let out.
    pub declassify: Option<String>,
    /// Where the records go.
    pub place: Option<Place>,
    /// The version of the program, which is the code that made it.
    pub product: &'p str,
}

/// What was prepared.
pub struct Prepared {
    /// The id of the preparation.
    pub id: String,
    /// The version that was made, or found again.
    pub committed: Committed,
    /// What it was made of: slug, number, digest.
    pub from: (String, u64, String),
    /// How many records went in and came out.
    pub tally: Tally,
    /// The splits: name, label, rows.
    pub splits: Vec<(String, String, u64)>,
    /// Records that were left out.
    pub dropped: Vec<Dropped>,
    /// What splits have in common; nothing if there is one split.
    pub leaks: Option<LeakReport>,
    /// What somebody should know.
    pub notes: Vec<String>,
}

/// How many records, and what was done to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Records that were read.
    pub read: u64,
    /// Records that no filter meant.
    pub filtered: u64,
    /// Records that repeat an earlier one.
    pub deduplicated: u64,
    /// Records that came out.
    pub kept: u64,
    /// Records that a lookup found nothing for, over all lookups.
    pub unmatched: u64,
    /// What was done to values and fields.
    pub cleaned: Counts,
}

/// A record that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The split it was in.
    pub split: String,
    /// Its id.
    pub id: String,
    /// The id of the record that it repeats; nothing if a filter left it out.
    pub duplicate_of: Option<String>,
}

/// A record of a split of the output.
pub type At = (String, String);

/// What splits have in common that they should not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeakReport {
    /// The fields that were compared.
    pub fields: Vec<String>,
    /// How many pairs of records are nearly the same.
    pub near_duplicates: u64,
    /// The first of them, with how similar they are.
    pub pairs: Vec<(At, At, f64)>,
    /// Groups that are in several splits: one record in each.
    pub torn_groups: Vec<Vec<At>>,
    /// Whether there were too many records to compare all of them by their words.
    pub partial: bool,
}

/// Makes a version of another dataset from what the caller sees of this one.
pub fn prepare(session: &Session, request: &PrepareRequest<'_>, listener: &mut dyn Listener) -> Outcome<Prepared> {
    session.must_manage("prepare")?;
    let preparation = request.preparation;
    let split = preparation.from_split.as_deref();
    let look = Look { cite: request.cite, split, place: request.place, purpose: "prepare" };
    let view = View::open(session, &look)?;
    let slug = &view.resolved.dataset.slug;
    let to = request.to.map_or_else(|| format!("{slug}-prepared"), str::to_owned);
    if to == *slug {
        let message = format!("`{to}` cannot be prepared into itself");
        return Err(Refusal::usage(Code::E069, message, "name another dataset with `--to`"));
    }
    let parts = rows::read(&view, listener)?;
    let lookups = lookup::open(session, preparation, request.place)?;
    check_fields(&view, &parts, &lookups, preparation)?;
    let made = rows::make(&view, parts, &lookups, preparation)?;
    let sources = labels::Sources { view: &view, lookups: &lookups, preparation, made: &made };
    let declassify = request.declassify.as_deref();
    let (policy, mut notes, mut let_out) = sources.policy(session.viewer, declassify)?;
    let_out |= sources.check_derived(declassify)?;
    let inherited = inherit::metadata(&view.resolved.dataset, &lookups)?;
    let target = inherit::target(session, &to, &inherited)?;
    let_out |= labels::check_widening(&policy, &target, declassify)?;
    notes.extend(made.notes.iter().cloned());
    let job = write::Job { session, request, view: &view, lookups: &lookups, made: &made, let_out };
    let (id, committed) = job.register(target, policy, &inherited)?;
    let splits = committed.version.splits.iter().map(|split| (split.name.clone(), split.label.clone(), split.rows));
    let version = &view.resolved.version;
    Ok(Prepared {
        id,
        splits: splits.collect(),
        from: (slug.clone(), version.number, version.digest.clone()),
        tally: made.tally,
        leaks: rows::leaks(&made, preparation),
        dropped: made.dropped,
        notes,
        committed,
    })
}

/// Refuses names of fields that no record has, as far as the caller sees.
fn check_fields(view: &View<'_>, parts: &[Part], lookups: &[lookup::Opened], preparation: &Preparation) -> Outcome<()> {
    if parts.iter().all(|part| part.records.is_empty()) {
        return Ok(());
    }
    let mut known: std::collections::BTreeSet<&str> = parts.iter().flat_map(Part::names).collect();
    for lookup in lookups {
        for (_, here) in &lookup.asked.fields {
            if known.contains(here.as_str()) {
                let message = format!("the looked-up field `{here}` is already a field of {}", cited(&view.resolved));
                let help = format!("give it another name: `fields: {{{here}: {here}_2}}`");
                return Err(Refusal::usage(Code::E069, message, help));
            }
        }
    }
    known.extend(lookups.iter().flat_map(|lookup| &lookup.asked.fields).map(|(_, here)| here.as_str()));
    for (place, field) in preparation.named_fields() {
        let is_known = |name: &str| name == "id" || known.contains(name);
        let original = preparation.original(field, |name| is_known(first(name)) || known.contains(name));
        if !is_known(original) && !is_known(first(original)) {
            return Err(unknown_field(&cited(&view.resolved), &place, field, known.iter().copied()));
        }
    }
    Ok(())
}

/// The field that a dotted path starts at.
fn first(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// There is no such field, or none that can be seen.
fn unknown_field<'k>(
    data: &str,
    place: &str,
    field: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Box<Refusal> {
    let help = match nearest(field, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let names: Vec<String> = known.take(8).map(|name| format!("`{name}`")).collect();
            format!("there is {}", names.join(", "))
        }
    };
    Refusal::usage(Code::E062, format!("`{place}` names the field `{field}`, and {data} has none"), help)
}
