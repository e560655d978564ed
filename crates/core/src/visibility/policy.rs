//! The policy of a dataset: which label each split and each field has.
//!
//! *Invariant:* a [`Policy`] is checked: every label it names exists, every label it can give a field has at least
//! one reader in every split, and it answers for any field name.
//!
//! Field names that nobody can list beforehand are covered by *families*: a key of `fields` that ends in `*` means
//! every field whose name starts with the rest, in any ASCII case. It is held, and enters the digest, in lowercase
//! (`"expected*": "evaluator_only"`). The exact name comes first, then the longest family, then `default`.
//! So the resolved policy is a plain mapping, and its canonical JSON does not depend on the records at hand.

use std::collections::BTreeMap;

use thiserror::Error;

use super::audience::Audiences;
use super::label::{AGENT_VISIBLE, INTERNAL, Label};
use super::movement::Terms;
use super::split_labels::SplitLabels;
use crate::record::name_problem;
use crate::value::Object;

/// A policy as somebody states it, not yet checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyDraft {
    /// Labels that the dataset defines beside the built-in ones.
    pub labels: BTreeMap<String, Audiences>,
    /// The label of each split.
    pub splits: BTreeMap<String, String>,
    /// The label of each named field or family of fields.
    pub fields: BTreeMap<String, String>,
    /// The label of every other field. Unstated, it is `internal` when a field is sealed, else `agent_visible`.
    pub default: Option<String>,
    /// What is stated about where a label's bytes may travel, by label; what is unstated has the built-in rule.
    pub movement: BTreeMap<String, Object<'static>>,
    /// Splits of answers, each with the split its prompts are in.
    pub answers_for: BTreeMap<String, String>,
}

/// A checked policy with its defaults resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub(super) labels: BTreeMap<String, Label>,
    pub(super) splits: BTreeMap<String, String>,
    pub(super) fields: BTreeMap<String, String>,
    pub(super) default: String,
    pub(super) movement: BTreeMap<String, Terms>,
    pub(super) answers_for: BTreeMap<String, String>,
}

/// Why a policy is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// A name that cannot be one.
    #[error("{what} `{name}` {why}")]
    Name {
        /// What the name is for.
        what: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A label that is neither built in nor defined.
    #[error("`{place}` names the unknown label `{label}`")]
    UnknownLabel {
        /// Where in the policy.
        place: String,
        /// The name.
        label: String,
    },
    /// A split that the policy does not know.
    #[error("the policy has no split `{0}`")]
    UnknownSplit(String),
    /// A label of fields that nobody could read in a split.
    #[error("nobody can read a `{field_label}` field in the `{split_label}` split `{split}`")]
    NoReader {
        /// The split.
        split: String,
        /// Its label.
        split_label: String,
        /// The label of the field.
        field_label: String,
    },
    /// A part of the policy that does not hold what it must.
    #[error("`{place}` must be {expected}")]
    Shape {
        /// Where in the policy.
        place: String,
        /// What it must be.
        expected: &'static str,
    },
}

impl PolicyDraft {
    /// The same draft with the label of one split set.
    #[must_use]
    pub fn split(mut self, split: &str, label: &str) -> Self {
        self.splits.insert(split.to_owned(), label.to_owned());
        self
    }

    /// The same draft with the label of one field, or of a family such as `expected*`, set.
    #[must_use]
    pub fn field(mut self, field: &str, label: &str) -> Self {
        self.fields.insert(field.to_owned(), label.to_owned());
        self
    }

    /// The same draft with the label of all other fields set.
    #[must_use]
    pub fn default_label(mut self, label: &str) -> Self {
        self.default = Some(label.to_owned());
        self
    }

    /// Checks the draft and fills in what it leaves unstated.
    pub fn resolve(self) -> Result<Policy, PolicyError> {
        let stated = self.default.is_some();
        let labels = self.labels.iter().map(|(name, audiences)| Ok((name.clone(), Label::custom(name, *audiences)?)));
        let mut policy = Policy {
            labels: labels.collect::<Result<_, PolicyError>>()?,
            fields: families_in_lowercase(self.fields)?,
            splits: self.splits,
            default: self.default.unwrap_or_default(),
            movement: checked_terms(self.movement)?,
            answers_for: self.answers_for,
        };
        policy.check_names()?;
        if !stated {
            policy.default = policy.unstated_default()?.to_owned();
        }
        policy.check_labels()?;
        policy.check_readers()?;
        Ok(policy)
    }
}

impl Policy {
    /// The draft that resolves to this policy, to change it.
    pub fn to_draft(&self) -> PolicyDraft {
        PolicyDraft {
            labels: self.labels.iter().map(|(name, label)| (name.clone(), label.audiences())).collect(),
            splits: self.splits.clone(),
            fields: self.fields.clone(),
            default: Some(self.default.clone()),
            movement: self.movement.iter().map(|(label, terms)| (label.clone(), terms.stated.clone())).collect(),
            answers_for: self.answers_for.clone(),
        }
    }

