//! Targets, judges and sources against real processes and real servers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "figures, and what was skipped")]

mod asks;
mod canned;
mod command;
mod drive;
mod python;
mod servers;
mod source;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heldset_core::json;
use heldset_core::seed::Seed;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{Agents, Ended, Outside, Preparation, TargetSpec, Task, Turn};
use heldset_engine::refusal::Outcome;
use heldset_outside::Dialler;

/// A folder with a plan, and what is needed to run it.
struct Bench {
    folder: tempfile::TempDir,
    concurrent: usize,
    run_timeout: Option<f64>,
    setup: Option<String>,
}

impl Bench {
    fn new() -> Self {
        Bench { folder: tempfile::tempdir().unwrap(), concurrent: 4, run_timeout: None, setup: None }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the folder of the plan.
    fn with(self, name: &str, text: &str) -> Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self
    }

    fn dialler(&self) -> Dialler {
        let secrets = |name: &str| match name {
            "PATH" => std::env::var("PATH").ok(),
            "TOKEN" => Some("s3cret".to_owned()),
            _ => None,
        };
        Dialler::new(Arc::new(secrets), None, self.path())
    }

    fn prepare(&self, target: &str) -> Outcome<Box<dyn Agents>> {
        let config = object(target);
        let targets = [TargetSpec { scenario: "base".to_owned(), config }];
        let hidden: [PathBuf; 0] = [];
        self.dialler().prepare(&Preparation {
            targets: &targets,
            max_concurrent: self.concurrent,
            run_timeout: self.run_timeout,
            setup_script: self.setup.as_deref(),
            hidden: &hidden,
            base: self.path(),
        })
    }

    /// Holds sessions and gives their ends in the order of the tasks.
    fn run(&self, target: &str, tasks: Vec<Task>) -> Vec<Ended> {
        let mut agents = self.prepare(target).unwrap_or_else(|refusal| panic!("{}", refusal.message));
        drive(agents.as_mut(), tasks)
    }

    /// Why a target is refused.
    fn refusal(&self, target: &str) -> String {
        match self.prepare(target) {
            Ok(_) => panic!("{target} is not refused"),
            Err(refusal) => format!("{} {} ({})", refusal.code, refusal.message, refusal.help),
        }
    }
}

fn drive(agents: &mut dyn Agents, tasks: Vec<Task>) -> Vec<Ended> {
    let mut tasks = tasks.into_iter();
    let mut ends = Vec::new();
    agents.drive(&mut || tasks.next(), &mut |end| {
        ends.push(end);
        ControlFlow::Continue(())
    });
    ends.sort_by_key(|end| end.number);
    ends
}

fn value(text: &str) -> Value<'static> {
    json::read(text).unwrap_or_else(|error| panic!("{text}: {error}")).into_owned()
}

fn object(text: &str) -> Object<'static> {
    value(text).as_object().unwrap().clone()
}

/// A session of a record with one turn or more.
fn task(number: u64, turns: &[&str]) -> Task {
    let turn = |content: &&str| Turn { role: "user".to_owned(), content: (*content).to_owned() };
    Task {
        number,
        target: 0,
        record_id: format!("r{number}"),
        session_id: format!("s{number}"),
        fixed: false,
        seeds: Vec::new(),
        args: None,
        tools: None,
        context: None,
        turns: turns.iter().map(turn).collect(),
        runtime: Object::new(),
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
    }
}

fn seed(source: &str, agent: Option<&str>) -> Seed {
    let content = format!("content of {source}");
    Seed { source: source.to_owned(), content, target_agent: agent.map(str::to_owned), metadata: None }
}

/// What was answered in each turn, as JSON.
fn outputs(end: &Ended) -> Vec<String> {
    let text = |value: &Value<'static>| String::from_utf8(heldset_core::canonical::bytes(value)).unwrap();
    end.trace.turns.iter().map(|turn| turn.output.as_ref().map_or("-".to_owned(), text)).collect()
}

/// How a session ended, in one line.
fn ending(end: &Ended) -> String {
    match &end.failure {
        None => outputs(end).join(" "),
        Some(failure) => format!("{}: {}", failure.kind, failure.message),
    }
}
