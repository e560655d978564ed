//! `heldset migrate`: suites and experiments in the native form.

use std::fs;

use heldset_core::json;

use crate::heldset;

const SUITE: &str = "name: capitals\ndataset: cases.jsonl\nsample_tags: [easy]\ntarget: {kind: agent, agent_id: a-1}\n\
                     graders: {exact: {kind: rubric, prompt_path: p.txt}}\ncleanup: true\n\
                     gate: {metric: accuracy, op: gte, value: 0.9}\n";

#[test]
fn a_suite_is_printed_in_the_native_form_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("suite.yaml"), SUITE).unwrap();
    fs::write(folder.path().join("p.txt"), "Rate {input}\n").unwrap();
    let asked = heldset(folder.path(), &["migrate", "suite.yaml"]);
    assert_eq!((asked.code, asked.out.as_str()), (3, ""));
    assert!(asked.err.contains("error[E056]") && asked.err.contains("--accuracy-unit"), "{}", asked.err);
    let ran = heldset(folder.path(), &["migrate", "suite.yaml", "--accuracy-unit", "fraction"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("apiVersion: heldset/v1\nkind: Experiment\nname: capitals\n"), "{}", ran.out);
    for part in ["tags:\n    all:\n      - easy\n", "kind: letta_agent\n", "decide: point\n", "Rate {input}"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(ran.err, "note: ignored: `cleanup`\n");
    fs::write(folder.path().join("plan.yaml"), &ran.out).unwrap();
    let again = heldset(folder.path(), &["migrate", "plan.yaml"]);
    assert_eq!((again.out, again.err, again.code), (ran.out, String::new(), 0));
}

#[test]
fn output_goes_whole_to_a_file_and_json_has_plan_and_notes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("suite.yaml"), SUITE).unwrap();
    fs::create_dir(folder.path().join("else")).unwrap();
    let args = ["migrate", "suite.yaml", "--accuracy-unit", "percent", "-o", "else/plan.yaml", "--json"];
    let ran = heldset(folder.path(), &args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let printed = json::read(&ran.out).unwrap();
    let printed = printed.as_object().unwrap();
    assert_eq!(printed.get("notes").unwrap().as_array().unwrap().len(), 3, "{}", ran.out);
    assert!(printed.get("plan").unwrap().as_object().unwrap().contains("gate"));
    let written = fs::read_to_string(folder.path().join("else/plan.yaml")).unwrap();
    assert!(written.contains("prompt_path: p.txt"), "{written}");
}

#[test]
fn all_faults_are_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name: x\ndataset: d.jsonl\nselct: {}\ntarget:\n  kind: http\n  api_key: sk-abc\nrun: {n_runs: 0}\n";
    fs::write(folder.path().join("plan.yaml"), text).unwrap();
    let ran = heldset(folder.path(), &["migrate", "plan.yaml", "-o", "out.yaml"]);
    assert_eq!(ran.code, 3);
    for part in ["error[E050]", "did you mean `select`?", "error[E057]", "error[E051]", "plan.yaml:7:"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(!ran.err.contains("sk-abc"), "{}", ran.err);
    assert!(!folder.path().join("out.yaml").exists());
    let ran = heldset(folder.path(), &["migrate", "plan.yaml", "--json"]);
    assert_eq!(ran.code, 3);
    assert!(ran.out.starts_with("{\"error\":") && ran.out.contains("E050"), "{}", ran.out);
}

#[test]
fn a_target_may_be_given_for_an_experiment_without_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.yaml"), "name: x\nmas: {manifest: gone.yaml}\ndataset: {path: d.yaml}\n").unwrap();
    fs::write(folder.path().join("t.yaml"), "kind: echo\n").unwrap();
    let ran = heldset(folder.path(), &["migrate", "e.yaml"]);
    assert!(ran.code == 0 && ran.out.contains("manifest: gone.yaml"), "{}", ran.err);
    assert_eq!(ran.err, "note: `mas.manifest`: `gone.yaml` is not there and stays named; a run needs it\n");
    let ran = heldset(folder.path(), &["migrate", "e.yaml", "--target", "t.yaml"]);
    assert!(ran.code == 0 && ran.out.contains("kind: echo"), "{}", ran.err);
}
