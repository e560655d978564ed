//! Asks a program for a grade: one JSON document in, one out.
//!
//! *Invariant:* a grader's process is never an agent's: it is started as it is, since it must see what is sealed.

use std::sync::Arc;

use heldset_core::value::{Object, Value};
use heldset_core::{canonical, json};
use heldset_grade::Answer;

use super::argv;
use super::process::{Process, Program};
use super::yard::Yard;
use crate::agent::Secrets;
use crate::config;
use crate::launch::Network;

/// Asks a program; `yard` is one without a launcher.
pub(crate) async fn ask(
    yard: &Arc<Yard>,
    secrets: &Secrets,
    argv: &[String],
    config: &Object<'static>,
    payload: &Value<'static>,
) -> Answer {
    let told = |problem: heldset_core::fault::Problem| problem.message;
    let limit = config::span(config, "timeout", super::TURN).map_err(told)?;
    let program = Program {
        argv: argv::resolve(argv, yard).map_err(told)?.words,
        env: config::environment(config, secrets).map_err(told)?,
        network: Network::All,
        limits: Vec::new(),
        read: Vec::new(),
    };
    let asked = async {
        let mut log = None;
        let mut process = Process::start(yard, &program, &[]).map_err(|failure| failure.message)?;
        let mut input = canonical::bytes(payload);
        input.push(b'\n');
        let mut output = process.send_all(&input, &mut log).await.map_err(|failure| failure.message)?;
        let (rest, status) = process.finish(&mut log).await;
        output.extend(rest);
        if !status.is_some_and(|status| status.success()) {
            let last = log.as_deref().and_then(|log| log.lines().rev().find(|line| !line.trim().is_empty()));
            let how = status.map_or_else(|| "did not end".to_owned(), |status| format!("ended with {status}"));
            return Err(format!("the program {how}{}", last.map(|last| format!(": {last}")).unwrap_or_default()));
        }
        let text = std::str::from_utf8(&output).map_err(|_| "the program's answer is not UTF-8".to_owned())?;
        let value = json::read(text.trim()).map_err(|error| format!("the program's answer is not JSON: {error}"))?;
        Ok(value.into_owned())
    };
    let late = |_| Err(format!("the program did not answer within {} s", limit.as_secs_f64()));
    tokio::time::timeout(limit, asked).await.unwrap_or_else(late)
}
