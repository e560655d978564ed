//! The target command: a program that speaks the session protocol, or plain text.
//!
//! *Invariant:* one process serves one session at a time; none is left when its session is over, but those of a pool.

mod argv;
mod ask;
mod groups;
pub(crate) mod process;
mod protocol;
mod tail;
pub(crate) mod yard;

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use heldset_core::fault::Problem;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, TargetFacts, Task};

pub(crate) use argv::{limits, network};
pub(crate) use ask::ask;
pub use groups::end_all;
pub(crate) use yard::Yard;

use crate::agent::{Agent, Progress, Secrets, Session, failure};
use crate::canned::{begun, sent};
use crate::config::{self, plain_text, wrong};
use crate::watch::Watch;
use process::{Process, Program};

/// How long a turn may take when nothing is said.
pub(crate) const TURN: Duration = Duration::from_secs(300);

/// A program as a target.
pub(crate) struct CommandAgent {
    pub(crate) facts: TargetFacts,
    pub(crate) yard: Arc<Yard>,
    pub(crate) program: Program,
    pub(crate) limit: Duration,
    pub(crate) manner: Manner,
    /// Processes that wait for their next session.
    pub(crate) pool: RefCell<Vec<Process>>,
}

/// How a program is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The session protocol, a process for each session.
    Session,
    /// The session protocol, processes that serve one session after another.
    Reuse,
    /// The input on standard input, the answer on standard output; a process for each turn.
    Text,
}

const KEYS: &[&str] =
    &["command", "args", "env", "protocol", "reuse", "network", "limits", "agents", "turn_timeout", "run_timeout"];

/// The target `command`.
pub(crate) fn prepare(
    config: &Object<'static>,
    secrets: &Secrets,
    yard: &Arc<Yard>,
) -> Result<Box<dyn Agent>, Problem> {
    config::only(config, "command", KEYS)?;
    let reuse = config::flag(config, "reuse", false)?;
    let manner = match (config::text(config, "protocol")?, reuse) {
        (None | Some("session" | "jsonl" | "json"), false) => Manner::Session,
        (None | Some("session" | "jsonl" | "json"), true) => Manner::Reuse,
        (Some("text"), false) => Manner::Text,
        (Some("text"), true) => {
            return Err(wrong(
                "reuse",
                "a `text` program cannot be reused",
                "drop `reuse`, or use the session protocol",
            ));
        }
        (Some(other), _) => {
            return Err(wrong("protocol", format!("there is no protocol `{other}`"), "write `session` or `text`"));
        }
    };
    let argv = argv::read(config, yard)?;
    let limit = config::span(config, "turn_timeout", config::span(config, "timeout", TURN)?)?;
    let facts = TargetFacts {
        kind: "command".to_owned(),
        agents: config::agents(config)?,
        takes_seeds: manner != Manner::Text,
        files: argv.files,

        isolation: Some(yard.isolation()),
    };
    let program = Program {
        argv: argv.words,
        env: config::environment(config, secrets)?,
        network: network(config)?,
        limits: limits(config)?,
        read: argv.read,
    };
    Ok(Box::new(CommandAgent { facts, yard: yard.clone(), program, limit, manner, pool: RefCell::default() }))
}

impl Agent for CommandAgent {
    fn facts(&self) -> TargetFacts {
        self.facts.clone()
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(async move {
            if let (Some(agents), Some(unknown)) = (&self.facts.agents, self.unknown(task)) {
                return Err(failure("refused", format!("`{unknown}` is none of the agents {}", agents.join(", "))));
            }
            match self.manner {
                Manner::Session => self.alone(task, progress).await,
                Manner::Reuse => self.in_turn(task, progress).await,
                Manner::Text => self.by_text(task, progress).await,
            }
        })
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(async {
            let idle = std::mem::take(&mut *self.pool.borrow_mut());
            let ends = idle.into_iter().map(|mut process| async move {
                process.finish(&mut None).await;
            });
            futures_util::future::join_all(ends).await;
        })
    }
}

