//! The targets echo, scripted and replay: no network.
//!
//! *Invariant:* what comes back depends on the configuration and on what is sent, never on time or on other sessions
//! of other records.

mod replay;
mod scripted;

use heldset_core::fault::Problem;
use heldset_core::seed::Seed;
use heldset_core::trace::{Delivery, Trace, TurnTrace};
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, TargetFacts, Task, Turn};

pub(crate) use replay::prepare as replay;
pub(crate) use scripted::prepare as scripted;

use crate::agent::{Agent, Progress, Session, failure};
use crate::config;

/// The input back.
struct Echo;

/// The target `echo`.
pub(crate) fn echo(config: &Object<'static>) -> Result<Box<dyn Agent>, Problem> {
    config::only(config, "echo", &[])?;
    Ok(Box::new(Echo))
}

impl Agent for Echo {
    fn facts(&self) -> TargetFacts {
        TargetFacts { kind: "echo".to_owned(), takes_seeds: true, ..TargetFacts::default() }
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(async move {
            deliver(&task.seeds, None, &mut progress.trace)?;
            for (_, turn) in sent(task) {
                let output = Some(Value::from(turn.content.clone()));
                progress.trace.turns.push(TurnTrace { output, ..begun(turn) });
            }
            Ok(())
        })
    }
}

/// The turns that are sent, with their numbers among those that are.
pub(crate) fn sent(task: &Task) -> impl Iterator<Item = (usize, &Turn)> {
    task.turns.iter().filter(|turn| turn.role != "assistant").enumerate()
}

/// A turn that is sent and not yet answered.
pub(crate) fn begun(turn: &Turn) -> TurnTrace {
    TurnTrace { role: turn.role.clone(), content: turn.content.clone(), ..TurnTrace::default() }
}

/// Records the delivery of seeds: to the agent that is named, else to every declared one.
pub(crate) fn deliver(seeds: &[Seed], agents: Option<&[String]>, trace: &mut Trace) -> Result<(), AgentFailure> {
    for seed in seeds {
        let to = |agent: Option<&String>| Delivery { source: seed.source.clone(), agent: agent.cloned() };
        match (agents, &seed.target_agent) {
            (Some(agents), Some(agent)) if !agents.contains(agent) => {
                return Err(failure("refused", format!("the target has no agent `{agent}`")));
            }
            (Some(agents), None) => trace.seeds.extend(agents.iter().map(|agent| to(Some(agent)))),
            (_, agent) => trace.seeds.push(to(agent.as_ref())),
        }
    }
    Ok(())
}
