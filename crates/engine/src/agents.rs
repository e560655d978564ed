//! The ports to those who are asked: agents under test, and judges and graders outside.
//!
//! *Invariant:* a [`Task`] holds what an agent may see and nothing else, apart from what is marked as the runtime's.

use std::ops::ControlFlow;

use heldset_core::seed::Seed;
use heldset_core::trace::Trace;
use heldset_core::value::{Object, Value};
use heldset_grade::{Answer, Ask};

use crate::refusal::Outcome;

/// One session to hold: a record in a scenario, once.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its number in the plan, from 0.
    pub number: u64,
    /// Which of the prepared targets.
    pub target: usize,
    /// The record.
    pub record_id: String,
    /// The id of the session: the record's own, or a fresh one.
    pub session_id: String,
    /// Whether the record fixes it: sessions of one fixed id never overlap.
    pub fixed: bool,
    /// What the agents know before, in order.
    pub seeds: Vec<Seed>,
    /// `agent_args`.
    pub args: Option<Value<'static>>,
    /// `tools`.
    pub tools: Option<Value<'static>>,
    /// `context`.
    pub context: Option<Value<'static>>,
    /// The turns to send and the history between them, in order; the first is the input.
    pub turns: Vec<Turn>,
    /// For the runtime, not for the agent: `tool_fixtures`, `checkpoint`, `extra_vars`.
    pub runtime: Object<'static>,
    /// The W3C trace context that is passed on.
    pub traceparent: String,
}

/// A turn of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// `user`, `hitl`, `system`: sent and answered; `assistant`: history, not sent.
    pub role: String,
    /// The text.
    pub content: String,
}

/// How a session ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The number of its task.
    pub number: u64,
    /// What happened, as far as it came.
    pub trace: Trace,
    /// Why it failed, if it did.
    pub failure: Option<AgentFailure>,
    /// How long it waited to begin.
    pub queue_ms: f64,
    /// How long it took.
    pub run_ms: f64,
    /// How often something was tried again.
    pub retries: u64,
}

/// Why a session failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFailure {
    /// A stable word: `timeout`, `crashed`, `protocol`, `connection`, `status`, `refused`, `agent`, `setup`.
    pub kind: &'static str,
    /// What happened, for people.
    pub message: String,
}

/// A target of one scenario, as it is to be prepared.
#[derive(Clone, Debug)]
pub struct TargetSpec {
    /// The scenario.
    pub scenario: String,
    /// The effective configuration.
    pub config: Object<'static>,
}

/// What a prepared target says of itself.
#[derive(Clone, Debug, Default)]
pub struct TargetFacts {
    /// The kind, as configured.
    pub kind: String,
    /// The agents it declares; absent when it does not tell them apart.
    pub agents: Option<Vec<String>>,
    /// Whether it can take seeds.
    pub takes_seeds: bool,
    /// Elements of its configuration that are readable files, with the SHA-256 of their bytes in hex.
    pub files: Vec<(String, String)>,
    /// `landlock`, `none`, or absent when no process of ours is started.
    pub isolation: Option<&'static str>,
}

/// How targets are prepared.
#[derive(Clone, Debug)]
pub struct Preparation<'p> {
    /// The targets, one for each scenario.
    pub targets: &'p [TargetSpec],
    /// Sessions at a time.
    pub max_concurrent: usize,
    /// Seconds that a session may take.
    pub run_timeout: Option<f64>,
    /// The Python function that is called before the first session.
    pub setup_script: Option<&'p str>,
    /// Paths that an agent's process must not reach, beside the store and the keys.
    pub hidden: &'p [std::path::PathBuf],
    /// The folder of the plan, which relative paths start from.
    pub base: &'p std::path::Path,
}

/// Who knows how to reach agents and judges.
pub trait Outside {
    /// Prepares targets: checks their configuration, starts nothing but what `setup_script` asks for at the first
    /// session.
    fn prepare(&self, preparation: &Preparation<'_>) -> Outcome<Box<dyn Agents>>;

    /// Prepares to ask judges and graders outside; `base` is the folder of the plan.
    fn helpers(&self, base: &std::path::Path, max_concurrent: usize) -> Outcome<Box<dyn Helpers>>;
}

/// Prepared targets.
pub trait Agents: Send {
    /// What each target says of itself, in order.
    fn facts(&self) -> &[TargetFacts];

    /// Holds sessions until there is no task left: takes a task whenever there is room, hands out each end. A break
    /// starts no further session, and waits for none.
    fn drive(&mut self, next: &mut dyn FnMut() -> Option<Task>, ended: &mut dyn FnMut(Ended) -> ControlFlow<()>);
}

/// Judges and graders outside.
pub trait Helpers: Send {
    /// Asks all, side by side, and gives the answers in the same order.
    fn ask(&mut self, asks: Vec<Ask>) -> Vec<Answer>;
}
