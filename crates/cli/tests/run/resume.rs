//! A run that was cut short goes on where it stopped.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{answer, at, balance, plan};
use crate::{Store, store};

/// Sessions of one plan.
const PLANNED: u64 = 40;

/// A store with records and an agent that takes a moment for each.
fn slow() -> Store {
    let store = store();
    let rows: String = (0..PLANNED)
        .map(|id| format!("{{\"id\":\"{id}\",\"input\":\"q{id}\",\"expected_output\":\"q{id}\"}}\n"))
        .collect();
    store.import("cases", &rows, &[]);
    store.write("agent.sh", "read q; sleep 0.02; echo $q");
    store.write(
        "plan.yaml",
        &plan("target: {kind: command, command: [sh, agent.sh], protocol: text}\nmax_concurrent: 2\n"),
    );
    store
}

fn start(store: &Store) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("heldset"));
    command.current_dir(store.path()).env_remove("HELDSET_STORE").env("HELDSET_KEYS", store.path().join("keys"));
    command.args(["run", "plan.yaml", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// How many bytes of outputs are in the journal.
fn journaled(store: &Path) -> u64 {
    let Ok(runs) = std::fs::read_dir(store.join(".heldset/runs")) else { return 0 };
    let size = |run: std::fs::DirEntry| std::fs::metadata(run.path().join("internal")).map_or(0, |about| about.len());
    runs.flatten().map(size).sum()
}

#[test]
fn a_run_that_was_killed_goes_on_and_loses_nothing_that_was_there() {
    let store = slow();
    let mut before = 0;
    for _ in 0..3 {
        let mut child = start(&store);
        while journaled(store.path()) <= before && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        before = journaled(store.path());
        assert!(before > 0, "nothing was journaled");
    }
    let ran = store.run(&["run", "plan.yaml", "--json"]);
    let done = answer(&ran);
    assert_eq!((ran.code, balance(&done)), (0, [PLANNED, PLANNED, 0, 0, 0]));
    assert!(at(&done, &["run"]).as_str().unwrap().starts_with("r00001-"), "one run, under its first id");
    let listed = store.fine(&["runs", "--json"]);
    assert_eq!(listed.matches("\"run\":").count(), 1, "{listed}");
    assert_eq!(journaled(store.path()), 0, "the journal is gone");
}

#[test]
fn a_frame_that_was_cut_short_is_dropped() {
    let store = slow();
    let mut child = start(&store);
    while journaled(store.path()) == 0 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let run = std::fs::read_dir(store.path().join(".heldset/runs")).unwrap().next().unwrap().unwrap().path();
    let journal = run.join("internal");
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..bytes.len() - 7]).unwrap();
    let ran = store.run(&["run", "plan.yaml", "--json"]);
    assert_eq!((ran.code, balance(&answer(&ran))), (0, [PLANNED, PLANNED, 0, 0, 0]), "{}", ran.err);
}

#[test]
fn the_same_plan_is_not_run_twice_at_once() {
    let store = slow();
    let mut child = start(&store);
    while journaled(store.path()) == 0 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let second = store.run(&["run", "plan.yaml"]);
    assert!(second.code == 2 && second.err.contains("error[E119]"), "{}{}", second.out, second.err);
    let unfinished = store.run(&["report", "last"]);
    assert!(unfinished.err.contains("error[E117]"), "{}", unfinished.err);
    child.kill().unwrap();
    child.wait().unwrap();
}
