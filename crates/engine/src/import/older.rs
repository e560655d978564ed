//! Older versions of records, which a file may hold beside the newest: they become older versions of the dataset.
//!
//! *Invariant:* a state that the history of the dataset has already is not registered again.

use std::collections::BTreeSet;

use heldset_store::pack::Staged;

use super::stage::{Older, Staging, Stop};
use super::{About, Derivation, ImportRequest, Part, Taken, Target, register_one, split_draft};
use crate::Listener;
use crate::gather::{Gather, Packing};
use crate::ports::Sources;
use crate::refusal::Refusal;
use crate::resolve;
use crate::rows::SplitRows;
use crate::session::Session;

/// Registers the states before the newest: for each number that an older row has, every record as it was then.
pub(super) fn register(
    session: &Session,
    request: &ImportRequest<'_>,
    target: &mut Target,
    derivation: &Derivation,
    part: Part<'_>,
    sources: &dyn Sources,
) -> Result<(), Stop> {
    let labels = part.policy.in_split(part.split).map_err(Box::<Refusal>::from)?;
    let key = target.commit_key();
    let checker = target.checker()?;
    let (policy, profile) = (part.policy, part.profile);
    let staging = Staging { labels: &labels, key: &key, policy, profile, watch: false, schema: checker.as_ref() };
    let mut newest = Vec::new();
    let (_, older) = staging.read(sources, part.reading, &mut Nobody, &mut |staged| {
        newest.push(staged);
        Ok(())
    })?;
    let numbers: BTreeSet<u64> = older.iter().map(|(number, _)| *number).collect();
    for number in numbers {
        let known = SplitRows::known_under(&session.store, &target.dataset.id, part.split, labels.own().name())?;
        let sealing = target.sealing(session, part.split);
        let packing = Packing { store: &session.store, labels: &labels, sealing: &sealing };
        let gathered = std::thread::scope(|scope| {
            let mut gather = Gather::start(scope, packing, &known);
            for row in newest.iter().filter_map(|row| as_of(row, &older, number)) {
                gather.push(row.clone())?;
            }
            Ok::<_, Stop>(gather.finish()?)
        })?;
        let root = gathered.root.hex();
        let history = resolve::versions(&session.store, &target.dataset)?;
        let has = |split: &heldset_store::documents::SplitDoc| split.name == part.split && split.root == root;
        if gathered.rows == 0 || history.iter().any(|version| version.splits.iter().any(has)) {
            continue;
        }
        let about = About { message: Some(format!("records as of their version {number}")), ..request.about.clone() };
        let request = ImportRequest { about: &about, ..*request };
        let draft = split_draft(part.split, gathered);
        let taken = Taken { draft, reports: Vec::new(), sources: Vec::new(), notes: Vec::new(), has_older: false };
        let committed = register_one(session, &request, target, derivation, part.policy.clone(), taken)?;
        target.dataset = committed.dataset;
        let policy = resolve::policy_of(&committed.version)?;
        target.head = Some((committed.version, policy));
    }
    Ok(())
}

/// A record as it was at a version: its row with the greatest number up to there. One without older rows was always
/// as it is.
fn as_of<'r>(newest: &'r Staged, older: &'r [Older], number: u64) -> Option<&'r Staged> {
    let mut own = older.iter().filter(|(_, row)| row.id == newest.id).peekable();
    if own.peek().is_none() {
        return Some(newest);
    }
    own.filter(|(version, _)| *version <= number).max_by_key(|(version, _)| *version).map(|(_, row)| row)
}

/// The faults were told before.
struct Nobody;

impl Listener for Nobody {
    fn fault(&mut self, _fault: &heldset_core::fault::Fault) -> std::io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) {}
}
