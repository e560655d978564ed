//! Which fields of a schema somebody may know of.
//!
//! *Invariant:* a field is known to those who see it in a split that they see, and whom the label that the schema
//! states for it includes. A field that looks like an answer, and that nobody labelled, is known to those who score.

use heldset_core::case;
use heldset_core::profile;
use heldset_core::schema::{Field, Schema};
use heldset_core::visibility::{AGENT_VISIBLE, EVALUATOR_ONLY, Label, Policy, SplitLabels, Viewer};
use heldset_store::documents::DatasetDoc;

use crate::refusal::Outcome;
use crate::resolve;
use crate::session::Session;

/// The eyes of one caller on one dataset.
pub(crate) struct Eyes {
    viewer: Viewer,
    policy: Policy,
    /// The splits that the caller sees.
    splits: Vec<SplitLabels>,
}

impl Eyes {
    /// As the head of a dataset has it; without one, as it will be for records of that schema.
    pub(crate) fn of(session: &Session, dataset: &DatasetDoc, schema: &Schema) -> Outcome<Eyes> {
        let policy = match dataset.head {
            0 => {
                let names = schema.fields().iter().map(|field| field.name.as_str());
                profile::detect(names).draft().split("default", AGENT_VISIBLE).resolve()?
            }
            head => resolve::policy_of(&resolve::version(&session.store, dataset, head)?)?,
        };
        Eyes::under(session.viewer, policy)
    }

    /// Under a policy.
    pub(crate) fn under(viewer: Viewer, policy: Policy) -> Outcome<Eyes> {
        let mut splits = Vec::new();
        for (split, _) in policy.splits() {
            let labels = policy.in_split(split)?;
            if viewer.sees(labels.own()) {
                splits.push(labels);
            }
        }
        Ok(Eyes { viewer, policy, splits })
    }

    /// The schema without what the caller may not know of.
    pub(crate) fn only(&self, schema: &Schema) -> Schema {
        schema.seen(&|field| self.sees(field))
    }

    fn sees(&self, field: &Field) -> bool {
        let name = field.name.as_str();
        if name == "id" {
            return !self.splits.is_empty();
        }
        let is_for = |label: Option<Label>| match label {
            Some(label) => self.viewer.sees(&label),
            // A label that this policy does not have.
            None => self.viewer == Viewer::Owner,
        };
        let known = match &field.visibility {
            Some(label) => is_for(self.policy.label(label)),
            None if case::is_answer(name) && !self.policy.is_labelled(name) => is_for(Label::built_in(EVALUATOR_ONLY)),
            None => true,
        };
        known && self.splits.iter().any(|labels| self.viewer.sees(labels.of(name)))
    }
}
