//! Memory seeds: what an agent knows before the first token.
//!
//! *Invariant:* seeds are never merged, sorted or dropped: the experiment's come first, then the record's, in order.

use crate::code::Code;
use crate::fault::Problem;
use crate::path::Path;
use crate::value::{Object, Value};

/// A document that is in an agent's memory before the first turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// Where the knowledge comes from, as a label.
    pub source: String,
    /// The text.
    pub content: String,
    /// The one agent that gets it; all when absent.
    pub target_agent: Option<String>,
    /// What is stored beside it, verbatim.
    pub metadata: Option<Value<'static>>,
}

impl Seed {
    /// The seed that a mapping is.
    pub fn from_value(value: &Value<'_>, at: &Path) -> Result<Self, Problem> {
        let wrong = |path: Path, message: String| {
            Problem::new(Code::E022, path, message).help("a seed has `source` and `content`, both text")
        };
        let Some(seed) = value.as_object() else {
            return Err(wrong(at.clone(), format!("a seed is a mapping, not {}", value.type_name())));
        };
        let text = |name: &str| match seed.get(name) {
            Some(Value::String(text)) => Ok(Some(text.clone().into_owned())),
            None | Some(Value::Null) => Ok(None),
            Some(other) => Err(wrong(at.then_key(name), format!("`{name}` is text, not {}", other.type_name()))),
        };
        let must = |name: &str| text(name)?.ok_or_else(|| wrong(at.clone(), format!("the seed has no `{name}`")));
        let metadata = seed.get("metadata").filter(|metadata| !metadata.is_null()).cloned().map(Value::into_owned);
        Ok(Seed { source: must("source")?, content: must("content")?, target_agent: text("target_agent")?, metadata })
    }

    /// The seeds that a list is.
    pub fn list(value: &Value<'_>, at: &Path) -> Result<Vec<Seed>, Problem> {
        let Some(items) = value.as_array() else {
            let message = format!("`memory_seeds` is a list, not {}", value.type_name());
            return Err(Problem::new(Code::E022, at.clone(), message).help("write a list of mappings"));
        };
        items.iter().enumerate().map(|(index, item)| Seed::from_value(item, &at.then_index(index))).collect()
    }

    /// The seed as a mapping, without what is absent.
    pub fn to_value(&self) -> Value<'static> {
        let mut seed = Object::new();
        seed.set("source", self.source.clone().into());
        seed.set("content", self.content.clone().into());
        if let Some(agent) = &self.target_agent {
            seed.set("target_agent", agent.clone().into());
        }
        if let Some(metadata) = &self.metadata {
            seed.set("metadata", metadata.clone());
        }
        seed.into()
    }
}

/// The seeds of one run: the experiment's, then the record's.
pub fn effective(experiment: &[Seed], record: &[Seed]) -> Vec<Seed> {
    [experiment, record].concat()
}
