//! Viewers: for whom a command, a token or a worker looks.
//!
//! *Invariant:* a viewer is one audience, or the owner at the store itself, who is operator and evaluator together.

use std::fmt;

use super::audience::Audience;
use super::label::Label;
use super::place::Place;

/// One who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Viewer {
    /// The local owner: operator and evaluator together, and on record as the owner.
    Owner,
    /// One audience and no other.
    One(Audience),
}

const OWNER: &str = "owner";

impl Viewer {
    /// The owner, then every audience in alphabetical order.
    pub fn all() -> impl Iterator<Item = Viewer> {
        [Viewer::Owner].into_iter().chain(Audience::ALL.iter().copied().map(Viewer::One))
    }

    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Viewer::Owner => OWNER,
            Viewer::One(audience) => audience.name(),
        }
    }

    /// The viewer of that name.
    pub fn parse(name: &str) -> Option<Viewer> {
        if name == OWNER { Some(Viewer::Owner) } else { Audience::parse(name).map(Viewer::One) }
    }

    /// Whether what has this label may be shown to the viewer, wherever that is.
    pub fn sees(self, label: &Label) -> bool {
        let audiences = label.audiences();
        match self {
            Viewer::Owner => audiences.contains(Audience::Operator) || audiences.contains(Audience::Evaluator),
            Viewer::One(audience) => audiences.contains(audience),
        }
    }

    /// Where the viewer looks from unless it is said.
    pub fn place(self) -> Place {
        match self {
            Viewer::One(Audience::Agent | Audience::Tool) => Place::AgentSandbox,
            Viewer::One(Audience::Trainer) => Place::TrainerWorker,
            Viewer::One(Audience::Evaluator | Audience::Grader) => Place::EvaluatorWorker,
            Viewer::Owner | Viewer::One(_) => Place::ControlPlane,
        }
    }

    /// Whether the viewer may use the verbs that run the store.
    pub fn manages(self) -> bool {
        matches!(self, Viewer::Owner | Viewer::One(Audience::Operator))
    }
}

impl fmt::Display for Viewer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::label::{AGENT_VISIBLE, EVALUATOR_ONLY, INTERNAL, OPERATOR_ONLY, PUBLIC};
    use super::*;

    #[test]
    fn every_viewer_has_its_own_name() {
        assert_eq!(Viewer::all().count(), 12);
        for viewer in Viewer::all() {
            assert_eq!(Viewer::parse(viewer.name()), Some(viewer));
        }
        assert_eq!(Viewer::parse("root"), None);
    }

    #[test]
    fn each_viewer_sees_its_labels_from_its_place() {
        let all = [PUBLIC, AGENT_VISIBLE, INTERNAL, EVALUATOR_ONLY, OPERATOR_ONLY];
        for (viewer, sees, place, manages) in [
            ("owner", &all[..], "control_plane", true),
            ("operator", &[PUBLIC, AGENT_VISIBLE, INTERNAL, OPERATOR_ONLY], "control_plane", true),
            ("evaluator", &[PUBLIC, AGENT_VISIBLE, INTERNAL, EVALUATOR_ONLY], "evaluator_worker", false),
            ("grader", &[PUBLIC, AGENT_VISIBLE, INTERNAL, EVALUATOR_ONLY], "evaluator_worker", false),
            ("annotator", &[PUBLIC, AGENT_VISIBLE, INTERNAL], "control_plane", false),
            ("dashboard", &[PUBLIC, AGENT_VISIBLE, INTERNAL], "control_plane", false),
            ("agent", &[PUBLIC, AGENT_VISIBLE], "agent_sandbox", false),
            ("tool", &[PUBLIC, AGENT_VISIBLE], "agent_sandbox", false),
            ("trainer", &[PUBLIC, AGENT_VISIBLE], "trainer_worker", false),
            ("export", &[PUBLIC, AGENT_VISIBLE], "control_plane", false),
            ("infrastructure", &[PUBLIC, AGENT_VISIBLE], "control_plane", false),
            ("log", &[PUBLIC], "control_plane", false),
        ] {
            let one = Viewer::parse(viewer).unwrap();
            let seen: Vec<_> = all.into_iter().filter(|name| one.sees(&Label::built_in(name).unwrap())).collect();
            assert_eq!(seen, sees, "{viewer}");
            assert_eq!((one.place().name(), one.manages()), (place, manages), "{viewer}");
        }
    }
}
