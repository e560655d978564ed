//! The target `mas`: a small multi-agent runtime over models, with hand-offs as tools and a memory for each agent.
//!
//! *Invariant:* an agent searches and writes its own memory only, and that memory lasts for one session.

mod cast;
mod stage;

use std::sync::Arc;
use std::time::Duration;

use heldset_core::fault::Problem;
use heldset_core::value::Object;
use heldset_engine::agents::{AgentFailure, TargetFacts, Task};

use crate::agent::{Agent, Progress, Session};
use crate::chat::{MAX_STEPS, MODEL_KEYS};
use crate::config::{only, span};
use crate::requests::{Net, count};
use crate::turns::{self, TURN_TIMEOUT};
use cast::Cast;
use stage::Stage;

const KEYS: &[&str] = &[
    "agents",
    "entry",
    "memory",
    "max_steps",
    "tools",
    "system",
    "manifest",
    "spec",
    "metadata",
    "apiVersion",
    "application",
    "applications",
];

struct Mas {
    cast: Cast,
    max_steps: u64,
    timeout: Duration,
}

/// The target of a configuration.
pub(crate) fn prepare(config: &Object<'static>, net: &Arc<Net>) -> Result<Box<dyn Agent>, Problem> {
    only(config, "mas", &[KEYS, MODEL_KEYS].concat())?;
    Ok(Box::new(Mas {
        cast: Cast::prepare(config, net)?,
        max_steps: count(config, "max_steps")?.unwrap_or(MAX_STEPS).max(1),
        timeout: span(config, "timeout", TURN_TIMEOUT)?,
    }))
}

impl Agent for Mas {
    fn facts(&self) -> TargetFacts {
        TargetFacts {
            kind: "mas".to_owned(),
            agents: Some(self.cast.names()),
            takes_seeds: true,

            ..TargetFacts::default()
        }
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(self.hold(task, progress))
    }
}

impl Mas {
    async fn hold(&self, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        let mut stage = Stage::open(&self.cast, task, progress).await?;
        for turn in &task.turns {
            stage.hears(turn);
            if turns::is_history(turn) {
                continue;
            }
            let stage = &mut stage;
            turns::take(progress, turn, self.timeout, async |progress| stage.answer(self.max_steps, progress).await)
                .await?;
        }
        progress.trace.memory = stage.memory();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
