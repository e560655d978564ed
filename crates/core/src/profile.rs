//! Profiles: what a dataset's records are taken for, and the policy that follows when nobody states one.
//!
//! *Invariant:* a row with a field that looks like an answer is never taken for plain.

use crate::case;
use crate::visibility::{AGENT_VISIBLE, EVALUATOR_ONLY, INTERNAL, PolicyDraft};

/// What the records of a dataset are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Evaluation cases: prompts are open, answers sealed, all else internal.
    Case,
    /// Records of any kind: everything is open unless somebody says otherwise.
    Plain,
}

/// The fields of a case that an agent may see.
const OPEN: &[&str] = &["input", "turns", "context", "tools", "memory_seeds", "session_id", "agent_args"];

/// The fields, and the one family, that only those who score may see.
const ANSWERS: &[&str] = &["expected*", "rubric", "rubric_vars"];

impl Profile {
    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Case => "case",
            Profile::Plain => "plain",
        }
    }

    /// The profile of that name.
    pub fn parse(name: &str) -> Option<Profile> {
        [Profile::Case, Profile::Plain].into_iter().find(|profile| profile.name() == name)
    }

    /// The policy that follows from the profile, still without splits. A plain one leaves its default unstated, so
    /// that sealing one of its fields seals what nobody labelled, too.
    pub fn draft(self) -> PolicyDraft {
        match self {
            Profile::Plain => PolicyDraft::default(),
            Profile::Case => {
                let open = OPEN.iter().map(|field| (field, AGENT_VISIBLE));
                let labelled = open.chain(ANSWERS.iter().map(|field| (field, EVALUATOR_ONLY)));
                labelled
                    .fold(PolicyDraft::default(), |draft, (field, label)| draft.field(field, label))
                    .default_label(INTERNAL)
            }
        }
    }
}

/// What one row, or a schema, is taken for by the names of its fields: a case if it has `input` and any other case
/// field, or any field that looks like an answer. A file is a case file as soon as one of its rows is a case.
pub fn detect<'f>(fields: impl IntoIterator<Item = &'f str>) -> Profile {
    let (mut input, mut other) = (false, false);
    for field in fields {
        if case::is_answer(field) {
            return Profile::Case;
        }
        input |= field == "input";
        other |= field != "input" && case::is_field(field);
    }
    if input && other { Profile::Case } else { Profile::Plain }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_case_by_its_fields() {
        for (fields, expected) in [
            (&["input", "tags"][..], Profile::Case),
            (&["tags", "input"], Profile::Case),
            (&["input"], Profile::Plain),
            (&["input", "output"], Profile::Plain),
            (&["tags", "metadata"], Profile::Plain),
            (&["question", "Expected_Answer"], Profile::Case),
            (&["question", "ground_truth"], Profile::Case),
            (&["question", "rubric_v2"], Profile::Case),
            (&["question", "expect"], Profile::Plain),
            (&[], Profile::Plain),
        ] {
            assert_eq!(detect(fields.iter().copied()), expected, "{fields:?}");
        }
    }

    #[test]
    fn every_field_of_a_case_has_its_label() {
        let policy = Profile::Case.draft().split("test", AGENT_VISIBLE).resolve().unwrap();
        let labels = policy.in_split("test").unwrap();
        for field in case::field_names().chain(["expectedOutcomes", "EXPECTED", "ground_truth", "anything"]) {
            let expected = match field {
                "input" | "turns" | "context" | "tools" | "memory_seeds" | "session_id" | "agent_args" => AGENT_VISIBLE,
                "rubric" | "rubric_vars" => EVALUATOR_ONLY,
                _ if field.to_lowercase().starts_with("expected") => EVALUATOR_ONLY,
                _ => INTERNAL,
            };
            assert_eq!(labels.of(field).name(), expected, "{field}");
        }
    }

    #[test]
    fn a_plain_policy_has_no_sealed_label_until_a_field_is_sealed() {
        let draft = Profile::Plain.draft().split("test", AGENT_VISIBLE);
        let plain = draft.clone().resolve().unwrap().in_split("test").unwrap();
        assert_eq!((plain.sealed().count(), plain.of("x").name()), (0, AGENT_VISIBLE));
        let mixed = draft.field("answer", EVALUATOR_ONLY).resolve().unwrap().in_split("test").unwrap();
        assert_eq!((mixed.sealed().count(), mixed.of("x").name()), (2, INTERNAL));
    }
}
