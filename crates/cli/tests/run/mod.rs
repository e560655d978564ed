//! Runs from outside: plans, agents with faults, balance, exit codes, cache, resume, rescoring.

mod adversary;
mod agents;
mod letta;
mod plans;
mod results;
mod resume;
mod seed_document;

use heldset_core::json;
use heldset_core::value::Value;

use crate::{Ran, Store, store};

/// Three cases with answers, one without.
const CASES: &str = r#"{"id":"a","input":"What is 2+2?","expected_output":"4","category":"math","tags":["easy","sum"]}
{"id":"b","input":"Capital of France?","expected_output":"Paris","category":"geo","tags":["easy"]}
{"id":"c","input":"Capital of Japan?","expected_output":"Tokyo","category":"geo","tags":["hard"]}
{"id":"d","input":"Say hello"}
"#;

/// A store with the cases in it.
fn cases() -> Store {
    let store = store();
    store.import("cases", CASES, &[]);
    store
}

/// A plan on the cases, with these lines added.
fn plan(more: &str) -> String {
    format!("apiVersion: heldset/v1\nkind: Experiment\nname: trial\ndataset: {{ref: cases}}\n{more}")
}

/// A target that answers two of the cases rightly.
const SCRIPTED: &str = r#"target: {kind: scripted, rules: [{match: "2.2", output: "It is 4"}, {match: France, output: Paris}], default: {echo: true}}
"#;

impl Store {
    /// Runs a plan and gives its JSON answer with the exit code.
    fn ran(&self, plan: &str, more: &[&str]) -> (i32, Value<'static>) {
        self.write("plan.yaml", plan);
        let ran = self.run(&[&["run", "plan.yaml", "--json"], more].concat());
        (ran.code, answer(&ran))
    }
}

/// What a command printed, as JSON.
fn answer(ran: &Ran) -> Value<'static> {
    json::read(ran.out.trim()).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err)).into_owned()
}

/// A member, by a path of keys.
fn at<'v>(value: &'v Value<'static>, path: &[&str]) -> &'v Value<'static> {
    let step = |value: &'v Value<'static>, key: &&str| value.as_object().and_then(|object| object.get(key));
    path.iter().try_fold(value, step).unwrap_or_else(|| panic!("there is no {path:?}"))
}

/// A number, by a path of keys.
fn number(value: &Value<'static>, path: &[&str]) -> f64 {
    match at(value, path) {
        Value::Number(number) => number.as_f64(),
        other => panic!("{path:?} is {}", other.type_name()),
    }
}

/// planned, scored, unscored, error, skipped; checked to balance.
fn balance(answer: &Value<'static>) -> [u64; 5] {
    let counts =
        ["planned", "scored", "unscored", "error", "skipped"].map(|name| number(answer, &["balance", name]) as u64);
    assert_eq!(counts[0], counts[1..].iter().sum::<u64>(), "{counts:?}");
    counts
}

/// The rows of a run, by record.
fn rows(store: &Store, run: &str) -> Vec<Value<'static>> {
    let printed = store.fine(&["report", run, "--to", "jsonl"]);
    printed.lines().map(|line| json::read(line).unwrap().into_owned()).collect()
}

/// The row of a record.
fn row_of(rows: &[Value<'static>], id: &str) -> Value<'static> {
    let is = |row: &&Value<'static>| at(row, &["id"]).as_str() == Some(id);
    rows.iter().find(is).unwrap_or_else(|| panic!("no row of {id}")).clone()
}
