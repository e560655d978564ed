//! What an adversary tried: descriptors, signals, plans that plan nothing, records that are scored by halves.

use std::process::{Command, Stdio};

use super::{at, balance, cases, plan, row_of, rows};
use crate::store;

#[test]
fn what_the_caller_left_open_does_not_reach_the_agent() {
    let store = cases();
    store.write("agent.sh", "read q; cat <&9 2>/dev/null; echo end");
    store.write("plan.yaml", &plan("target: {kind: command, command: [sh, agent.sh], protocol: text}\n"));
    let mut command = Command::new("sh");
    command.current_dir(store.path()).env("HELDSET_KEYS", store.path().join("keys")).env_remove("HELDSET_STORE");
    let heldset = assert_cmd::cargo::cargo_bin!("heldset");
    let line = format!("exec '{}' run plan.yaml --json 9<rows.jsonl", heldset.display());
    let ran = command.args(["-c", &line]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    for row in rows(&store, "last") {
        assert_eq!(at(&row, &["output"]).as_str(), Some("end"));
    }
}

#[test]
fn an_interruption_says_how_to_go_on_and_ends_the_agents_children() {
    let store = cases();
    // A child that no other process is called like.
    let child = "sleep 98765.4321";
    let called = child.replace(' ', "\0");
    let is_there = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.into_iter().any(|line| String::from_utf8_lossy(&line).trim_end_matches('\0') == called)
    };
    store.write("agent.sh", &format!("{child} & wait"));
    store.write("plan.yaml", &plan("target: {kind: command, command: [sh, agent.sh]}\nmax_concurrent: 1\n"));
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("heldset"));
    command.current_dir(store.path()).env("HELDSET_KEYS", store.path().join("keys")).env_remove("HELDSET_STORE");
    command.args(["run", "plan.yaml", "--limit", "2"]).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut running = command.spawn().unwrap();
    while !is_there() && running.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let pid = running.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(said.contains("go on with `heldset run plan.yaml --limit 2`"), "{said}");
    // It was told to end before the command did; each look takes the system a while.
    assert!((0..500).any(|_| !is_there()), "a child of the agent is still there");
}

#[test]
fn a_plan_that_pairs_nothing_is_refused() {
    let store = cases();
    store.write(
        "plan.yaml",
        &plan(
            "target: {kind: echo}\nexecution: {design: {mode: coupled, couplings: [{scenario: default, items: [nope]}]}}\n",
        ),
    );
    let ran = store.run(&["run", "plan.yaml"]);
    assert!(ran.code == 2 && ran.err.contains("error[E053]"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_record_that_one_grader_cannot_score_is_unscored() {
    let store = cases();
    let graders = "graders: {right: {kind: contains}, plain: {kind: ascii_printable_only}}\n";
    let (_, answer) = store.ran(&plan(&format!("target: {{kind: echo}}\n{graders}")), &[]);
    assert_eq!(balance(&answer), [4, 3, 1, 0, 0]);
    let row = row_of(&rows(&store, "last"), "d");
    assert_eq!(at(&row, &["outcome"]).as_str(), Some("unscored"));
    assert_eq!(super::number(&row, &["scores", "plain", "score"]), 1.0, "what was scored is kept");
}

#[test]
fn misspelt_seeds_and_missing_functions_are_told_before_the_run() {
    let store = cases();
    let check = |more: &str, words: &str| {
        store.write("plan.yaml", &plan(more));
        let ran = store.run(&["run", "plan.yaml"]);
        assert!(ran.code == 2 && ran.err.contains(words), "{more}: {}", ran.err);
    };
    check("target: {kind: echo}\nmemory_seeds: [{source: s, content: c, target_agnt: x}]\n", "target_agent");
    check("target: {kind: echo}\ngraders: {g: {kind: python, function: gone.py:f}}\n", "gone.py");
    store.write("own.py", "def other(sample, submission): return 1\n");
    check("target: {kind: echo}\ngraders: {g: {kind: python, function: own.py:nope}}\n", "nope");
}

#[test]
fn turns_that_cannot_be_sent_are_an_error_and_never_left_out() {
    let store = store();
    let rows = r#"{"id":"a","input":"x","turns":["more"]}
{"id":"b","input":"x","turns":[{"role":"user"}]}
{"id":"c","input":"x","turns":"more"}
{"id":"d","input":"x","turns":[{"role":"boss","content":"y"}]}
{"id":"e","input":"x","turns":[{"role":"user","content":"y"}]}
"#;
    store.import("cases", rows, &["--format", "records"]);
    let (_, answer) = store.ran(&plan("target: {kind: echo}\nmax_errors: 100%\n"), &[]);
    assert_eq!(balance(&answer), [5, 0, 1, 4, 0]);
    let all = super::rows(&store, "last");
    for id in ["a", "b", "c", "d"] {
        let row = row_of(&all, id);
        let reason = at(&row, &["reason"]).as_str().unwrap_or_default().to_owned();
        assert!(reason.starts_with("record: ") && reason.contains("turn"), "{id}: {reason}");
    }
}
