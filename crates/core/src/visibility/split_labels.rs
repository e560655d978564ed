//! The effective labels of one split: what each field of its records is labelled in the end.
//!
//! *Invariant:* every field name has exactly one effective label, with at least one reader.

use std::collections::HashMap;

use super::label::Label;
use super::policy::{Policy, PolicyError, begins, family};
use crate::canonical;

/// The labels that fields have in one split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitLabels {
    split: String,
    own: Label,
    /// Distinct, in the order of keys in canonical bytes.
    labels: Vec<Label>,
    names: HashMap<String, usize>,
    /// The longest prefix first.
    families: Vec<(String, usize)>,
    default: usize,
}

impl SplitLabels {
    pub(super) fn new(policy: &Policy, split: &str) -> Result<Self, PolicyError> {
        let own = policy.splits.get(split).ok_or_else(|| PolicyError::UnknownSplit(split.to_owned()))?;
        let own = policy.known(&format!("splits.{split}"), own)?;
        let effective = |label: &str| effective(policy, label, split, &own);
        let mut labels = vec![effective(&policy.default)?];
        for label in policy.fields.values() {
            labels.push(effective(label)?);
        }
        labels.sort_by(|a, b| canonical::key_order(a.name(), b.name()));
        labels.dedup();
        let index = |label: &str| effective(label).map(|label| place(&labels, &label));
        let mut names = HashMap::new();
        let mut families = Vec::new();
        for (key, label) in &policy.fields {
            match family(key) {
                Some(prefix) => families.push((prefix.to_owned(), index(label)?)),
                None => drop(names.insert(key.clone(), index(label)?)),
            }
        }
        families.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        let default = index(&policy.default)?;
        Ok(SplitLabels { split: split.to_owned(), own, labels, names, families, default })
    }

    /// The split.
    pub fn split(&self) -> &str {
        &self.split
    }

    /// The split's own label, under which the ids lie.
    pub fn own(&self) -> &Label {
        &self.own
    }

    /// Every effective label the policy can give a field of this split, in the order of canonical keys.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The sealed ones among [`labels`](Self::labels): every record commits to each of them.
    pub fn sealed(&self) -> impl Iterator<Item = &Label> {
        self.labels.iter().filter(|label| !label.is_open())
    }

    /// The effective label of a field.
    pub fn of(&self, field: &str) -> &Label {
        &self.labels[self.index_of(field)]
    }

    /// Where in [`labels`](Self::labels) the effective label of a field stands.
    pub fn index_of(&self, field: &str) -> usize {
        let by_family = || self.families.iter().find(|(prefix, _)| begins(field, prefix)).map(|(_, index)| *index);
        self.names.get(field).copied().or_else(by_family).unwrap_or(self.default)
    }
}

fn effective(policy: &Policy, label: &str, split: &str, own: &Label) -> Result<Label, PolicyError> {
    policy.known("fields", label)?.within(own).ok_or_else(|| PolicyError::NoReader {
        split: split.to_owned(),
        split_label: own.name().to_owned(),
        field_label: label.to_owned(),
    })
}

fn place(labels: &[Label], label: &Label) -> usize {
    labels.iter().position(|known| known == label).expect("each effective label was listed before")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::{Audience, Audiences, PolicyDraft};
    use super::*;

    fn draft() -> PolicyDraft {
        PolicyDraft::default().split("test", "agent_visible").split("hidden", "evaluator_only")
    }

    #[test]
    fn the_exact_name_comes_first_then_the_longest_family_then_the_default() {
        let draft = draft().field("Expected*", "evaluator_only").field("expected_o*", "internal");
        let labels = draft.field("expected_open", "public").resolve().unwrap().in_split("test").unwrap();
        for (field, expected) in [
            ("expected_open", "agent_visible"),
            ("Expected_open", "internal"),
            ("expected_output", "internal"),
            ("EXPECTEDTurns", "evaluator_only"),
            ("expecte", "internal"),
            ("expected*", "evaluator_only"),
            ("é", "internal"),
        ] {
            assert_eq!(labels.of(field).name(), expected, "{field}");
        }
    }

    #[test]
    fn a_sealed_split_has_only_labels_within_its_own() {
        let policy = draft().field("answer", "evaluator_only").field("note", "public").resolve().unwrap();
        let names = |split| {
            let labels = policy.in_split(split).unwrap();
            labels.sealed().map(|label| label.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("hidden"), ["evaluator_only"]);
        assert_eq!(names("test"), ["evaluator_only", "internal"]);
        assert_eq!(policy.in_split("absent").unwrap_err(), PolicyError::UnknownSplit("absent".into()));
    }

    #[test]
    fn labels_that_overlap_are_joined() {
        let mut draft = draft().field("answer", "partner").default_label("evaluator_only");
        draft.labels.insert("partner".into(), Audiences::of(&[Audience::Evaluator, Audience::Operator]));
        let labels = draft.resolve().unwrap().in_split("hidden").unwrap();
        let label = labels.of("answer");
        assert_eq!(label.name(), "evaluator_only+partner");
        assert_eq!(label.audiences(), Audiences::of(&[Audience::Evaluator]));
    }
}