    /// The label of that name, built in or defined here.
    pub fn label(&self, name: &str) -> Option<Label> {
        Label::built_in(name).or_else(|| self.labels.get(name).cloned())
    }

    /// Every label there is, the built-in ones first.
    pub fn labels(&self) -> impl Iterator<Item = Label> {
        Label::all_built_in().chain(self.labels.values().cloned())
    }

    /// The splits in alphabetical order, each with the name of its label.
    pub fn splits(&self) -> impl Iterator<Item = (&str, &str)> {
        self.splits.iter().map(|(split, label)| (split.as_str(), label.as_str()))
    }

    /// Whether a field is labelled by its name or its family, not just by the default.
    pub fn is_labelled(&self, field: &str) -> bool {
        self.fields.contains_key(field) || self.fields.keys().any(|key| family(key).is_some_and(|f| begins(field, f)))
    }

    /// The label that a field is given by its name, its family or the default, before a split narrows it.
    pub fn field_label(&self, field: &str) -> Option<Label> {
        let of_family = |key: &&String| family(key).is_some_and(|prefix| begins(field, prefix));
        let by_family = || self.fields.keys().filter(of_family).max_by_key(|key| key.len());
        let by_family = || by_family().and_then(|key| self.fields.get(key));
        self.label(self.fields.get(field).or_else(by_family).unwrap_or(&self.default))
    }

    /// The split of prompts that a split of answers belongs to.
    pub fn prompts_of(&self, answers: &str) -> Option<&str> {
        self.answers_for.get(answers).map(String::as_str)
    }

    /// What is stated about where a label's bytes may travel.
    pub fn movement_of(&self, label: &str) -> Option<&Object<'static>> {
        self.movement.get(label).map(|terms| &terms.stated)
    }

    /// The labels that fields have in one split.
    pub fn in_split(&self, split: &str) -> Result<SplitLabels, PolicyError> {
        SplitLabels::new(self, split)
    }

    pub(super) fn known(&self, place: &str, name: &str) -> Result<Label, PolicyError> {
        self.label(name).ok_or_else(|| PolicyError::UnknownLabel { place: place.to_owned(), label: name.to_owned() })
    }

    fn check_names(&self) -> Result<(), PolicyError> {
        for split in self.splits.keys() {
            check_name("split", split)?;
        }
        for field in self.fields.keys() {
            check_name("field", family(field).unwrap_or(field))?;
            if field == "id" {
                let why = "always has the label of its split";
                return Err(PolicyError::Name { what: "field", name: field.clone(), why });
            }
        }
        for (answers, prompts) in &self.answers_for {
            let missing = [answers, prompts].into_iter().find(|split| !self.splits.contains_key(*split));
            if let Some(split) = missing {
                return Err(PolicyError::UnknownSplit(split.clone()));
            }
            if answers == prompts {
                let why = "cannot hold the answers to itself";
                return Err(PolicyError::Name { what: "split", name: answers.clone(), why });
            }
        }
        Ok(())
    }

    fn check_labels(&self) -> Result<(), PolicyError> {
        for (field, label) in &self.fields {
            self.known(&format!("fields.{field}"), label)?;
        }
        for (split, label) in &self.splits {
            self.known(&format!("splits.{split}"), label)?;
        }
        for label in self.movement.keys() {
            self.known("movement", label)?;
        }
        self.known("default", &self.default).map(drop)
    }

    fn check_readers(&self) -> Result<(), PolicyError> {
        self.splits.keys().try_for_each(|split| self.in_split(split).map(drop))
    }

    fn unstated_default(&self) -> Result<&'static str, PolicyError> {
        for (field, label) in &self.fields {
            if !self.known(&format!("fields.{field}"), label)?.is_open() {
                return Ok(INTERNAL);
            }
        }
        Ok(AGENT_VISIBLE)
    }
}

/// What the names of a family start with, if the key means one.
pub(super) fn family(key: &str) -> Option<&str> {
    key.strip_suffix('*')
}

/// Whether a name starts with a family's prefix, in any ASCII case.
pub(super) fn begins(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

fn families_in_lowercase(fields: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, PolicyError> {
    let mut held = BTreeMap::new();
    for (mut field, label) in fields {
        if family(&field).is_some() {
            field.make_ascii_lowercase();
        }
        let before = held.insert(field.clone(), label);
        if before.is_some_and(|before| held.get(&field) != Some(&before)) {
            return Err(PolicyError::Name { what: "field", name: field, why: "has two labels" });
        }
    }
    Ok(held)
}

fn checked_terms(stated: BTreeMap<String, Object<'static>>) -> Result<BTreeMap<String, Terms>, PolicyError> {
    let checked = stated.into_iter().map(|(label, terms)| {
        let terms = Terms::check(&format!("movement.{label}"), terms)?;
        Ok((label, terms))
    });
    checked.collect()
}

fn check_name(what: &'static str, name: &str) -> Result<(), PolicyError> {
    let why = if name.is_empty() { Some("is empty") } else { name_problem(name) };
    why.map_or(Ok(()), |why| Err(PolicyError::Name { what, name: name.to_owned(), why }))
}
