//! A model behind an endpoint that speaks chat completions.
//!
//! *Invariant:* the parameters of a request are those of the configuration; what is not configured is not sent.

use std::sync::Arc;

use heldset_core::canonical;
use heldset_core::fault::Problem;
use heldset_core::trace::Usage;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, Task};

use super::messages::Messages;
use super::stream;
use crate::agent::{Progress, failure};
use crate::config::{flag, plain_text, text, wrong};
use crate::requests::{Endpoint, Net, excerpt};
use crate::tools::Call;
use crate::turns;
use crate::watch::Watch;

/// What a configuration may say of a model.
pub(crate) const MODEL_KEYS: &[&str] = &[
    "base_url",
    "api_key",
    "headers",
    "stream",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "top_p",
    "stop",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "extra_body",
];
/// Of those, what is sent as it is.
const SENT: &[&str] = &[
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "top_p",
    "stop",
    "response_format",
    "reasoning_effort",
];
/// What is sent only beside tools.
const SENT_WITH_TOOLS: &[&str] = &["tool_choice", "parallel_tool_calls"];

/// A model that is ready to be asked.
pub(crate) struct Model {
    endpoint: Endpoint,
    /// `{"model":"…",…`, up to the messages.
    head: Vec<u8>,
    beside_tools: Vec<u8>,
    stream: bool,
}

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spoken {
    /// The text.
    pub(crate) content: Option<String>,
    /// The tools it wants called.
    pub(crate) calls: Vec<Call>,
    /// Tokens.
    pub(crate) usage: Usage,
    /// What it says it is.
    pub(crate) model: Option<String>,
}

impl Model {
    /// The model of a configuration.
    pub(crate) fn prepare(config: &Object<'static>, net: &Arc<Net>) -> Result<Model, Problem> {
        let base = text(config, "base_url")?.ok_or_else(|| {
            wrong("base_url", "the target has no `base_url`", "say where the model is: `base_url: http://host:port/v1`")
        })?;
        let base = base.trim_end_matches('/');
        let url =
            if base.ends_with("/chat/completions") { base.to_owned() } else { format!("{base}/chat/completions") };
        let mut with_session = config.clone();
        let mut headers = match config.get("headers") {
            Some(Value::Object(headers)) => headers.clone(),
            None | Some(Value::Null) => Object::new(),
            Some(other) => {
                let message = format!("`headers` is a mapping, not {}", other.type_name());
                return Err(wrong("headers", message, "write `name: value`"));
            }
        };
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("x-session-id")) {
            headers.set("x-session-id", "{session_id}".into());
        }
        with_session.set("headers", headers.into());
        let stream = flag(config, "stream", false)?;
        Ok(Model {
            endpoint: Endpoint::new(net, &with_session, ("base_url", &url), &["session_id"])?,
            head: head(config),
            beside_tools: members(config, SENT_WITH_TOOLS),
            stream,
        })
    }

    /// Asks for the next message; writes tokens and time into the turn that is under way.
    pub(crate) async fn complete(
        &self,
        messages: &Messages,
        tools: &[Value<'static>],
        task: &Task,
        progress: &mut Progress,
    ) -> Result<Spoken, AgentFailure> {
        let body = self.body(messages, tools, task.fixed.then_some(task.session_id.as_str()));
        let watch = Watch::start();
        let fill = |_: &str| task.session_id.chars().filter(|c| c.is_ascii_graphic()).collect();
        let sent = self.endpoint.send(body, &task.traceparent, &fill, &mut progress.retries).await;
        turns::current(progress).model_ms += watch.ms();
        let reply = sent?;
        let spoken = match stream::is_stream(&reply.text) {
            true => stream::read(&reply.text)?,
            false => spoken(&reply.json()?)?,
        };
        let turn = turns::current(progress);
        turn.usage = turn.usage.plus(spoken.usage);
        if let Some(model) = &spoken.model {
            progress.trace.reported = Some(model.clone());
        }
        Ok(spoken)
    }

    fn body(&self, messages: &Messages, tools: &[Value<'static>], session: Option<&str>) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.head.len() + messages.bytes().len() + 64);
        body.extend_from_slice(&self.head);
        body.extend_from_slice(b"\"messages\":[");
        body.extend_from_slice(messages.bytes());
        body.push(b']');
        if let Some(session) = session {
            body.extend_from_slice(b",\"user\":");
            canonical::write_text(session, &mut body);
        }
        if !tools.is_empty() {
            for (index, tool) in tools.iter().enumerate() {
                body.extend_from_slice(if index == 0 { b",\"tools\":[" } else { b"," });
                canonical::write(tool, &mut body);
            }
            body.push(b']');
            body.extend_from_slice(&self.beside_tools);
        }
        if self.stream {
            body.extend_from_slice(b",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
        }
        body.push(b'}');
        body
    }
}

fn head(config: &Object<'static>) -> Vec<u8> {
    let mut sent = members(config, &[&["model"], SENT].concat());
    if let Some(Value::Object(extra)) = config.get("extra_body") {
        let names: Vec<&str> = extra.iter().map(|(name, _)| name).collect();
        sent.extend(members(extra, &names));
    }
    let mut head = vec![b'{'];
    if let Some((_, rest)) = sent.split_first() {
        head.extend_from_slice(rest);
        head.push(b',');
    }
    head
}

/// Members of a mapping, each with a comma before it.
fn members(config: &Object<'static>, names: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in config.iter().filter(|(name, value)| names.contains(name) && !value.is_null()) {
        out.push(b',');
        canonical::write_text(name, &mut out);
        out.push(b':');
        canonical::write(value, &mut out);
    }
    out
}

/// What a whole answer says.
pub(super) fn spoken(answer: &Value<'static>) -> Result<Spoken, AgentFailure> {
    let off = || failure("protocol", format!("the answer is no chat completion: {}", excerpt(&plain_text(answer))));
    let completion = answer.as_object().ok_or_else(off)?;
    if let Some(error) = completion.get("error").filter(|error| !error.is_null()) {
        let message = error.as_object().and_then(|error| error.get("message")).unwrap_or(error);
        return Err(failure("agent", plain_text(message)));
    }
    let choice = completion.get("choices").and_then(Value::as_array).and_then(<[_]>::first);
    let message = choice.and_then(|choice| choice.as_object()?.get("message")?.as_object()).ok_or_else(off)?;
    let calls = message.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
    let content = message.get("content").and_then(content_text);
    Ok(Spoken {
        content: content.or_else(|| message.get("refusal").and_then(content_text)),
        calls: calls.iter().enumerate().filter_map(|(index, call)| call_of(index, call)).collect(),
        usage: completion.get("usage").map(Usage::from_value).unwrap_or_default(),
        model: completion.get("model").and_then(Value::as_str).map(str::to_owned),
    })
}

/// The text of a content, whose parts may be a list.
pub(crate) fn content_text(content: &Value<'_>) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone().into_owned()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) => Some(text.as_ref()),
                part => part.as_object()?.get("text")?.as_str(),
            });
            Some(texts.collect::<Vec<_>>().concat())
        }
        _ => None,
    }
}

fn call_of(index: usize, call: &Value<'static>) -> Option<Call> {
    let call = call.as_object()?;
    let function = call.get("function")?.as_object()?;
    let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let arguments = match function.get("arguments") {
        None | Some(Value::Null) => String::new(),
        Some(arguments) => plain_text(arguments),
    };
    Some(Call {
        id: id.map_or_else(|| format!("call_{index}"), str::to_owned),
        name: function.get("name")?.as_str()?.to_owned(),
        arguments,
    })
}
