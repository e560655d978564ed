//! The target `letta_agent`: agents behind Letta's REST API.
//!
//! *Invariant:* an agent that a session made is that session's alone; sessions of an agent that was there before never
//! overlap.

mod api;
mod messages;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use heldset_core::digest::sha256;
use heldset_core::fault::Problem;
use heldset_core::trace::Delivery;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, TargetFacts, Task};
use tokio::sync::Mutex;

use crate::agent::{Agent, Progress, Session};
use crate::config::{flag, only, span, text, wrong};
use crate::requests::{Endpoint, Net, count};
use crate::turns::{self, TURN_TIMEOUT};
use api::Api;

const KEYS: &[&str] = &[
    "base_url",
    "api_key",
    "headers",
    "project_id",
    "agent_id",
    "agent_file",
    "agent_script",
    "model_handles",
    "model_handle",
    "model_configs",
    "cleanup",
    "max_steps",
];
/// Where a server of one's own listens.
const BASE_URL: &str = "http://localhost:8283";
const MAX_STEPS: u64 = 100;

/// Makes an agent for a task with a Python function, and gives its id.
pub(crate) trait AgentScript: Send {
    /// Makes one.
    fn make<'a>(&'a self, task: &'a Task) -> Made<'a>;
}

/// The id of an agent that is being made.
pub(crate) type Made<'a> = Pin<Box<dyn Future<Output = Result<String, AgentFailure>> + 'a>>;

enum Origin {
    Existing(String, Mutex<()>),
    File { name: String, bytes: Vec<u8>, digest: String },
    Script(Box<dyn AgentScript>),
}

struct Letta {
    api: Api,
    origin: Origin,
    model: Option<String>,
    cleanup: bool,
    max_steps: u64,
    timeout: Duration,
}

/// The target of a configuration; `script` makes agents when the configuration has an `agent_script`.
pub(crate) fn prepare(
    config: &Object<'static>,
    net: &Arc<Net>,
    base: &Path,
    script: Option<Box<dyn AgentScript>>,
) -> Result<Box<dyn Agent>, Problem> {
    only(config, "letta_agent", KEYS)?;
    let url = text(config, "base_url")?.unwrap_or(BASE_URL).trim_end_matches('/').to_owned();
    Ok(Box::new(Letta {
        api: Api::new(Endpoint::new(net, &with_key(config, net), ("base_url", &url), &[])?),
        origin: origin(config, base, script)?,
        model: model(config)?,
        cleanup: flag(config, "cleanup", false)?,
        max_steps: count(config, "max_steps")?.unwrap_or(MAX_STEPS),
        timeout: span(config, "timeout", TURN_TIMEOUT)?,
    }))
}

/// The configuration with the key that the environment has, and without one that it has not: a server of one's own
/// needs none.
fn with_key(config: &Object<'static>, net: &Net) -> Object<'static> {
    const KEY: &str = "${LETTA_API_KEY}";
    let mut config = config.clone();
    let is_set = net.secret("LETTA_API_KEY").is_some_and(|key| !key.is_empty());
    match config.get("api_key").and_then(Value::as_str) {
        None if is_set => config.set("api_key", KEY.into()),
        Some(KEY) if !is_set => config.set("api_key", Value::Null),
        _ => {}
    }
    if let Some(project) = config.get("project_id").filter(|project| !project.is_null()).cloned() {
        let mut headers = config.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
        headers.set("x-project", project);
        config.set("headers", headers.into());
    }
    config
}

fn origin(config: &Object<'static>, base: &Path, script: Option<Box<dyn AgentScript>>) -> Result<Origin, Problem> {
    const HELP: &str = "give one of `agent_id`, `agent_file` and `agent_script`";
    let (id, file) = (text(config, "agent_id")?, text(config, "agent_file")?);
    match (id, file, text(config, "agent_script")?, script) {
        (Some(id), None, None, _) => Ok(Origin::Existing(id.to_owned(), Mutex::new(()))),
        (None, Some(name), None, _) => {
            let bytes = std::fs::read(base.join(name))
                .map_err(|error| wrong("agent_file", format!("`{name}` cannot be read: {error}"), "check the path"))?;
            let digest = sha256(&bytes).hex();
            Ok(Origin::File { name: name.to_owned(), bytes, digest })
        }
        (None, None, Some(_), Some(script)) => Ok(Origin::Script(script)),
        (None, None, Some(_), None) => Err(wrong("agent_script", "no Python can run the `agent_script`", HELP)),
        (None, None, None, _) => Err(wrong("agent_id", "a `letta_agent` target has no agent", HELP)),
        _ => Err(wrong("agent_id", "a `letta_agent` target has more than one agent", HELP)),
    }
}

fn model(config: &Object<'static>) -> Result<Option<String>, Problem> {
    for key in ["model", "model_handle"] {
        if let Some(model) = text(config, key)? {
            return Ok(Some(model.to_owned()));
        }
    }
    match config.get("model_handles").and_then(Value::as_array) {
        None | Some([]) => Ok(None),
        Some([one]) => Ok(one.as_str().map(str::to_owned)),
        Some(_) => Err(wrong("model_handles", "a target has one model", "make a scenario for each of the models")),
    }
}

impl Agent for Letta {
    fn facts(&self) -> TargetFacts {
        let files = match &self.origin {
            Origin::File { name, digest, .. } => vec![(name.clone(), digest.clone())],
            _ => Vec::new(),
        };
        let kind = "letta_agent".to_owned();
        TargetFacts { kind, takes_seeds: true, files, ..TargetFacts::default() }
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(self.hold(task, progress))
    }
}

impl Letta {
    async fn hold(&self, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        let (id, made, _alone) = match &self.origin {
            Origin::Existing(id, one_at_a_time) => (id.clone(), false, Some(one_at_a_time.lock().await)),
            Origin::File { bytes, .. } => (self.api.import(bytes, task, progress).await?, true, None),
            Origin::Script(script) => (script.make(task).await?, true, None),
        };
        let outcome = self.talk(&id, task, progress).await;
        if made && self.cleanup {
            // That an agent stays behind is no fault of the session, and it is told.
            if let Err(failed) = self.api.delete(&id, task, progress).await {
                let log = progress.trace.log.get_or_insert_default();
                log.push_str(&format!("agent `{id}` could not be deleted: {}\n", failed.message));
            }
        }
        outcome
    }

    async fn talk(&self, id: &str, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        if let Some(model) = &self.model {
            self.api.set_model(id, model, task, progress).await?;
            progress.trace.reported = Some(model.clone());
        }
        for seed in &task.seeds {
            self.api.seed(id, seed, task, progress).await?;
            let delivery = Delivery { source: seed.source.clone(), agent: seed.target_agent.clone() };
            progress.trace.seeds.push(delivery);
        }
        for turn in task.turns.iter().filter(|turn| !turns::is_history(turn)) {
            turns::take(progress, turn, self.timeout, async |progress| {
                let answer = self.api.message(id, turn, self.max_steps, task, progress).await?;
                messages::read(&answer, turns::current(progress))
            })
            .await?;
        }
        progress.trace.memory = self.api.blocks(id, task, progress).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
