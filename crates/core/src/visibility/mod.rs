//! Who may see what: audiences, labels, the policy of a dataset, and the labels its fields have in a split.
//!
//! *Invariant:* pure rules; a checked [`Policy`] answers for every field name in each of its splits.

mod audience;
mod label;
mod policy;
mod policy_json;
mod split_labels;

pub use audience::{Audience, Audiences};
pub use label::{AGENT_VISIBLE, EVALUATOR_ONLY, INTERNAL, Label, OPERATOR_ONLY, PUBLIC};
pub use policy::{Policy, PolicyDraft, PolicyError};
pub use split_labels::SplitLabels;
