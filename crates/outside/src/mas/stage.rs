//! A session of several agents: who speaks, what was said, what each remembers.
//!
//! *Invariant:* a step names the agent that took it, and the hand-off that brought that agent in as its parent.

use heldset_core::number::Number;
use heldset_core::trace::{Delivery, Step, StepKind};
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, Task, Turn};

use super::cast::Cast;
use crate::agent::{Progress, failure};
use crate::chat::{Messages, context_text};
use crate::config::plain_text;
use crate::memory::{Document, Hit, Memory};
use crate::tools::{self, Call, Fixtures};
use crate::turns;

pub(super) struct Stage<'s> {
    cast: &'s Cast,
    task: &'s Task,
    /// What every agent hears.
    said: Messages,
    memories: Vec<Box<dyn Memory>>,
    written: Vec<(usize, Document)>,
    fixtures: Fixtures<'s>,
    record_tools: Vec<Value<'static>>,
    active: usize,
    parent: Option<String>,
}

impl<'s> Stage<'s> {
    /// Opens a session: seeds are in the memories before anybody speaks.
    pub(super) async fn open(cast: &'s Cast, task: &'s Task, progress: &mut Progress) -> Result<Self, AgentFailure> {
        let mut memories: Vec<Box<dyn Memory>> = cast.agents.iter().map(|_| cast.memory()).collect();
        for seed in &task.seeds {
            for (agent, memory) in cast.agents.iter().zip(&mut memories) {
                if seed.target_agent.as_ref().is_some_and(|target| *target != agent.name) {
                    continue;
                }
                let document = Document {
                    source: seed.source.clone(),
                    content: seed.content.clone(),
                    metadata: seed.metadata.clone(),
                };
                let indexed = memory.index_document(document).await;
                indexed.map_err(|why| failure("setup", format!("a seed was not indexed: {why}")))?;
                let delivery = Delivery { source: seed.source.clone(), agent: Some(agent.name.clone()) };
                progress.trace.seeds.push(delivery);
            }
        }
        let mut said = Messages::default();
        if let Some(context) = context_text(&[], task.context.as_ref()) {
            said.say("system", &context);
        }
        Ok(Stage {
            cast,
            task,
            said,
            memories,
            written: Vec::new(),
            fixtures: Fixtures::new(&task.runtime),
            record_tools: task.tools.as_ref().map(tools::declared).unwrap_or_default(),
            active: cast.entry,
            parent: None,
        })
    }

    /// A turn is said.
    pub(super) fn hears(&mut self, turn: &Turn) {
        self.said.turn(turn);
    }

