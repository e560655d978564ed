//! Extractors: which text of a session is graded.
//!
//! *Invariant:* an extractor that finds nothing says so; it never hands out an empty text in its place, unless Letta's
//! behaviour is asked for.

mod read;
mod walk;

use heldset_core::value::{Object, Value};

use crate::Ask;
use crate::case::{Case, Submission};
use crate::pattern::Pattern;

/// A configured extractor.
#[derive(Debug)]
pub(crate) enum Extractor {
    LastAssistant,
    FirstAssistant,
    AllAssistant { separator: String },
    LastTurn { separator: String },
    Pattern { pattern: Box<Pattern>, group: usize, search_all: bool },
    ToolArguments { tool: String },
    ToolOutput { tool: String },
    AfterMarker { marker: String, include: bool },
    MemoryBlock { label: String },
    JsonPointer { pointer: String },
    Turn { index: i64 },
    Custom { function: String, config: Object<'static> },
}

/// What an extractor comes to.
#[derive(Debug)]
pub(crate) enum Extraction {
    Found(Submission),
    /// Why nothing was found.
    Nothing(String),
    /// Why it failed.
    Failed(String),
    /// Somebody else extracts.
    Ask(Ask),
}

impl Extractor {
    /// Extracts; `compat` as Letta does.
    pub(crate) fn extract(&self, case: &Case<'_>, compat: bool) -> Extraction {
        match self {
            Extractor::Custom { function, config } => Extraction::Ask(Ask::Python {
                function: function.clone(),
                role: "extractor",
                payload: payload(case, config),
            }),
            own => match own.walk(case, compat) {
                Ok(found) => found,
                Err(failure) => Extraction::Failed(failure),
            },
        }
    }

    /// What a custom extractor answered.
    pub(crate) fn answered(answer: crate::Answer) -> Extraction {
        match answer {
            Ok(Value::Null) => Extraction::Nothing("the extractor gave null".to_owned()),
            Ok(value) => Extraction::Found(Submission::of(&value)),
            Err(failure) => Extraction::Failed(format!("the extractor failed: {failure}")),
        }
    }
}

fn payload(case: &Case<'_>, config: &Object<'static>) -> Value<'static> {
    let mut payload = Object::new();
    let mut trajectory = case.trace.clone();
    trajectory.turns = case.turns.to_vec();
    payload.set("trajectory", trajectory.to_value());
    payload.set("config", Value::Object(config.clone()));
    payload.set("agent_state", case.trace.memory.clone().unwrap_or(Value::Null));
    payload.into()
}
