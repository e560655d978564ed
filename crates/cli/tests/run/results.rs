//! What a run leaves: rows, cache, gates, exit codes, rescoring, promotion.

use heldset_testkit::leak::{Search, files_under};

use super::{SCRIPTED, answer, at, balance, cases, number, plan, row_of, rows};

#[test]
fn the_exit_code_follows_the_verdict() {
    let store = cases();
    let check = |gate: &str, expected: i32, verdict: &str| {
        let (code, answer) = store.ran(&plan(&format!("{SCRIPTED}gate: {gate}\n")), &[]);
        assert_eq!(at(&answer, &["gate", "verdict"]).as_str(), Some(verdict), "{gate}");
        assert_eq!(code, expected, "{gate}");
        assert_eq!(at(&answer, &["gate", "digest"]), at(&answer, &["digest"]));
        let run = at(&answer, &["run"]).as_str().unwrap().to_owned();
        let again = store.run(&["gate", &run, "--json"]);
        assert_eq!(again.code, expected, "{}{}", again.out, again.err);
    };
    // One of four is unscored, which is above two per cent: the gate fails closed.
    check("{kind: simple, metric_key: contains, op: gte, value: 0.1}", 1, "fail");
    let select = "select: {tags: {any: [easy, hard]}}\n";
    let check = |gate: &str, expected: i32, verdict: &str| {
        let (code, answer) = store.ran(&plan(&format!("{SCRIPTED}{select}gate: {gate}\n")), &[]);
        assert_eq!(at(&answer, &["gate", "verdict"]).as_str(), Some(verdict), "{gate}");
        assert_eq!(code, expected, "{gate}");
    };
    check("{kind: simple, metric_key: contains, op: gte, value: 0.1}", 0, "pass");
    check("{kind: simple, metric_key: contains, op: gte, value: 0.6}", 7, "inconclusive");
    check("{kind: simple, metric_key: contains, op: gte, value: 0.6, decide: point}", 0, "pass");
    check("{kind: simple, metric_key: contains, op: gte, value: 0.99}", 1, "fail");
}

#[test]
fn good_results_are_used_again_and_say_so() {
    let store = cases();
    let (_, first) = store.ran(&plan(SCRIPTED), &[]);
    let (_, second) = store.ran(&plan(SCRIPTED), &[]);
    assert_ne!(at(&first, &["run"]), at(&second, &["run"]));
    assert_eq!((number(&first, &["cached"]), number(&second, &["cached"])), (0.0, 4.0));
    let row = row_of(&rows(&store, at(&second, &["run"]).as_str().unwrap()), "a");
    assert_eq!(at(&row, &["cached_from"]), at(&first, &["run"]));
    let (_, fresh) = store.ran(&plan(SCRIPTED), &["--cache", "refresh"]);
    assert_eq!(number(&fresh, &["cached"]), 0.0);
    let other = SCRIPTED.replace("output: Paris", "output: Lyon");
    let (code, required) = store.ran(&plan(&other), &["--cache", "require"]);
    assert_eq!((code, balance(&required)), (4, [4, 0, 0, 0, 4]));
}

#[test]
fn a_changed_program_is_another_target() {
    let store = cases();
    let text = plan("target: {kind: command, command: [sh, agent.sh], protocol: text}\n");
    store.write("agent.sh", "echo one");
    store.ran(&text, &[]);
    let (_, same) = store.ran(&text, &[]);
    store.write("agent.sh", "echo two");
    let (_, changed) = store.ran(&text, &[]);
    assert_eq!((number(&same, &["cached"]), number(&changed, &["cached"])), (4.0, 0.0));
}

#[test]
fn a_corrected_answer_rescores_without_the_agent() {
    let store = cases();
    store.write("agent.sh", "echo Lyon");
    let text = plan("target: {kind: command, command: [sh, agent.sh], protocol: text}\n");
    let (_, first) = store.ran(&text, &[]);
    let run = at(&first, &["run"]).as_str().unwrap().to_owned();
    store.fine(&["record", "edit", "cases", "b", "--set", "expected_output=\"Lyon\""]);
    std::fs::remove_file(store.path().join("agent.sh")).unwrap();
    let scored = store.run(&["score", &run, "--dataset", "cases@2", "--json"]);
    let scored = answer(&scored);
    assert_eq!(balance(&scored), [4, 3, 1, 0, 0]);
    assert_eq!(number(&scored, &["version"]), 2.0);
    let again = rows(&store, at(&scored, &["run"]).as_str().unwrap());
    assert_eq!(at(&row_of(&again, "b"), &["outcome"]).as_str(), Some("pass"));
    assert_eq!(at(&row_of(&rows(&store, &run), "b"), &["outcome"]).as_str(), Some("fail"));
}

#[test]
fn a_record_whose_input_changed_is_skipped_when_rescoring() {
    let store = cases();
    let (_, first) = store.ran(&plan(SCRIPTED), &[]);
    store.fine(&["record", "edit", "cases", "b", "--set", "input=\"Capital of Spain?\""]);
    let run = at(&first, &["run"]).as_str().unwrap();
    let scored = store.run(&["score", run, "--dataset", "cases@2", "--json"]);
    assert_eq!(scored.code, 4);
    assert_eq!(balance(&answer(&scored))[4], 1);
}

#[test]
fn outputs_become_a_generated_version() {
    let store = cases();
    let (_, first) = store.ran(&plan(SCRIPTED), &[]);
    let run = at(&first, &["run"]).as_str().unwrap().to_owned();
    let made = answer(&store.run(&["promote", &run, "--to", "rollouts", "--json"]));
    assert_eq!(number(&made, &["version"]), 1.0);
    let shown = store.fine(&["show", "rollouts", "--json"]);
    assert!(shown.contains("\"mode\":\"generated\""), "{shown}");
    let records = store.fine(&["cat", "rollouts"]);
    assert!(records.contains("It is 4") && !records.contains("expected_output"), "{records}");
    assert_eq!(store.fine(&["cat", "rollouts", "--as", "evaluator"]).lines().count(), 4);
    assert_eq!(store.run(&["cat", "rollouts", "--as", "agent"]).out, "");
    let again = answer(&store.run(&["promote", &run, "--to", "rollouts", "--json"]));
    assert_eq!(at(&again, &["created"]), &heldset_core::value::Value::Bool(false));
}

#[test]
fn nothing_of_a_run_lies_in_the_store_in_the_clear() {
    let store = cases();
    let secret = "zebra-answer-7151";
    store.fine(&["record", "edit", "cases", "b", "--set", &format!("expected_output=\"{secret}\"")]);
    let output = "giraffe-output-9024";
    let script = SCRIPTED.replace("output: Paris", &format!("output: {output}"));
    let (_, ran) = store.ran(&plan(&script).replace("ref: cases", "ref: cases@2"), &[]);
    std::fs::remove_file(store.path().join("plan.yaml")).unwrap();
    std::fs::remove_file(store.path().join("rows.jsonl")).unwrap();
    let search = Search::new([secret, output]);
    for (path, bytes) in files_under(store.path()).unwrap() {
        let found = search.hits(&bytes);
        assert!(found.is_empty(), "{}: {} hits", path.display(), found.len());
    }
    let run = at(&ran, &["run"]).as_str().unwrap();
    assert!(store.fine(&["report", run, "--to", "jsonl"]).contains(output), "it is there for the owner");
}
