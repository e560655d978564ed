//! Who may see what, and where it may travel: audiences, labels, places, the policy of a dataset, and the grants
//! that follow from it.
//!
//! *Invariant:* pure rules; a checked [`Policy`] answers for every field name in each of its splits.

mod audience;
mod decide;
mod label;
mod movement;
mod named;
mod place;
mod policy;
mod policy_json;
mod sealed;
mod split_labels;
mod viewer;
mod widening;

pub use audience::{Audience, Audiences};
pub use decide::{Grant, decide, upkeep};
pub use label::{AGENT_VISIBLE, EVALUATOR_ONLY, INTERNAL, Label, OPERATOR_ONLY, PUBLIC};
pub use movement::{Derived, Movement};
pub use place::Place;
pub use policy::{Policy, PolicyDraft, PolicyError};
pub use sealed::{NotGranted, Sealed};
pub use split_labels::SplitLabels;
pub use viewer::Viewer;
