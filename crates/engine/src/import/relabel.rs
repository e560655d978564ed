//! Splits that are carried over from the head, labelled anew when the policy is another.
//!
//! *Invariant:* only labels change: the records of a carried split are those of the head.

use heldset_core::digest::Digest;
use heldset_core::leaf::Leaves;
use heldset_core::visibility::{Policy, upkeep};
use heldset_store::pack::Stager;

use super::{Target, split_draft};
use crate::commit::SplitDraft;
use crate::gather::{Gather, Packing};
use crate::refusal::Outcome;
use crate::resolve;
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::view::Batch;

/// The splits of the head, but `replaced`, that another policy labels differently.
pub(crate) fn carried(
    session: &Session,
    target: &mut Target,
    policy: &Policy,
    replaced: &[&str],
) -> Outcome<Vec<SplitDraft>> {
    let Some((version, before)) = &target.head else { return Ok(Vec::new()) };
    let (version, before) = (version.clone(), before.clone());
    let mut splits = Vec::new();
    for split in version.splits.iter().filter(|split| !replaced.contains(&split.name.as_str())) {
        let (old, new) = (before.in_split(&split.name)?, policy.in_split(&split.name)?);
        if old == new {
            continue;
        }
        let base = split.root.parse().ok();
        if split.files {
            splits.push(SplitDraft { base, ..crate::files::relabelled(session, target, split, &old, &new)? });
            continue;
        }
        let rows = SplitRows::load(&session.store, &target.dataset.id, split)?;
        let sealing = target.sealing(session, &split.name);
        let mut stager = Stager::new(Leaves::committed(new.clone(), &target.commit_key()));
        let (store, keys, grant) = (&session.store, Some(&target.keys), upkeep());
        let reading = Reading { store, keys, dataset: &target.dataset.id, labels: &old, grant: &grant };
        let packing = Packing { store, labels: &new, sealing: &sealing };
        let gathered = std::thread::scope(|scope| {
            let mut gather = Gather::start(scope, packing, &rows);
            for run in rows.runs()? {
                let batch = Batch::of(reading.groups(&rows.packs[run.pack].1, &run.rows)?);
                for row in 0..batch.len() {
                    if gather.push(stager.stage(&batch.record(row)?)).is_err() {
                        break;
                    }
                }
            }
            gather.finish()
        })?;
        splits.push(SplitDraft { base, ..split_draft(&split.name, gathered) });
    }
    Ok(splits)
}

/// The root of a split of the head.
pub(super) fn root_of(target: &Target, split: &str) -> Option<Digest> {
    let (version, _) = target.head.as_ref()?;
    resolve::split(version, split)?.root.parse().ok()
}