    /// Answers the last turn. The agent that answers keeps the conversation.
    pub(super) async fn answer(
        &mut self,
        max_steps: u64,
        progress: &mut Progress,
    ) -> Result<Value<'static>, AgentFailure> {
        self.parent = None;
        for _ in 0..max_steps {
            let speaker = self.active;
            let agent = &self.cast.agents[speaker];
            let mut messages = Messages::default();
            if let Some(prompt) = &agent.prompt {
                messages.say("system", prompt);
            }
            messages.append(&self.said);
            let tools = [agent.tools.as_slice(), self.record_tools.as_slice()].concat();
            let spoken = agent.model.complete(&messages, &tools, self.task, progress).await?;
            self.said.spoken(&spoken);
            if spoken.calls.is_empty() {
                return Ok(Value::from(spoken.content.unwrap_or_default()));
            }
            let parent = self.parent.clone();
            let remark = spoken.remark().map(|remark| self.by(speaker, &parent, remark));
            turns::current(progress).steps.extend(remark);
            for call in &spoken.calls {
                let step = self.act(speaker, call).await;
                let step = self.by(speaker, &parent, step);
                turns::current(progress).steps.push(step);
            }
        }
        Err(failure("agent", format!("no answer after models were asked {max_steps} times in one turn")))
    }

    fn by(&self, speaker: usize, parent: &Option<String>, step: Step) -> Step {
        Step { agent: Some(self.cast.agents[speaker].name.clone()), parent: parent.clone(), ..step }
    }

    /// Does what a call asks for, and tells the model.
    async fn act(&mut self, speaker: usize, call: &Call) -> Step {
        let handoff = self.cast.agents[speaker].handoffs.iter().find(|(tool, _)| *tool == call.name);
        if let Some((_, to)) = handoff {
            let name = self.cast.agents[*to].name.clone();
            self.active = *to;
            self.parent = Some(call.id.clone());
            self.said.tool(call, &Ok(Value::from(format!("{name} takes over"))));
            let step = call.step(Ok(Value::Null));
            return Step { kind: StepKind::Handoff, name: Some(name), output: None, ..step };
        }
        match call.name.as_str() {
            "memory_search" => self.search(speaker, call).await,
            "memory_write" | "remember" => {
                let outcome = self.remember(speaker, call).await;
                self.said.tool(call, &outcome);
                call.step(outcome)
            }
            _ => {
                let outcome = self.fixtures.answer(call);
                self.said.tool(call, &outcome);
                call.step(outcome)
            }
        }
    }

    async fn search(&mut self, speaker: usize, call: &Call) -> Step {
        let outcome = self.hits(speaker, call).await;
        let sources = outcome.iter().flatten().map(|hit| hit.document.source.clone()).collect();
        let outcome = outcome.map(|hits| Value::Array(hits.into_iter().map(hit_value).collect()));
        self.said.tool(call, &outcome);
        Step { kind: StepKind::Retrieval, sources, ..call.step(outcome) }
    }

    async fn hits(&self, speaker: usize, call: &Call) -> Result<Vec<Hit>, String> {
        let arguments = call.parsed()?;
        let arguments = arguments.as_object().ok_or("the arguments are not a mapping")?;
        let query = arguments.get("query").map(plain_text).ok_or("the search has no `query`")?;
        let k = match arguments.get("k") {
            Some(Value::Number(k)) => k.as_u64().map_or(self.cast.k, |k| k as usize),
            _ => self.cast.k,
        };
        let filter = arguments.get("filter").and_then(Value::as_object);
        self.memories[speaker].search(&query, k, filter).await
    }

    async fn remember(&mut self, speaker: usize, call: &Call) -> Result<Value<'static>, String> {
        let arguments = call.parsed()?;
        let arguments = arguments.as_object().ok_or("the arguments are not a mapping")?;
        let content = arguments.get("content").or_else(|| arguments.get("text")).map(plain_text);
        let document = Document {
            source: arguments.get("source").map_or_else(|| self.cast.agents[speaker].name.clone(), plain_text),
            content: content.ok_or("there is no `content` to remember")?,
            metadata: arguments.get("metadata").filter(|metadata| !metadata.is_null()).cloned(),
        };
        self.memories[speaker].index_document(document.clone()).await?;
        self.written.push((speaker, document));
        Ok(Value::from("remembered"))
    }

    /// What the agents wrote into their memories, as blocks.
    pub(super) fn memory(&self) -> Option<Value<'static>> {
        let block = |(speaker, document): &(usize, Document)| {
            let mut block = Object::new();
            block.set("label", document.source.clone().into());
            block.set("value", document.content.clone().into());
            block.set("agent", self.cast.agents[*speaker].name.clone().into());
            Value::Object(block)
        };
        (!self.written.is_empty()).then(|| Value::Array(self.written.iter().map(block).collect()))
    }
}

fn hit_value(hit: Hit) -> Value<'static> {
    let mut value = Object::new();
    value.set("source", hit.document.source.into());
    value.set("content", hit.document.content.into());
    if let Some(metadata) = hit.document.metadata {
        value.set("metadata", metadata);
    }
    if let Ok(score) = Number::from_f64(hit.score) {
        value.set("score", Value::Number(score));
    }
    value.into()
}