impl CommandAgent {
    fn unknown<'t>(&self, task: &'t Task) -> Option<&'t str> {
        let agents = self.facts.agents.as_ref()?;
        task.seeds
            .iter()
            .filter_map(|seed| seed.target_agent.as_deref())
            .find(|agent| !agents.iter().any(|a| a == agent))
    }

    async fn alone(&self, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        let (env, mut variables) = extra(task);
        variables.push(("TRACEPARENT".to_owned(), task.traceparent.clone()));
        let mut process = Process::start(&self.yard, &self.program, &variables)?;
        self.talk(&mut process, task, &env, progress).await?;
        protocol::part(&mut process, progress).await
    }

    async fn in_turn(&self, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        let (env, _) = extra(task);
        let mut process = loop {
            let Some(mut idle) = self.pool.borrow_mut().pop() else {
                break Process::start(&self.yard, &self.program, &[])?;
            };
            if !idle.is_spent() {
                idle.renew();
                break idle;
            }
        };
        // A process whose session fails is not used again.
        self.talk(&mut process, task, &env, progress).await?;
        self.pool.borrow_mut().push(process);
        Ok(())
    }

    async fn talk(
        &self,
        process: &mut Process,
        task: &Task,
        env: &Object<'static>,
        progress: &mut Progress,
    ) -> Result<(), AgentFailure> {
        let outcome = protocol::converse(process, task, env, self.limit, progress).await;
        if outcome.as_ref().is_err_and(|failure| failure.kind == "agent") {
            // What it printed beside the error tells why.
            process.finish(&mut progress.trace.log).await;
        }
        outcome
    }

    async fn by_text(&self, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        let (_, mut variables) = extra(task);
        variables.push(("TRACEPARENT".to_owned(), task.traceparent.clone()));
        if !task.seeds.is_empty() {
            return Err(failure("refused", "a `text` program cannot take seeds"));
        }
        for (number, turn) in sent(task) {
            let watch = Watch::start();
            progress.trace.turns.push(begun(turn));
            let asked = self.ask_text(turn.content.as_bytes(), number, &variables, progress);
            let answered = tokio::time::timeout(self.limit, asked).await.unwrap_or_else(|_| {
                let limit = self.limit.as_secs_f64();
                Err(failure("timeout", format!("turn {} was not answered within {limit} s", number + 1)))
            });
            if let Some(turn) = progress.trace.turns.last_mut() {
                turn.elapsed_ms = watch.ms();
                turn.output = answered?.map(Value::from);
            }
        }
        Ok(())
    }

    async fn ask_text(
        &self,
        input: &[u8],
        number: usize,
        variables: &[(String, String)],
        progress: &mut Progress,
    ) -> Result<Option<String>, AgentFailure> {
        let log = &mut progress.trace.log;
        let mut process = Process::start(&self.yard, &self.program, variables)?;
        let mut output = process.send_all(input, log).await?;
        let (rest, status) = process.finish(log).await;
        output.extend(rest);
        if !status.is_some_and(|status| status.success()) {
            let how = status.map_or_else(|| "did not end".to_owned(), |status| format!("ended with {status}"));
            let last = log.as_deref().and_then(|log| log.lines().rev().find(|line| !line.trim().is_empty()));
            let why = last.map(|last| format!(": {}", last.trim())).unwrap_or_default();
            return Err(failure("crashed", format!("the agent {how} in turn {}{why}", number + 1)));
        }
        let text = String::from_utf8(output)
            .map_err(|_| failure("protocol", format!("the answer to turn {} is not UTF-8", number + 1)))?;
        let text = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text)).unwrap_or(&text);
        Ok(Some(text.to_owned()))
    }
}

/// The variables that a record gives, as a mapping and as they are set.
fn extra(task: &Task) -> (Object<'static>, Vec<(String, String)>) {
    let vars = task.runtime.get("extra_vars").and_then(Value::as_object);
    let env = vars.and_then(|vars| vars.get("env")).and_then(Value::as_object).cloned().unwrap_or_default();
    let settable = |(name, value): (&str, &Value<'_>)| {
        let text = plain_text(value);
        let fits = !name.is_empty() && !name.contains(['=', '\0']) && !text.contains('\0') && !value.is_null();
        fits.then(|| (name.to_owned(), text))
    };
    let variables = env.iter().filter_map(settable).collect();
    (env, variables)
}
