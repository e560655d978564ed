//! Sealed values: what lies under a label, with no way to it but a grant.
//!
//! *Invariant:* a [`Sealed`] value cannot be printed, copied, compared or written; a grant that covers its label opens
//! it, and nothing else does.

use thiserror::Error;

use super::decide::Grant;
use super::label::Label;
use super::place::Place;
use super::viewer::Viewer;

/// A value under a label.
///
/// With a grant it opens:
///
/// ```
/// use heldset_core::visibility::{EVALUATOR_ONLY, Label, PolicyDraft, Sealed, Viewer, decide};
/// let policy = PolicyDraft::default().resolve().unwrap();
/// let sealed = Sealed::new(Label::built_in(EVALUATOR_ONLY).unwrap(), "gold");
/// let grant = decide(&policy, Viewer::Owner, Viewer::Owner.place());
/// assert_eq!(sealed.open(&grant).unwrap(), "gold");
/// ```
///
/// Each of these compiles for the value itself, and not once it is sealed.
///
/// ```
/// let value = String::from("gold");
/// let shown = format!("{value} {value:?}");
/// let copy = value.clone();
/// fn written<T: serde::Serialize>(_: T) {}
/// written(value);
/// ```
///
/// ```compile_fail,E0277
/// # use heldset_core::visibility::{Label, Sealed};
/// let value = Sealed::new(Label::built_in("internal").unwrap(), String::from("gold"));
/// let shown = format!("{value}");
/// ```
///
/// ```compile_fail,E0277
/// # use heldset_core::visibility::{Label, Sealed};
/// let value = Sealed::new(Label::built_in("internal").unwrap(), String::from("gold"));
/// let shown = format!("{value:?}");
/// ```
///
/// ```compile_fail,E0599
/// # use heldset_core::visibility::{Label, Sealed};
/// let value = Sealed::new(Label::built_in("internal").unwrap(), String::from("gold"));
/// let copy = value.clone();
/// ```
///
/// ```compile_fail,E0277
/// # use heldset_core::visibility::{Label, Sealed};
/// let value = Sealed::new(Label::built_in("internal").unwrap(), String::from("gold"));
/// fn written<T: serde::Serialize>(_: T) {}
/// written(value);
/// ```
///
/// ```compile_fail,E0616
/// # use heldset_core::visibility::{Label, Sealed};
/// let value = Sealed::new(Label::built_in("internal").unwrap(), String::from("gold"));
/// let taken = value.value;
/// ```
pub struct Sealed<T> {
    label: Label,
    value: T,
}

/// A grant that does not cover a label.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{viewer}` may not look at `{label}` in `{place}`")]
pub struct NotGranted {
    /// The name of the label.
    pub label: String,
    /// Who looked.
    pub viewer: Viewer,
    /// Where.
    pub place: Place,
}

impl<T> Sealed<T> {
    /// Puts a value under a label.
    pub fn new(label: Label, value: T) -> Self {
        Sealed { label, value }
    }

    /// The label.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Opens the value with a grant that covers its label.
    pub fn open(self, grant: &Grant) -> Result<T, NotGranted> {
        if grant.covers(&self.label) {
            return Ok(self.value);
        }
        Err(NotGranted { label: self.label.name().to_owned(), viewer: grant.viewer(), place: grant.place() })
    }

    /// What a function makes of the value, under the same label. The function cannot hold on to anything outside:
    ///
    /// ```
    /// # use heldset_core::visibility::{Label, Sealed};
    /// let value = Sealed::new(Label::built_in("internal").unwrap(), String::from("gold"));
    /// let length = value.map(|text| text.len());
    /// ```
    ///
    /// ```compile_fail,E0308
    /// # use heldset_core::visibility::{Label, Sealed};
    /// let value = Sealed::new(Label::built_in("internal").unwrap(), String::from("gold"));
    /// let mut kept = None;
    /// let length = value.map(|text| kept = Some(text));
    /// ```
    pub fn map<U>(self, make: fn(T) -> U) -> Sealed<U> {
        Sealed { label: self.label, value: make(self.value) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::label::{AGENT_VISIBLE, EVALUATOR_ONLY, OPERATOR_ONLY};
    use super::super::{PolicyDraft, decide};
    use super::*;

    #[test]
    fn only_a_grant_that_covers_the_label_opens_it() {
        let policy = PolicyDraft::default().resolve().unwrap();
        for (viewer, label, opens) in [
            ("agent", AGENT_VISIBLE, true),
            ("agent", EVALUATOR_ONLY, false),
            ("grader", EVALUATOR_ONLY, true),
            ("operator", EVALUATOR_ONLY, false),
            ("owner", OPERATOR_ONLY, true),
        ] {
            let viewer = Viewer::parse(viewer).unwrap();
            let sealed = Sealed::new(Label::built_in(label).unwrap(), "gold").map(str::len);
            assert_eq!(sealed.label().name(), label);
            let opened = sealed.open(&decide(&policy, viewer, viewer.place()));
            assert_eq!(opened.as_ref().ok(), opens.then_some(&4), "{viewer}: {label}");
            if let Err(error) = opened {
                let place = viewer.place();
                assert_eq!(error.to_string(), format!("`{viewer}` may not look at `{label}` in `{place}`"));
            }
        }
    }
}
