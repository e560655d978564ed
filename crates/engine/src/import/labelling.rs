//! Which policy a version gets: the head's or the profile's, with what is stated laid over it.
//!
//! *Invariant:* answers are never open by accident, and more is never let out without a stated reason.

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::profile::Profile;
use heldset_core::visibility::{AGENT_VISIBLE, INTERNAL, Label, Policy, PolicyDraft};

use crate::refusal::{Outcome, Refusal};

/// What is stated about labels.
#[derive(Clone, Default)]
pub struct Labelling {
    /// What the records are taken for.
    pub profile: Option<Profile>,
    /// Labels of fields.
    pub labels: Vec<(String, String)>,
    /// The label of the split.
    pub visibility: Option<String>,
    /// A policy, laid over the head's or the profile's.
    pub policy: Option<PolicyDraft>,
    /// Why more may be let out than before.
    pub declassify: Option<String>,
}

impl Labelling {
    /// The policy of the new version.
    pub(crate) fn policy(&self, split: Option<&str>, profile: Profile, head: Option<&Policy>) -> Outcome<Policy> {
        let mut draft = head.map_or_else(|| profile.draft(), Policy::to_draft);
        let was_open = !seals(&draft);
        let mut stated_default = false;
        if let Some(stated) = &self.policy {
            stated_default = stated.default.is_some();
            overlay(&mut draft, stated.clone());
        }
        for (field, label) in &self.labels {
            if let Some((_, other)) = self.labels.iter().find(|(name, other)| name == field && other != label) {
                let message = format!("`{field}` is given two labels, `{label}` and `{other}`");
                return Err(Refusal::usage(Code::E103, message, "give each field one label"));
            }
            draft.fields.insert(field.clone(), label.clone());
        }
        if head.is_some()
            && was_open
            && seals(&draft)
            && !stated_default
            && draft.default.as_deref() == Some(AGENT_VISIBLE)
        {
            draft.default = Some(INTERNAL.to_owned());
        }
        if let Some(split) = split {
            let label = self.visibility.clone();
            let label = label.or_else(|| draft.splits.get(split).cloned()).unwrap_or_else(|| AGENT_VISIBLE.to_owned());
            draft.splits.insert(split.to_owned(), label);
        }
        let policy = draft.resolve()?;
        self.check_widening(&policy, head)?;
        Ok(policy)
    }

    fn check_widening(&self, policy: &Policy, head: Option<&Policy>) -> Outcome<()> {
        let wider = head.map_or_else(Vec::new, |head| policy.wider_than(head));
        if wider.is_empty() || self.declassify.as_ref().is_some_and(|reason| !reason.trim().is_empty()) {
            return Ok(());
        }
        Err(Refusal::denied(
            Code::E122,
            format!("this lets more audiences see something than before: {}", wider.join("; ")),
            "say why with `--declassify REASON`; the reason is logged and kept with the version",
        ))
    }
}

/// Refuses a record of a plain dataset with an answer that nobody labelled.
pub(crate) fn check_answers<'f>(fields: impl IntoIterator<Item = &'f str>, id: &str, policy: &Policy) -> Outcome<()> {
    let open = fields.into_iter().find(|field| case::is_answer(field) && !policy.is_labelled(field));
    open.map_or(Ok(()), |field| {
        Err(Refusal::invalid(
            Code::E040,
            format!("record `{id}` has a field `{field}`, which looks like an answer, and nothing says who may see it"),
            format!("seal it with `--label {field}=evaluator_only`, or open it with `--label {field}=agent_visible`"),
        ))
    })
}

/// Whether a draft has a sealed label for a field.
fn seals(draft: &PolicyDraft) -> bool {
    let open = |label: &String| match draft.labels.get(label) {
        Some(audiences) => audiences.contains(heldset_core::visibility::Audience::Agent),
        None => Label::built_in(label).is_none_or(|label| label.is_open()),
    };
    draft.fields.values().any(|label| !open(label))
}

fn overlay(draft: &mut PolicyDraft, stated: PolicyDraft) {
    draft.labels.extend(stated.labels);
    draft.splits.extend(stated.splits);
    draft.fields.extend(stated.fields);
    draft.movement.extend(stated.movement);
    draft.answers_for.extend(stated.answers_for);
    draft.default = stated.default.or(draft.default.take());
}
