//! The target `http`: one request for each turn, to any server that answers with JSON or text.
//!
//! *Invariant:* what is sent is what the body template says and nothing else.

mod body;

use std::sync::Arc;
use std::time::Duration;

use heldset_core::fault::{Problem, nearest};
use heldset_core::trace::{Delivery, Step, Usage};
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, TargetFacts, Task};
use reqwest::Method;

use crate::agent::{Agent, Progress, Session, failure};
use crate::config::{list, only, plain_text, span, text, wrong};
use crate::pick::Pick;
use crate::requests::{Endpoint, Net, Reply, Verdict, excerpt};
use crate::turns::{self, TURN_TIMEOUT};
use body::{Body, NAMES, Said};

const KEYS: &[&str] = &[
    "url",
    "base_url",
    "path",
    "method",
    "headers",
    "api_key",
    "body",
    "output",
    "answer",
    "steps",
    "usage",
    "memory",
    "session_field",
    "status",
    "agents",
    "seeds",
    "reported",
];

struct Http {
    endpoint: Endpoint,
    body: Body,
    output: Option<Pick>,
    steps: Option<Pick>,
    usage: Option<Pick>,
    memory: Option<Pick>,
    reported: Option<Pick>,
    session: Option<Pick>,
    timeout: Duration,
    agents: Option<Vec<String>>,
}

/// The target of a configuration.
pub(crate) fn prepare(config: &Object<'static>, net: &Arc<Net>) -> Result<Box<dyn Agent>, Problem> {
    only(config, "http", KEYS)?;
    let url = match (text(config, "url")?, text(config, "base_url")?) {
        (Some(url), _) => url.to_owned(),
        (None, Some(base)) => format!("{}{}", base.trim_end_matches('/'), text(config, "path")?.unwrap_or_default()),
        (None, None) => return Err(wrong("url", "an `http` target has no `url`", "say where it is: `url: http://…`")),
    };
    let method = text(config, "method")?.unwrap_or("POST").to_ascii_uppercase();
    let method = Method::from_bytes(method.as_bytes())
        .map_err(|_| wrong("method", format!("`{method}` is not a method"), "write `POST`, `PUT` or `GET`"))?;
    let place = |key: &str| match text(config, key)? {
        None => Ok(None),
        Some(path) => Pick::parse(path).map(Some).map_err(|why| {
            wrong(key, format!("`{path}` is not a path: {why}"), "write JSONPath such as `$.output`, or `a.b`")
        }),
    };
    let output = match place("output")? {
        Some(output) => Some(output),
        None => place("answer")?,
    };
    // A path finds what the server calls the session; a plain name is also the field it is sent in.
    let session_field = text(config, "session_field")?;
    let sent_as = session_field.filter(|field| !field.starts_with(['$', '/']));
    let endpoint = Endpoint::new(net, config, ("url", &url), NAMES)?.method(method).verdicts(verdicts(config)?);
    Ok(Box::new(Http {
        endpoint,
        body: Body::new(config.get("body"), sent_as)?,
        output,
        steps: place("steps")?,
        usage: place("usage")?,
        memory: place("memory")?,
        reported: place("reported")?,
        session: place("session_field")?,
        timeout: span(config, "timeout", TURN_TIMEOUT)?,
        agents: list(config, "agents")?.map(|agents| agents.iter().map(plain_text).collect()),
    }))
}

fn verdicts(config: &Object<'_>) -> Result<Vec<(String, Verdict)>, Problem> {
    let statuses = match config.get("status") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(statuses)) => statuses,
        Some(other) => {
            let message = format!("`status` is a mapping, not {}", other.type_name());
            return Err(wrong("status", message, "write such as `404: answer`"));
        }
    };
    const WORDS: [&str; 4] = ["answer", "ok", "retry", "error"];
    let one = |(status, meaning): (&str, &Value<'_>)| {
        let digits = status.strip_suffix("xx").or_else(|| status.strip_suffix("XX"));
        let is_status = match digits {
            Some(class) => matches!(class, "1" | "2" | "3" | "4" | "5"),
            None => status.parse().is_ok_and(|status: u16| (100..600).contains(&status)),
        };
        if !is_status {
            return Err(wrong("status", format!("`{status}` is not a status"), "write such as `404` or `5xx`"));
        }
        let verdict = match meaning.as_str() {
            Some("answer" | "ok") => Verdict::Answer,
            Some("retry") => Verdict::Retry,
            Some("error") => Verdict::Error,
            _ => {
                let meaning = plain_text(meaning);
                let near = nearest(&meaning, WORDS).unwrap_or("error");
                let help = format!("a status means `answer`, `retry` or `error`; did you mean `{near}`?");
                return Err(wrong("status", format!("`{meaning}` is not what a status means"), help));
            }
        };
        Ok((status.to_owned(), verdict))
    };
    statuses.iter().map(one).collect()
}

