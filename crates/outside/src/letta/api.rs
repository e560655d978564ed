//! Letta's REST API, as far as sessions need it.
//!
//! *Invariant:* an id goes into a path as one part of it, whatever it holds.

use bytes::Bytes;
use heldset_core::canonical;
use heldset_core::number::Number;
use heldset_core::seed::Seed;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, Task, Turn};
use reqwest::Method;

use crate::agent::{Progress, failure};
use crate::config::plain_text;
use crate::requests::{Endpoint, excerpt, percent_encoded};
use crate::turns;
use crate::watch::Watch;

pub(super) struct Api {
    root: Endpoint,
}

impl Api {
    pub(super) fn new(root: Endpoint) -> Self {
        Api { root }
    }

    async fn call(
        &self,
        (method, path): (Method, String),
        body: impl Into<Bytes>,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<Value<'static>, AgentFailure> {
        let endpoint = self.root.under(method, &path);
        let reply = endpoint.send(body, &task.traceparent, &|_| String::new(), &mut progress.retries).await?;
        if reply.text.trim().is_empty() { Ok(Value::Null) } else { reply.json() }
    }

    /// Sends a turn and gives the whole answer.
    pub(super) async fn message(
        &self,
        id: &str,
        turn: &Turn,
        max_steps: u64,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<Value<'static>, AgentFailure> {
        let mut message = Object::new();
        message.set("role", if turn.role == "system" { "system" } else { "user" }.into());
        message.set("content", turn.content.clone().into());
        if turn.role == "hitl" {
            message.set("name", "operator".into());
        }
        let mut body = Object::new();
        body.set("messages", Value::Array(vec![message.into()]));
        body.set("max_steps", Value::Number(Number::from_u64(max_steps)));
        let watch = Watch::start();
        let answer = self.call((Method::POST, at(id, "/messages")), bytes(body), task, progress).await;
        turns::current(progress).model_ms += watch.ms();
        answer
    }

    /// Puts a seed into the archival memory.
    pub(super) async fn seed(
        &self,
        id: &str,
        seed: &Seed,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<(), AgentFailure> {
        let mut body = Object::new();
        body.set("text", format!("[source: {}]\n{}", seed.source, seed.content).into());
        self.call((Method::POST, at(id, "/archival-memory")), bytes(body), task, progress).await.map(|_| ())
    }

    pub(super) async fn set_model(
        &self,
        id: &str,
        model: &str,
        task: &Task,
        progress: &mut Progress,
    ) -> Result<(), AgentFailure> {
        let mut body = Object::new();
        body.set("model", model.to_owned().into());
        self.call((Method::PATCH, at(id, "")), bytes(body), task, progress).await.map(|_| ())
    }

    pub(super) async fn delete(&self, id: &str, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        self.call((Method::DELETE, at(id, "")), Bytes::new(), task, progress).await.map(|_| ())
    }

    /// Makes an agent of a file.
    pub(super) async fn import(
        &self,
        file: &[u8],
        task: &Task,
        progress: &mut Progress,
    ) -> Result<String, AgentFailure> {
        const BOUNDARY: &str = "heldset-7d1f0c2a9b64";
        let mut body = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"agent.af\"\r\n\
             Content-Type: application/json\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(file);
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let endpoint = self.root.under(Method::POST, "/v1/agents/import");
        let endpoint = endpoint.content_type(&format!("multipart/form-data; boundary={BOUNDARY}"));
        let reply = endpoint.send(body, &task.traceparent, &|_| String::new(), &mut progress.retries).await?;
        let answer = reply.json()?;
        let made = answer.as_object();
        let first = made.and_then(|made| made.get("agent_ids")?.as_array()?.first()?.as_str());
        first.or_else(|| made?.get("id")?.as_str()).map(str::to_owned).ok_or_else(|| {
            failure("setup", format!("the import of the agent answered without an id: {}", excerpt(&reply.text)))
        })
    }

    /// The blocks of the core memory, each text by its label.
    pub(super) async fn blocks(&self, id: &str, task: &Task, progress: &mut Progress) -> Option<Value<'static>> {
        let path = at(id, "/core-memory/blocks");
        let listed = self.call((Method::GET, path), Bytes::new(), task, progress).await.ok();
        let listed = match listed {
            Some(Value::Array(blocks)) => blocks,
            _ => {
                let state = self.call((Method::GET, at(id, "")), Bytes::new(), task, progress).await.ok()?;
                state.as_object()?.get("memory")?.as_object()?.get("blocks")?.as_array()?.to_vec()
            }
        };
        let block = |block: &Value<'static>| {
            let block = block.as_object()?;
            Some((block.get("label")?.as_str()?.to_owned().into(), Value::from(plain_text(block.get("value")?))))
        };
        Some(Value::Object(listed.iter().filter_map(block).collect()))
    }
}

fn at(id: &str, path: &str) -> String {
    format!("/v1/agents/{}{path}", percent_encoded(id))
}

fn bytes(body: Object<'static>) -> Vec<u8> {
    canonical::bytes(&Value::Object(body))
}
