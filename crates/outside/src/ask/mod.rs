//! Asks judges, embedders and graders outside, all side by side.
//!
//! *Invariant:* an answer is what somebody said, or the reason why there is none; a recorded answer is never mixed with
//! a fresh one for the same question.

mod chat;
mod programs;
mod record;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use heldset_core::canonical;
use heldset_core::fault::Problem;
use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::Helpers;
use heldset_grade::{Answer, Ask};
use reqwest::Method;
use tokio::runtime::Runtime;

use crate::config::{plain_text, span, text, wrong};
use crate::embeddings::Embedder;
use crate::requests::{Endpoint, Net};
pub(crate) use programs::Workshop;
use record::{Recorded, Records};

/// Programs and functions that are asked in processes of their own.
pub(crate) trait Programs: Send {
    /// Gives a program one JSON document, and takes one.
    fn command<'p>(&'p self, argv: &'p [String], config: &'p Object<'static>, payload: &'p Value<'static>)
    -> Asked<'p>;

    /// Calls a Python function in a role.
    fn python<'p>(&'p self, function: &'p str, role: &'static str, payload: &'p Value<'static>) -> Asked<'p>;
}

/// An answer that is awaited.
pub(crate) type Asked<'p> = Pin<Box<dyn Future<Output = Answer> + 'p>>;

/// Everybody who can be asked.
pub(crate) struct Asker {
    // Dropped before the runtime that watches its processes.
    programs: Box<dyn Programs>,
    net: Arc<Net>,
    records: Records,
    limit: usize,
    runtime: Runtime,
}

impl Asker {
    /// Somebody who asks at most `limit` at a time; paths start in `base`.
    pub(crate) fn new(net: &Arc<Net>, base: &Path, limit: usize, programs: Box<dyn Programs>) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let records = Records::new(PathBuf::from(base));
        Ok(Asker { programs, net: net.clone(), records, limit: limit.max(1), runtime })
    }

    async fn one(&self, ask: &Ask, recorded: Recorded) -> Answer {
        if let Recorded::Answer(answer) = recorded {
            return answer;
        }
        let answer = match ask {
            Ask::Chat { endpoint, messages, schema } => chat::ask(&self.net, endpoint, messages, schema).await,
            Ask::Embed { endpoint, texts } => self.embed(endpoint, texts).await,
            Ask::Http { config, payload } => self.http(config, payload).await,
            Ask::Command { argv, config, payload } => self.programs.command(argv, config, payload).await,
            Ask::Python { function, role, payload } => self.programs.python(function, role, payload).await,
        };
        match (recorded, answer) {
            (Recorded::Into(file, question), Ok(answer)) => {
                self.records.keep(&file, &question, &answer).map(|()| answer)
            }
            (_, answer) => answer,
        }
    }

    async fn embed(&self, endpoint: &Object<'static>, texts: &[String]) -> Answer {
        let config = chat::with_defaults(endpoint, &self.net);
        let embedder = Embedder::prepare(&config, &self.net).map_err(told)?;
        let timeout = span(&config, "timeout", chat::TIMEOUT).map_err(told)?;
        let vectors = in_time(timeout, embedder.embed(texts)).await?;
        let number = |number: &f64| Number::from_f64(*number).map_or(Value::Null, Value::Number);
        let vector = |vector: &Vec<f64>| Value::Array(vector.iter().map(number).collect());
        Ok(Value::Array(vectors.iter().map(vector).collect()))
    }

    async fn http(&self, config: &Object<'static>, payload: &Value<'static>) -> Answer {
        let url = text(config, "url").map_err(told)?;
        let url = url.ok_or_else(|| told(wrong("url", "the grader has no `url`", "say where it is")))?;
        let method = text(config, "method").map_err(told)?.unwrap_or("POST").to_ascii_uppercase();
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| format!("`{method}` is not a method"))?;
        let endpoint = Endpoint::new(&self.net, config, ("url", url), &[]).map_err(told)?.method(method);
        let timeout = span(config, "timeout", chat::TIMEOUT).map_err(told)?;
        let asked = async {
            let body = canonical::bytes(payload);
            let reply = endpoint.send(body, "", &|_| String::new(), &mut 0).await.map_err(|failure| failure.message)?;
            reply.json().map_err(|failure| failure.message)
        };
        in_time(timeout, asked).await
    }
}

impl Helpers for Asker {
    fn ask(&mut self, asks: Vec<Ask>) -> Vec<Answer> {
        // Recorded answers are given out in the order of the questions, whoever would answer first.
        let recorded: Vec<Recorded> = asks.iter().map(|ask| self.records.look_up(ask)).collect();
        let this = &*self;
        let asked = asks.iter().zip(recorded).map(|(ask, recorded)| this.one(ask, recorded));
        this.runtime.block_on(stream::iter(asked).buffered(this.limit).collect())
    }
}

/// What a problem says, in one line.
fn told(problem: Problem) -> String {
    match problem.help {
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message,
    }
}

async fn in_time<T>(limit: Duration, asked: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let late = || format!("no answer within {} s", limit.as_secs_f64());
    tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(late()))
}

/// Text of a configuration, whatever it is.
fn option(config: &Object<'static>, key: &str) -> Option<String> {
    config.get(key).filter(|value| !value.is_null()).map(plain_text)
}

#[cfg(test)]
mod tests;
