//! What a plan means, and what is wrong with one.

use super::{SCRIPTED, at, balance, cases, number, plan};
use crate::{heldset, store};

#[test]
fn a_plan_that_names_a_file_runs_without_any_set_up() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("d.jsonl"), super::CASES).unwrap();
    let text = format!("apiVersion: heldset/v1\nkind: Experiment\nname: x\ndataset: {{path: d.jsonl}}\n{SCRIPTED}");
    std::fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let run = || {
        let mut command = assert_cmd::Command::cargo_bin("heldset").unwrap();
        command.current_dir(folder.path()).env("HELDSET_KEYS", folder.path().join("keys"));
        command.env_remove("HELDSET_STORE").args(["run", "plan.yaml", "--json"]).output().unwrap()
    };
    let first = run();
    assert!(String::from_utf8_lossy(&first.stderr).contains("made "), "the new store is said");
    let answer = heldset_core::json::read(std::str::from_utf8(&first.stdout).unwrap().trim()).unwrap().into_owned();
    assert!(at(&answer, &["dataset"]).as_str().unwrap().starts_with("file-d-"));
    assert!(at(&answer, &["digest"]).as_str().unwrap().starts_with("sha256:"));
    assert_eq!(balance(&answer), [4, 3, 1, 0, 0]);
    let again = run();
    assert_eq!(first.status.code(), again.status.code());
    assert!(!String::from_utf8_lossy(&again.stderr).contains("made "));
}

#[test]
fn a_selection_narrows_by_filter_tags_ids_and_limit() {
    let store = cases();
    let planned = |select: &str| {
        let (_, answer) = store.ran(&plan(&format!("select: {select}\n{SCRIPTED}")), &[]);
        balance(&answer)[0]
    };
    assert_eq!(planned("{filter: {field: category, operator: eq, value: geo}}"), 2);
    assert_eq!(planned("{filter: {category: geo}, limit: 1}"), 1);
    assert_eq!(planned("{group: math}"), 1);
    assert_eq!(planned("{tags: [easy]}"), 2);
    assert_eq!(planned("{tags: {any: [sum, hard]}}"), 2);
    assert_eq!(planned("{tags: {none: [easy]}}"), 2);
    assert_eq!(planned("{ids: ['?'], sample: {n: 3, seed: 7}}"), 3);
    assert_eq!(planned("{shard: 1/3}") + planned("{shard: 2/3}") + planned("{shard: 3/3}"), 4);
}

#[test]
fn a_selection_of_nothing_is_an_error() {
    let store = cases();
    store.write("plan.yaml", &plan(&format!("select: {{filter: {{category: hotels}}}}\n{SCRIPTED}")));
    let ran = store.run(&["run", "plan.yaml"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("error[E053]") && ran.err.contains("nothing is selected"), "{}", ran.err);
}

#[test]
fn a_plan_at_fault_is_told_before_anything_runs() {
    let store = cases();
    let check = |more: &str, code: &str, words: &str| {
        store.write("plan.yaml", &plan(more));
        let ran = store.run(&["run", "plan.yaml"]);
        assert_eq!(ran.code, 2, "{more}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("error[{code}]")), "{more}: {}", ran.err);
        assert!(ran.err.contains(words), "{more}: {}", ran.err);
        assert_eq!(store.fine(&["runs", "--json"]).trim(), "[]", "{more}");
    };
    check("tarjet: {kind: echo}\n", "E050", "target");
    check(&format!("{SCRIPTED}max_conncurrent: 3\n"), "E050", "max_concurrent");
    check("target: {kind: scriptd}\n", "E058", "scripted");
    check("target: {kind: http, url: 'http://127.0.0.1:9/', headers: {authorization: Bearer abc}}\n", "E057", "secret");
    check(&format!("{SCRIPTED}graders: {{x: {{kind: exactmatch}}}}\n"), "E059", "exact_match");
    check(
        &format!("{SCRIPTED}graders: {{x: {{kind: rubric, prompt: 'judge {{submision}}', model: m}}}}\n"),
        "E055",
        "submi",
    );
    check(&format!("{SCRIPTED}gate: {{kind: simple, metric_key: contains, op: gte, valu: 1}}\n"), "E060", "value");
    check(&format!("{SCRIPTED}select: {{filter: {{field: a, operator: equals, value: 1}}}}\n"), "E052", "eq");
    check("dataset: x\n", "E003", "dataset");
}

#[test]
fn an_unknown_agent_of_a_seed_is_told_before_anything_runs() {
    let store = store();
    let case = r#"{"id":"a","input":"x","memory_seeds":[{"source":"s","content":"c","target_agent":"conceirge"}]}"#;
    store.import("cases", case, &["--profile", "case"]);
    store.write("plan.yaml", &plan("target: {kind: scripted, agents: [concierge], default: {echo: true}}\n"));
    let ran = store.run(&["run", "plan.yaml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error[E054]") && ran.err.contains("did you mean `concierge`"), "{}", ran.err);
}

#[test]
fn a_dry_run_counts_and_says_what_is_cached_and_why_not() {
    let store = cases();
    let text = plan(SCRIPTED);
    store.write("plan.yaml", &text);
    let before = store.run(&["run", "plan.yaml", "--dry-run", "--json"]);
    let before = super::answer(&before);
    assert_eq!((number(&before, &["planned"]), number(&before, &["cached"])), (4.0, 0.0));
    assert!(at(&before, &["not_cached"]).as_array().is_some_and(|why| !why.is_empty()));
    assert!(at(&before, &["warnings"]).as_array().is_some_and(|warnings| warnings.len() == 1));
    assert_eq!(store.fine(&["runs", "--json"]).trim(), "[]", "a dry run leaves nothing");
    store.ran(&text, &[]);
    let after = super::answer(&store.run(&["run", "plan.yaml", "--dry-run", "--json"]));
    assert_eq!(number(&after, &["cached"]), 4.0);
}

#[test]
fn scenarios_and_repeats_multiply_and_overlays_merge() {
    let store = cases();
    let (_, answer) = store.ran(
        &plan(
            "target: {kind: scripted, rules: [{match: France, output: Lyon}], default: {output: none}}\n\
             scenarios: [{id: base}, {id: right, overlay: {rules: [{match: France, output: Paris}]}}]\nrun: {n_runs: 2}\n",
        ),
        &[],
    );
    assert_eq!(balance(&answer)[0], 16);
    let rows = super::rows(&store, at(&answer, &["run"]).as_str().unwrap());
    let outputs = |scenario: &str| {
        let of = rows.iter().filter(|row| at(row, &["scenario"]).as_str() == Some(scenario));
        let of = of.filter(|row| at(row, &["id"]).as_str() == Some("b"));
        of.map(|row| at(row, &["output"]).as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((outputs("base"), outputs("right")), (vec!["Lyon".into(); 2], vec!["Paris".into(); 2]));
}

#[test]
fn only_the_owner_runs() {
    let store = cases();
    store.write("plan.yaml", &plan(SCRIPTED));
    for audience in ["agent", "operator", "dashboard"] {
        let ran = store.run(&["run", "plan.yaml", "--as", audience]);
        assert_eq!(ran.code, 5, "{audience}: {}", ran.err);
    }
    assert_eq!(heldset(store.path(), &["run"]).code, 2);
}
