//! Runs on a store in memory, with agents that are made up: what is decided before and after an agent is asked.

use std::ops::ControlFlow;
use std::path::Path;

use heldset_core::code::Code;
use heldset_core::plan::Plan;
use heldset_core::trace::{Trace, TurnTrace};
use heldset_core::value::Value;
use heldset_dialect::NoFiles;
use heldset_dialect::plan::{PlanOptions, read};
use heldset_engine::agents::{Agents, Ended, Helpers, Outside, Preparation, TargetFacts, Task};
use heldset_engine::import::{About, ImportRequest, Labelling, import};
use heldset_engine::refusal::Outcome;
use heldset_engine::run::{Cache, Ran, RunListener, RunRequest, ScenarioCount, run};
use heldset_engine::session::Session;
use heldset_grade::{Answer, Ask};
use heldset_store::run::RunDoc;
use heldset_testkit::{MemorySources, Quiet};

use crate::worlds::{reading, session};

/// Agents that answer each turn with what was sent, and say this of themselves.
#[derive(Clone)]
struct Echo {
    facts: Vec<TargetFacts>,
    /// Ends sessions in the order in which they do not come.
    backwards: bool,
}

impl Outside for Echo {
    fn prepare(&self, _preparation: &Preparation<'_>) -> Outcome<Box<dyn Agents>> {
        Ok(Box::new(self.clone()))
    }

    fn helpers(&self, _base: &Path, _max_concurrent: usize) -> Outcome<Box<dyn Helpers>> {
        Ok(Box::new(Nobody))
    }
}

impl Agents for Echo {
    fn facts(&self) -> &[TargetFacts] {
        &self.facts
    }

    fn drive(&mut self, next: &mut dyn FnMut() -> Option<Task>, ended: &mut dyn FnMut(Ended) -> ControlFlow<()>) {
        let mut tasks: Vec<Task> = std::iter::from_fn(next).collect();
        if self.backwards {
            tasks.reverse();
        }
        for task in tasks {
            let turn = |turn: &heldset_engine::agents::Turn| TurnTrace {
                role: turn.role.clone(),
                content: turn.content.clone(),
                output: Some(Value::from(turn.content.clone())),
                ..TurnTrace::default()
            };
            let trace = Trace { turns: task.turns.iter().map(turn).collect(), ..Trace::default() };
            let end = Ended { number: task.number, trace, failure: None, queue_ms: 0.0, run_ms: 1.0, retries: 0 };
            if ended(end).is_break() {
                return;
            }
        }
    }
}

struct Nobody;

impl Helpers for Nobody {
    fn ask(&mut self, asks: Vec<Ask>) -> Vec<Answer> {
        asks.iter().map(|_| Err("nobody is there".to_owned())).collect()
    }
}

#[derive(Default)]
struct Heard(Vec<String>);

impl RunListener for Heard {
    fn warning(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn begun(&mut self, _run: &RunDoc, _journaled: u64) {}

    fn progress(&mut self, _scenarios: &[ScenarioCount]) {}
}

fn world() -> Session {
    let session = session(3);
    let rows: String = (0..50)
        .map(|row| format!("{{\"id\":\"{row}\",\"input\":\"q{row}\",\"expected_output\":\"q{}\"}}\n", row / 2 * 2))
        .collect();
    let sources = MemorySources { name: "exam.jsonl".to_owned(), bytes: rows.into_bytes() };
    let (labelling, about, reading) = (Labelling::default(), About::default(), reading());
    let request = ImportRequest {
        slug: "exam",
        split: "default",
        reading: &reading,
        labelling: &labelling,
        about: &about,
        keep_valid: false,
    };
    import(&session, &request, &sources, &mut Quiet::default()).unwrap();
    session
}

/// A request that asks for nothing special.
fn request(plan: &Plan) -> RunRequest<'_> {
    RunRequest {
        plan,
        cite: "exam",
        base: Path::new("."),
        hidden: &[],
        cache: Cache::Use,
        outputs_of: None,
        require_isolation: false,
        product: "test",
        environment: "memory",
    }
}