impl Agent for Http {
    fn facts(&self) -> TargetFacts {
        TargetFacts {
            kind: "http".to_owned(),
            agents: self.agents.clone(),
            takes_seeds: self.body.names("seeds"),

            ..TargetFacts::default()
        }
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(self.hold(task, progress))
    }
}

impl Http {
    async fn hold(&self, task: &Task, progress: &mut Progress) -> Result<(), AgentFailure> {
        let mut said = Said::new(task);
        for turn in &task.turns {
            if turns::is_history(turn) {
                said.add("assistant", Value::from(turn.content.clone()));
                continue;
            }
            let said = &mut said;
            turns::take(progress, turn, self.timeout, async |progress| {
                said.begin(&turn.role, &turn.content);
                let output = self.ask(task, said, progress).await?;
                said.answered(output.clone());
                Ok(output)
            })
            .await?;
        }
        Ok(())
    }

    async fn ask(
        &self,
        task: &Task,
        said: &mut Said<'_>,
        progress: &mut Progress,
    ) -> Result<Value<'static>, AgentFailure> {
        if said.is_first() && self.body.names("seeds") {
            let seeds = task.seeds.iter();
            let deliveries =
                seeds.map(|seed| Delivery { source: seed.source.clone(), agent: seed.target_agent.clone() });
            progress.trace.seeds.extend(deliveries);
        }
        let body = self.body.fill(said);
        let fill = |name: &str| plain_text(&said.value(name));
        let reply = self.endpoint.send(body, &task.traceparent, &fill, &mut progress.retries).await?;
        self.read(&reply, said, progress)
    }

    fn read(
        &self,
        reply: &Reply,
        said: &mut Said<'_>,
        progress: &mut Progress,
    ) -> Result<Value<'static>, AgentFailure> {
        let json = match crate::requests::read_json(&reply.text) {
            Some(json) => json,
            None if self.output.is_none() => return Ok(Value::from(reply.text.clone())),
            None => return Err(failure("protocol", format!("the answer is not JSON: {}", excerpt(&reply.text)))),
        };
        if let Some(session) = self.session.as_ref().and_then(|pick| pick.of(&json)) {
            said.session = Some(session);
        }
        let found = |pick: &Option<Pick>, default: &str| match pick {
            Some(pick) => pick.of(&json),
            None => json.as_object().and_then(|answer| answer.get(default)).cloned(),
        };
        let steps = found(&self.steps, "steps");
        let usage = found(&self.usage, "usage");
        if let Some(memory) = found(&self.memory, "memory") {
            progress.trace.memory = Some(memory);
        }
        if let Some(reported) = self.reported.as_ref().and_then(|pick| pick.of(&json)) {
            progress.trace.reported = Some(plain_text(&reported));
        }
        let turn = turns::current(progress);
        turn.steps.extend(steps.iter().filter_map(Value::as_array).flatten().filter_map(Step::from_value));
        turn.usage = usage.as_ref().map(Usage::from_value).unwrap_or_default();
        self.output_of(json)
    }

    fn output_of(&self, json: Value<'static>) -> Result<Value<'static>, AgentFailure> {
        if let Some(pick) = &self.output {
            let found = pick.of(&json).filter(|output| !output.is_null());
            return found.ok_or_else(|| {
                failure(
                    "protocol",
                    format!("the answer has nothing at `{}`: {}", pick.text(), excerpt(&plain_text(&json))),
                )
            });
        }
        let Value::Object(mut answer) = json else { return Ok(json) };
        if let Some(error) = answer.get("error").filter(|error| !error.is_null() && !answer.contains("output")) {
            return Err(failure("agent", plain_text(error)));
        }
        let output = answer.remove("output").filter(|output| !output.is_null());
        output.ok_or_else(|| {
            let answer = excerpt(&plain_text(&Value::Object(answer)));
            failure("protocol", format!("the answer has no `output`; say where it is with `output: $.…`: {answer}"))
        })
    }
}

#[cfg(test)]
mod tests;
