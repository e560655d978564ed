//! The target `openai_chat`: a model behind an endpoint that speaks chat completions, tools included.
//!
//! *Invariant:* one conversation for each session; every call of a tool is a step, answered by a fixture or failed.

mod messages;
mod model;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use heldset_core::fault::Problem;
use heldset_core::trace::{Delivery, Step};
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, TargetFacts, Task};

use crate::agent::{Agent, Progress, Session, failure};
use crate::config::{only, plain_text, span, text};
use crate::requests::{Net, count};
use crate::tools::{self, Fixtures};
use crate::turns::{self, TURN_TIMEOUT};
pub(crate) use messages::{Messages, context_text};
pub(crate) use model::{MODEL_KEYS, Model, Spoken, content_text};

const KEYS: &[&str] = &["system", "tools", "max_steps", "agents"];
/// How often a model may be asked in one turn when a plan does not say.
pub(crate) const MAX_STEPS: u64 = 20;

struct Chat {
    model: Model,
    system: Option<String>,
    tools: Vec<Value<'static>>,
    max_steps: u64,
    timeout: Duration,
}

/// The target of a configuration.
pub(crate) fn prepare(config: &Object<'static>, net: &Arc<Net>) -> Result<Box<dyn Agent>, Problem> {
    only(config, "openai_chat", &[KEYS, MODEL_KEYS].concat())?;
    Ok(Box::new(Chat {
        model: Model::prepare(config, net)?,
        system: text(config, "system")?.map(str::to_owned),
        tools: config.get("tools").map(tools::declared).unwrap_or_default(),
        max_steps: count(config, "max_steps")?.unwrap_or(MAX_STEPS).max(1),
        timeout: span(config, "timeout", TURN_TIMEOUT)?,
    }))
}

impl Agent for Chat {
    fn facts(&self) -> TargetFacts {
        TargetFacts { kind: "openai_chat".to_owned(), takes_seeds: true, ..TargetFacts::default() }
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(self.hold(task, progress))
    }
}

impl Chat {
    async fn hold(&self, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        let mut messages = Messages::default();
        if let Some(system) = &self.system {
            messages.say("system", system);
        }
        if let Some(context) = context_text(&task.seeds, task.context.as_ref()) {
            messages.say("system", &context);
        }
        let seeds = task.seeds.iter();
        let deliveries = seeds.map(|seed| Delivery { source: seed.source.clone(), agent: seed.target_agent.clone() });
        progress.trace.seeds.extend(deliveries);
        let mut declared = self.tools.clone();
        declared.extend(task.tools.as_ref().map(tools::declared).unwrap_or_default());
        let mut fixtures = Fixtures::new(&task.runtime);
        for turn in &task.turns {
            messages.turn(turn);
            if turns::is_history(turn) {
                continue;
            }
            let (messages, fixtures, declared) = (&mut messages, &mut fixtures, &declared);
            turns::take(progress, turn, self.timeout, async |progress| {
                self.answer(task, messages, declared, fixtures, progress).await
            })
            .await?;
        }
        Ok(())
    }

    async fn answer(
        &self,
        task: &Task,
        messages: &mut Messages,
        tools: &[Value<'static>],
        fixtures: &mut Fixtures<'_>,
        progress: &mut Progress,
    ) -> Result<Value<'static>, AgentFailure> {
        for _ in 0..self.max_steps {
            let spoken = self.model.complete(messages, tools, task, progress).await?;
            messages.spoken(&spoken);
            if spoken.calls.is_empty() {
                return Ok(Value::from(spoken.content.unwrap_or_default()));
            }
            let turn = turns::current(progress);
            turn.steps.extend(spoken.remark());
            for call in &spoken.calls {
                let outcome = fixtures.answer(call);
                messages.tool(call, &outcome);
                turn.steps.push(call.step(outcome));
            }
        }
        Err(failure("agent", format!("no answer after the model was asked {} times in one turn", self.max_steps)))
    }
}

impl Spoken {
    /// What the model said beside its calls, as a step.
    pub(crate) fn remark(&self) -> Option<Step> {
        let content = self.content.as_ref().filter(|content| !content.is_empty())?;
        Some(Step { output: Some(Value::from(content.clone())), ..Step::default() })
    }
}

/// What a tool answers, in the words that a model reads.
pub(crate) fn told(outcome: &Result<Value<'static>, String>) -> String {
    match outcome {
        Ok(output) => plain_text(output),
        Err(error) => format!("error: {error}"),
    }
}

#[cfg(test)]
mod tests;
