//! What an agent did in one session: outputs of every turn, steps, retrievals, usage, times.
//!
//! *Invariant:* the order of turns and steps is the order in which they happened; nothing is cut.

mod calls;
mod read;
mod write;

pub use calls::{ToolCall, tool_calls};

use crate::value::Value;

/// A session, from its opening to its close, or to where it failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// One for each turn that was sent.
    pub turns: Vec<TurnTrace>,
    /// Each delivery of a seed, in order.
    pub seeds: Vec<Delivery>,
    /// What the agent reports of its memory at the end: a mapping of block label to text, or a list of blocks.
    pub memory: Option<Value<'static>>,
    /// What the agent says it is, such as the name of a model.
    pub reported: Option<String>,
    /// What was printed beside the protocol, such as standard error; kept for reading, at most 64 KiB.
    pub log: Option<String>,
}

/// One turn: what was sent by whom, and what came back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnTrace {
    /// `user`, `hitl` or `system`.
    pub role: String,
    /// What was sent.
    pub content: String,
    /// What the agent answered: text or any JSON. Absent when it did not answer.
    pub output: Option<Value<'static>>,
    /// What it did before it answered, messages of the assistant among it.
    pub steps: Vec<Step>,
    /// Tokens and cost.
    pub usage: Usage,
    /// How long the turn took.
    pub elapsed_ms: f64,
    /// How long models took in it, as far as that is known.
    pub model_ms: f64,
}

/// One thing an agent did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What kind of thing.
    pub kind: StepKind,
    /// The tool, or the agent of a hand-off.
    pub name: Option<String>,
    /// Which agent did it.
    pub agent: Option<String>,
    /// The id of the call; a result has that of its call.
    pub call_id: Option<String>,
    /// The id of the call it happened in.
    pub parent: Option<String>,
    /// With what arguments.
    pub arguments: Option<Value<'static>>,
    /// The text of a message or thought, the result of a tool, the documents of a retrieval.
    pub output: Option<Value<'static>>,
    /// Whether it failed.
    pub status: StepStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// Sources of seeds that were retrieved, in their order.
    pub sources: Vec<String>,
    /// How long it took.
    pub elapsed_ms: Option<f64>,
    /// All else that was said of it.
    pub more: Option<Value<'static>>,
}

/// What kind of thing an agent did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepKind {
    /// A message of the assistant.
    #[default]
    Message,
    /// A thought.
    Thinking,
    /// A call of a tool; `output` is its result when that is known.
    ToolCall,
    /// The result of a call that was told apart from it.
    ToolResult,
    /// A search in memory.
    Retrieval,
    /// Another agent takes over.
    Handoff,
}

/// Whether a step failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepStatus {
    /// It did not.
    #[default]
    Ok,
    /// It did.
    Error,
}

/// Tokens and cost; what is not known is absent, not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens that models read.
    pub input_tokens: Option<u64>,
    /// Tokens that models wrote.
    pub output_tokens: Option<u64>,
    /// What it cost.
    pub cost: Option<f64>,
}

/// A seed that reached an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its source.
    pub source: String,
    /// The agent whose memory it is in; absent when the target does not tell its agents apart.
    pub agent: Option<String>,
}

impl StepKind {
    /// Every kind with its name.
    pub const ALL: [(StepKind, &'static str); 6] = [
        (StepKind::Message, "message"),
        (StepKind::Thinking, "thinking"),
        (StepKind::ToolCall, "tool_call"),
        (StepKind::ToolResult, "tool_result"),
        (StepKind::Retrieval, "retrieval"),
        (StepKind::Handoff, "handoff"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("message", |(_, name)| name)
    }

    /// The kind of that name, or of a name that others use for it.
    pub fn parse(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind);
        known.or_else(|| {
            Some(match name {
                "action" | "tool" | "tool_use" | "function_call" | "tool_call_message" => StepKind::ToolCall,
                "response" | "assistant" | "text" | "assistant_message" => StepKind::Message,
                "thought" | "reasoning" | "reasoning_message" => StepKind::Thinking,
                "tool_return" | "tool_return_message" | "function_call_output" => StepKind::ToolResult,
                _ => return None,
            })
        })
    }
}

impl Usage {
    /// Both together; what only one knows stays known.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        fn sum<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            }
        }
        Usage {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cost: sum(self.cost, other.cost),
        }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Usage::default()
    }
}

impl Trace {
    /// The output of the last turn that was answered.
    pub fn output(&self) -> Option<&Value<'static>> {
        self.turns.iter().rev().find_map(|turn| turn.output.as_ref())
    }

    /// Tokens and cost of all turns.
    pub fn usage(&self) -> Usage {
        self.turns.iter().fold(Usage::default(), |sum, turn| sum.plus(turn.usage))
    }

    /// All steps in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.turns.iter().flat_map(|turn| &turn.steps)
    }

    /// All calls of tools in order, each with its result when that was told apart.
    pub fn tool_calls(&self) -> impl Iterator<Item = ToolCall<'_>> {
        tool_calls(&self.turns).into_iter()
    }
}
