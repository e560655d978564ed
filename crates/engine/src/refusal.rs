//! Why a verb does not do what it was asked: what kind of reason, in which words, and what to do.
//!
//! *Invariant:* what a caller may not see and what does not exist are refused in the same words.

use heldset_core::code::Code;
use heldset_core::fault::nearest;
use heldset_core::visibility::PolicyError;
use heldset_store::StoreError;

/// The labels that every policy has.
pub(crate) const BUILT_IN: [&str; 5] = ["public", "agent_visible", "internal", "evaluator_only", "operator_only"];

/// What kind of reason it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The request cannot be understood, or names what is not there.
    Usage,
    /// The data is invalid.
    Invalid,
    /// Visibility or movement forbids it.
    Denied,
    /// What is stored, or pinned, is not what it was.
    Integrity,
    /// Planned work was not attempted.
    Incomplete,
}

/// A request that is not carried out.
#[derive(Debug)]
pub struct Refusal {
    /// What kind of reason it is.
    pub reason: Reason,
    /// Its code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// What a verb gives.
pub type Outcome<T> = Result<T, Box<Refusal>>;

impl Refusal {
    /// A request that is at fault.
    pub fn usage(code: Code, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Refusal::new(Reason::Usage, code, message, help)
    }

    /// Data that is at fault.
    pub fn invalid(code: Code, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Refusal::new(Reason::Invalid, code, message, help)
    }

    /// What visibility or movement forbids.
    pub fn denied(code: Code, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Refusal::new(Reason::Denied, code, message, help)
    }

    /// What is not what it was.
    pub fn integrity(code: Code, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Refusal::new(Reason::Integrity, code, message, help)
    }

    /// Work that was planned and not attempted.
    pub fn incomplete(code: Code, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Refusal::new(Reason::Incomplete, code, message, help)
    }

    /// A name that is not there: what it should name, and the nearest of those that are.
    pub fn unknown<'n>(message: impl Into<String>, name: &str, known: impl IntoIterator<Item = &'n str>) -> Box<Self> {
        let known: Vec<&str> = known.into_iter().collect();
        let help = match (nearest(name, known.iter().copied()), known.len()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, 0) => "there is none yet".to_owned(),
            (None, count) => {
                let listed: Vec<String> = known.iter().take(8).map(|name| format!("`{name}`")).collect();
                format!("there is {}{}", listed.join(", "), if count > 8 { ", …" } else { "" })
            }
        };
        Refusal::usage(Code::E102, message, help)
    }

    fn new(reason: Reason, code: Code, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Box::new(Refusal { reason, code, message: message.into(), help: help.into() })
    }
}

impl From<PolicyError> for Box<Refusal> {
    fn from(error: PolicyError) -> Self {
        let near = match &error {
            PolicyError::UnknownLabel { label, .. } => nearest(label, BUILT_IN),
            _ => None,
        };
        if let Some(near) = near {
            return Refusal::usage(Code::E102, error.to_string(), format!("did you mean `{near}`?"));
        }
        let help = match &error {
            PolicyError::UnknownLabel { .. } => {
                "use `public`, `agent_visible`, `internal`, `evaluator_only`, `operator_only`, or define it under `labels`"
            }
            PolicyError::UnknownSplit(_) => "name a split that the policy labels under `splits`",
            PolicyError::NoReader { .. } => "give the field or the split a label with an audience in common",
            PolicyError::Name { .. } | PolicyError::Shape { .. } => "see `heldset explain E043`",
        };
        let code = if matches!(error, PolicyError::UnknownLabel { .. }) { Code::E102 } else { Code::E043 };
        Refusal::usage(code, error.to_string(), help)
    }
}

impl From<StoreError> for Box<Refusal> {
    fn from(error: StoreError) -> Self {
        crate::store_errors::refusal(&error)
    }
}
