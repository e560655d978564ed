//! Labels: named sets of audiences, and what becomes of a field's label inside a labelled split.
//!
//! *Invariant:* a label names at least one audience, and meeting another label never widens it.

use std::borrow::Cow;

use super::audience::{Audience, Audiences};
use super::policy::PolicyError;
use crate::record::name_problem;

/// Everybody.
pub const PUBLIC: &str = "public";
/// Everybody but logs.
pub const AGENT_VISIBLE: &str = "agent_visible";
/// Those who work on the evaluation; not the agent.
pub const INTERNAL: &str = "internal";
/// Those who score.
pub const EVALUATOR_ONLY: &str = "evaluator_only";
/// Those who run the store.
pub const OPERATOR_ONLY: &str = "operator_only";

const BUILT_IN: &[(&str, Audiences)] = &[
    (PUBLIC, Audiences::all()),
    (AGENT_VISIBLE, Audiences::all().without(Audience::Log)),
    (
        INTERNAL,
        Audiences::of(&[
            Audience::Evaluator,
            Audience::Grader,
            Audience::Annotator,
            Audience::Dashboard,
            Audience::Operator,
        ]),
    ),
    (EVALUATOR_ONLY, Audiences::of(&[Audience::Evaluator, Audience::Grader])),
    (OPERATOR_ONLY, Audiences::of(&[Audience::Operator])),
];

/// A named set of audiences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    name: Cow<'static, str>,
    audiences: Audiences,
}

impl Label {
    /// The built-in labels, widest first.
    pub(super) fn all_built_in() -> impl Iterator<Item = Label> {
        BUILT_IN.iter().map(|(name, audiences)| Label { name: Cow::Borrowed(name), audiences: *audiences })
    }

    /// The built-in label of that name.
    pub fn built_in(name: &str) -> Option<Label> {
        let (name, audiences) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Some(Label { name: Cow::Borrowed(name), audiences: *audiences })
    }

    /// A label that a dataset defines. It cannot take a built-in name, nor have a `+` in it: that joins two labels.
    pub fn custom(name: &str, audiences: Audiences) -> Result<Label, PolicyError> {
        let refuse = |why| Err(PolicyError::Name { what: "label", name: name.to_owned(), why });
        if let Some(why) = name_problem(name) {
            return refuse(why);
        }
        if name.is_empty() {
            return refuse("is empty");
        }
        if name.contains('+') {
            return refuse("has a `+` in it");
        }
        if Label::built_in(name).is_some() {
            return refuse("is built in");
        }
        if audiences.is_empty() {
            return refuse("has no audience");
        }
        Ok(Label { name: Cow::Owned(name.to_owned()), audiences })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the labels that this one is joined of; its own where it is not joined.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.name.split('+')
    }

    /// Who may see what has this label.
    pub fn audiences(&self) -> Audiences {
        self.audiences
    }

    /// Whether agents may see it; what is not open is sealed.
    pub fn is_open(&self) -> bool {
        self.audiences.contains(Audience::Agent)
    }

    /// The effective label of a field that has this label in a split that has `split`: this one if its audiences
    /// are a subset of the split's, else the split's if a subset of the field's, else both names, sorted and joined
    /// by `+`. Nothing if nobody is in both.
    pub fn within(&self, split: &Label) -> Option<Label> {
        if self.audiences.is_subset(split.audiences) {
            return Some(self.clone());
        }
        if split.audiences.is_subset(self.audiences) {
            return Some(split.clone());
        }
        let audiences = self.audiences.intersection(split.audiences);
        let (first, second) = if self.name < split.name { (self, split) } else { (split, self) };
        (!audiences.is_empty()).then(|| Label { name: format!("{}+{}", first.name, second.name).into(), audiences })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn partner() -> Label {
        Label::custom("partner", Audiences::of(&[Audience::Evaluator, Audience::Operator])).unwrap()
    }

    #[test]
    fn the_effective_label_is_the_narrower_one_or_both() {
        let named = |name| if name == "partner" { partner() } else { Label::built_in(name).unwrap() };
        for (field, split, expected) in [
            (AGENT_VISIBLE, AGENT_VISIBLE, Some(AGENT_VISIBLE)),
            (PUBLIC, AGENT_VISIBLE, Some(AGENT_VISIBLE)),
            (AGENT_VISIBLE, PUBLIC, Some(AGENT_VISIBLE)),
            (AGENT_VISIBLE, EVALUATOR_ONLY, Some(EVALUATOR_ONLY)),
            (EVALUATOR_ONLY, AGENT_VISIBLE, Some(EVALUATOR_ONLY)),
            (INTERNAL, "partner", Some("partner")),
            ("partner", EVALUATOR_ONLY, Some("evaluator_only+partner")),
            (EVALUATOR_ONLY, "partner", Some("evaluator_only+partner")),
            (EVALUATOR_ONLY, OPERATOR_ONLY, None),
        ] {
            let effective = named(field).within(&named(split));
            assert_eq!(effective.as_ref().map(Label::name), expected, "{field} in {split}");
            if let Some(label) = effective {
                assert_eq!(label.audiences(), named(field).audiences().intersection(named(split).audiences()));
            }
        }
    }

    #[test]
    fn only_labels_with_the_agent_in_them_are_open() {
        let open = |name| Label::built_in(name).unwrap().is_open();
        assert!(open(PUBLIC) && open(AGENT_VISIBLE));
        assert!(!open(INTERNAL) && !open(EVALUATOR_ONLY) && !open(OPERATOR_ONLY));
    }

    #[test]
    fn a_custom_label_has_a_name_of_its_own_and_an_audience() {
        let audiences = Audiences::of(&[Audience::Agent]);
        for name in ["", "a+b", "evaluator_only", "a\nb", "e\u{301}"] {
            assert!(Label::custom(name, audiences).is_err(), "{name}");
        }
        assert!(Label::custom("partner", Audiences::NONE).is_err());
        assert!(Label::custom("partner", audiences).is_ok());
    }
}