fn tried(session: &Session, echo: &Echo, require: bool, heard: &mut Heard) -> Outcome<Ran> {
    let text = b"{apiVersion: heldset/v1, kind: Experiment, name: x, dataset: {ref: exam}, target: {kind: http, url: \"http://x\"}, run: {n_runs: 2}, graders: {same: {kind: exact_match}}}";
    let plan = read("plan.yaml", text, &NoFiles, &PlanOptions::default()).unwrap().plan;
    let request = RunRequest { require_isolation: require, ..request(&plan) };
    run(session, &request, echo, heard)
}

fn echo(isolation: Option<&'static str>, backwards: bool) -> Echo {
    let facts = TargetFacts { kind: "echo".into(), takes_seeds: true, isolation, ..TargetFacts::default() };
    Echo { facts: vec![facts], backwards }
}

#[test]
fn agents_that_could_reach_sealed_data_are_warned_of_or_refused() {
    let session = world();
    let mut heard = Heard::default();
    let refused = tried(&session, &echo(Some("none"), false), true, &mut heard).err().unwrap();
    assert_eq!(refused.code, Code::E123);
    tried(&session, &echo(Some("none"), false), false, &mut heard).unwrap();
    assert!(heard.0.iter().any(|warning| warning.contains("ISOLATION IS OFF")), "{:?}", heard.0);
    let mut quiet = Heard::default();
    tried(&session, &echo(Some("landlock"), false), true, &mut quiet).unwrap();
    assert!(quiet.0.is_empty(), "{:?}", quiet.0);
}

#[test]
fn results_are_in_the_order_of_the_plan_whatever_the_order_of_the_ends() {
    let session = world();
    let ran = tried(&session, &echo(None, true), false, &mut Heard::default()).unwrap();
    assert_eq!((ran.doc.balance.planned, ran.doc.balance.scored, ran.doc.balance.holds()), (100, 100, true));
    assert_eq!(ran.summary.metric("same").unwrap().scores.mean, 0.5);
    let results = heldset_engine::results::RunResults::open(&session, &ran.doc.id, "report").unwrap();
    let rows = results.rows().unwrap();
    assert!(rows.iter().map(|row| row.number).eq(0..100));
    let again = tried(&session, &echo(None, false), false, &mut Heard::default()).unwrap();
    assert_eq!(again.doc.cached, 0, "a target without a revision is not used again");
}

#[test]
fn a_wire_that_breaks_leaves_the_balance_to_the_next_try() {
    /// Agents that give up half way.
    struct Half(Echo);
    impl Outside for Half {
        fn prepare(&self, _preparation: &Preparation<'_>) -> Outcome<Box<dyn Agents>> {
            Ok(Box::new(Half(self.0.clone())))
        }
        fn helpers(&self, _base: &Path, _most: usize) -> Outcome<Box<dyn Helpers>> {
            Ok(Box::new(Nobody))
        }
    }
    impl Agents for Half {
        fn facts(&self) -> &[TargetFacts] {
            &self.0.facts
        }
        fn drive(&mut self, next: &mut dyn FnMut() -> Option<Task>, ended: &mut dyn FnMut(Ended) -> ControlFlow<()>) {
            let mut left = 30;
            let mut some = || {
                left -= 1;
                (left >= 0).then(&mut *next).flatten()
            };
            self.0.drive(&mut some, ended);
        }
    }
    let session = world();
    let half = Half(echo(None, false));
    let text = b"{apiVersion: heldset/v1, kind: Experiment, name: x, dataset: {ref: exam}, target: {kind: http, url: \"http://x\"}}";
    let plan = read("plan.yaml", text, &NoFiles, &PlanOptions::default()).unwrap().plan;
    let request = request(&plan);
    assert!(run(&session, &request, &half, &mut Heard::default()).is_err(), "a run that is not whole is not finished");
    let runs = heldset_engine::results::all_runs(&session).unwrap();
    assert!(runs.len() == 1 && runs[0].finished_at.is_none());
    let ran = run(&session, &request, &half.0, &mut Heard::default()).unwrap();
    assert_eq!((ran.doc.id.as_str(), ran.doc.balance.planned), (runs[0].id.as_str(), 50), "it goes on under its id");
}
