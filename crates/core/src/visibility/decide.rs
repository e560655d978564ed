//! The decision: what one viewer may look at in one place, by the policy of one version.
//!
//! *Invariant:* a [`Grant`] is made here and nowhere else. It covers a label only if the viewer is among its
//! audiences and its bytes may travel to the place; a label of another policy it does not cover.

use std::collections::BTreeMap;

use super::audience::Audiences;
use super::label::Label;
use super::place::Place;
use super::policy::Policy;
use super::split_labels::SplitLabels;
use super::viewer::Viewer;

/// Leave for one viewer to look, in one place, at the labels of one policy. Only [`decide`] makes one:
///
/// ```
/// use heldset_core::visibility::{PolicyDraft, Viewer, decide};
/// let policy = PolicyDraft::default().resolve().unwrap();
/// let grant = decide(&policy, Viewer::Owner, Viewer::Owner.place());
/// assert_eq!(grant.viewer(), Viewer::Owner);
/// ```
///
/// ```compile_fail,E0451
/// use heldset_core::visibility::{Grant, Viewer};
/// let grant = Grant { viewer: Viewer::Owner, place: Viewer::Owner.place(), labels: Default::default(), upkeep: true };
/// ```
#[derive(Clone, Debug)]
pub struct Grant {
    viewer: Viewer,
    place: Place,
    /// Each label of the policy: its audiences, and whether its bytes may travel to the place.
    labels: BTreeMap<String, (Audiences, bool)>,
    /// Whether it is for upkeep alone.
    upkeep: bool,
}

/// Decides what a viewer may look at in a place.
pub fn decide(policy: &Policy, viewer: Viewer, place: Place) -> Grant {
    let entry = |label: Label| (label.name().to_owned(), (label.audiences(), policy.movement(&label).allows(place)));
    Grant { viewer, place, labels: policy.labels().map(entry).collect(), upkeep: false }
}

/// The grant for the upkeep of a store: recomputing digests, rewriting objects. It covers every label, and nothing
/// that is read under it may leave the process in the clear.
pub fn upkeep() -> Grant {
    Grant { viewer: Viewer::Owner, place: Place::ControlPlane, labels: BTreeMap::new(), upkeep: true }
}

impl Grant {
    /// Who looks.
    pub fn viewer(&self) -> Viewer {
        self.viewer
    }

    /// Where.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether the viewer may look, here, at what has this label.
    pub fn covers(&self, label: &Label) -> bool {
        self.upkeep || self.viewer.sees(label) && self.travels(label) == Some(true)
    }

    /// The labels of a split that the viewer would see, were they allowed to travel to the place.
    pub fn held_back(&self, split: &SplitLabels) -> Vec<Label> {
        let own = Some(split.own()).filter(|own| !split.labels().contains(own));
        let held = |label: &&Label| self.viewer.sees(label) && self.travels(label) == Some(false);
        own.into_iter().chain(split.labels()).filter(held).cloned().collect()
    }

    /// Whether the bytes of a label may travel to the place; nothing of a label that is not one of the policy.
    fn travels(&self, label: &Label) -> Option<bool> {
        let (mut audiences, mut allowed) = (Audiences::all(), true);
        for part in label.parts() {
            let (readers, travels) = self.labels.get(part)?;
            audiences = audiences.intersection(*readers);
            allowed &= travels;
        }
        (audiences == label.audiences()).then_some(allowed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::{Audience, PolicyDraft};
    use super::*;
    use crate::json;

    fn policy() -> Policy {
        let text = r#"{"labels":{"partner":["evaluator","operator"],"tutor":["trainer","evaluator"]},
            "splits":{"test":"public","hidden":"evaluator_only"},
            "fields":{"answer":"partner","input":"agent_visible"},"default":"internal",
            "movement":{"agent_visible":{"places":["agent_sandbox","control_plane"]},"partner":{"places":["local_disk","evaluator_worker"]}}}"#;
        PolicyDraft::from_value(&json::read(text).unwrap()).unwrap().resolve().unwrap()
    }

    #[test]
    fn a_grant_covers_what_the_viewer_sees_and_the_place_allows() {
        let policy = policy();
        for (viewer, place, label, covered) in [
            ("agent", "agent_sandbox", "agent_visible", true),
            ("agent", "agent_sandbox", "public", true),
            ("agent", "local_disk", "agent_visible", false),
            ("agent", "control_plane", "internal", false),
            ("agent", "evaluator_worker", "evaluator_only", false),
            ("owner", "control_plane", "evaluator_only", true),
            ("owner", "control_plane", "operator_only", true),
            ("owner", "control_plane", "partner", false),
            ("owner", "local_disk", "partner", true),
            ("owner", "local_disk", "internal", false),
            ("owner", "external_warehouse", "public", false),
            ("operator", "control_plane", "evaluator_only", false),
            ("grader", "evaluator_worker", "evaluator_only", true),
            ("grader", "agent_sandbox", "evaluator_only", false),
            ("trainer", "trainer_worker", "tutor", false),
            ("trainer", "evaluator_worker", "tutor", true),
        ] {
            let grant = decide(&policy, Viewer::parse(viewer).unwrap(), Place::parse(place).unwrap());
            let label = policy.label(label).unwrap();
            assert_eq!(grant.covers(&label), covered, "{viewer} in {place}: {}", label.name());
        }
    }

    #[test]
    fn what_the_place_forbids_is_told_and_what_the_viewer_must_not_know_is_not() {
        let policy = policy();
        for (viewer, place, split, expected) in [
            ("owner", "control_plane", "test", &["partner"][..]),
            ("owner", "local_disk", "test", &["agent_visible", "internal"]),
            ("owner", "local_disk", "hidden", &["evaluator_only", "evaluator_only+partner"]),
            ("owner", "external_warehouse", "test", &["public", "agent_visible", "internal", "partner"]),
            ("agent", "agent_sandbox", "test", &[]),
            ("agent", "local_disk", "test", &["agent_visible"]),
            ("agent", "local_disk", "hidden", &[]),
        ] {
            let grant = decide(&policy, Viewer::parse(viewer).unwrap(), Place::parse(place).unwrap());
            let held = grant.held_back(&policy.in_split(split).unwrap());
            assert_eq!(held.iter().map(Label::name).collect::<Vec<_>>(), expected, "{viewer} in {place}: {split}");
        }
    }

    #[test]
    fn a_label_of_another_policy_is_not_covered() {
        let grant = decide(&policy(), Viewer::One(Audience::Evaluator), Place::EvaluatorWorker);
        let foreign = |name, audiences: &[Audience]| Label::custom(name, Audiences::of(audiences)).unwrap();
        assert!(grant.covers(&foreign("partner", &[Audience::Evaluator, Audience::Operator])));
        assert!(!grant.covers(&foreign("partner", &[Audience::Evaluator])));
        assert!(!grant.covers(&foreign("stranger", &[Audience::Evaluator])));
    }
}
