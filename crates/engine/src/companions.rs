//! Splits that belong together: answers in one, the prompts they answer in another, joined by id.
//!
//! *Invariant:* an answer has its prompt; a prompt may be without an answer.

use std::collections::HashSet;

use heldset_core::code::Code;
use heldset_core::visibility::upkeep;
use heldset_store::documents::{PackDoc, SplitDoc};

use crate::commit::{Draft, SplitBody};
use crate::import::Target;
use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::rows::{Reading, SplitRows};
use crate::session::Session;

/// Refuses a draft with an answer whose prompt is missing.
pub(crate) fn check(session: &Session, target: &Target, draft: &Draft) -> Outcome<()> {
    let names: Vec<String> = draft.policy.splits().map(|(split, _)| split.to_owned()).collect();
    for answers in names {
        let Some(prompts) = draft.policy.prompts_of(&answers) else { continue };
        let touched = |name: &str| draft.splits.iter().any(|split| split.name == name);
        if !touched(&answers) && !touched(prompts) {
            continue;
        }
        let (Some(given), Some(known)) =
            (ids_of(session, target, draft, &answers)?, ids_of(session, target, draft, prompts)?)
        else {
            continue;
        };
        check_ids((&answers, &given), (prompts, &known))?;
    }
    Ok(())
}

/// Refuses an answer among these whose prompt is not among those.
pub(crate) fn check_ids((answers, given): (&str, &[String]), (prompts, known): (&str, &[String])) -> Outcome<()> {
    let known: HashSet<&String> = known.iter().collect();
    match given.iter().find(|id| !known.contains(id)) {
        None => Ok(()),
        Some(id) => Err(Refusal::invalid(
            Code::E041,
            format!("`{answers}` has an answer `{id}`, and `{prompts}` has no prompt of that id"),
            "add the prompt, or take the answer out",
        )),
    }
}

/// The ids of a split as the draft has it; nothing if there is no such split yet.
fn ids_of(session: &Session, target: &Target, draft: &Draft, split: &str) -> Outcome<Option<Vec<String>>> {
    let (labels, grant) = (draft.policy.in_split(split)?, upkeep());
    let mut rows = SplitRows::known_under(&session.store, &target.dataset.id, split, labels.own().name())?;
    match draft.splits.iter().find(|known| known.name == split).map(|known| &known.body) {
        Some(SplitBody::Records { chunks, packs }) => rows.add(packs.iter().cloned(), chunks.clone())?,
        Some(SplitBody::Files(_)) => return Ok(None),
        None => {
            let doc: Option<&SplitDoc> = target.head.as_ref().and_then(|(version, _)| resolve::split(version, split));
            match doc.filter(|doc| !doc.files) {
                Some(doc) => rows = SplitRows::load(&session.store, &target.dataset.id, doc)?,
                None => return Ok(None),
            }
        }
    }
    let reading = Reading {
        store: &session.store,
        keys: Some(&target.keys),
        dataset: &target.dataset.id,
        labels: &labels,
        grant: &grant,
    };
    let mut ids = Vec::new();
    for run in rows.runs()? {
        let pack: &PackDoc = &rows.packs[run.pack].1;
        let group = reading.own_group(pack, &run.rows, true)?;
        ids.extend((0..group.rows()).filter_map(|row| group.id(row)).map(str::to_owned));
    }
    Ok(Some(ids))
}
