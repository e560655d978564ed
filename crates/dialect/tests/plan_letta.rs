//! Suites of Letta, in the five dialects of its releases.

use std::fs;

use heldset_core::plan::{DatasetRef, Origin, Plan};
use heldset_core::value::Value;
use heldset_dialect::plan::{AccuracyUnit, PlanOptions, ReadPlan, read};
use heldset_testkit::MemoryFiles;

use crate::lab_fixtures::{Disk, folder};
use crate::plan::{check_round_trip, faults, read_beside};

fn suite(more: &str) -> String {
    format!(
        "name: s\ndataset: cases.jsonl\ntarget: {{kind: agent, agent_id: a-1, base_url: 'http://localhost:1'}}\n\
         graders:\n  exact: {{kind: tool, function: exact_match}}\n  also: {{kind: tool, function: contains}}\n{more}\n"
    )
}

fn read_suite(more: &str) -> ReadPlan {
    read_beside(&suite(more), &[]).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// The gate that a suite comes to, as canonical text.
fn gate(plan: &Plan) -> String {
    String::from_utf8(heldset_core::canonical::bytes(&plan.gate.as_ref().unwrap().to_value())).unwrap()
}

#[test]
fn the_keys_of_a_suite_become_those_of_a_plan() {
    let text = "sample_tags: [math, medium]\nmax_samples: 10\nnum_runs: 3\nsetup_script: setup.py:go\n\
                output: out\ncleanup: true\ngate: {metric: avg_score, op: gte, value: 0.5}";
    let read = read_suite(text);
    let plan = &read.plan;
    assert_eq!((plan.origin, plan.max_concurrent, plan.n_runs), (Origin::Letta, 15, 3));
    assert_eq!(plan.dataset, DatasetRef::Path("cases.jsonl".to_owned()));
    assert_eq!((plan.select.tags_all.len(), plan.select.limit), (2, Some(10)));
    assert_eq!(plan.target.get("kind"), Some(&Value::from("letta_agent")));
    assert_eq!(read.notes, ["ignored: `output`", "ignored: `cleanup`"]);
    assert_eq!(read.files, ["cases.jsonl", "setup.py"]);
    check_round_trip(plan);
}

#[test]
fn gates_with_and_without_a_kind_become_one() {
    for (more, expected) in [
        (
            "gate: {metric: avg_score, op: gte, value: 0.5}",
            r#"{"aggregation":"avg_score","decide":"point","kind":"simple","metric_key":"exact","op":"gte","value":0.5}"#,
        ),
        (
            "gate: {metric: accuracy, metric_key: also, op: gte, value: 80, pass_value: 0.5}",
            r#"{"aggregation":"accuracy","decide":"point","kind":"simple","metric_key":"also","op":"gte","pass_threshold":0.5,"value":0.8}"#,
        ),
        (
            "gate: {kind: simple, metric_key: exact, aggregation: accuracy, op: gte, value: 95}",
            r#"{"aggregation":"accuracy","decide":"point","kind":"simple","metric_key":"exact","op":"gte","value":0.95}"#,
        ),
    ] {
        let read = read_suite(more);
        let gate = gate(&read.plan);
        for (key, value) in heldset_core::json::read(expected).unwrap().as_object().unwrap().iter() {
            let found = heldset_core::json::read(&gate).unwrap().into_owned();
            assert_eq!(found.as_object().unwrap().get(key), Some(value), "{more}: {gate}");
        }
        check_round_trip(&read.plan);
    }
    let logical = read_suite(
        "gate: {kind: logical, operator: and, conditions: [{metric_key: exact, aggregation: accuracy, op: gte, value: 90}, \
         {metric_key: also, op: gte, value: 0.5}]}",
    );
    assert!(gate(&logical.plan).contains("0.9"), "{}", gate(&logical.plan));
    check_round_trip(&logical.plan);
}

#[test]
fn an_accuracy_of_at_most_one_is_asked_about() {
    let text = suite("gate: {kind: simple, metric_key: exact, aggregation: accuracy, op: gte, value: 0.9}");
    let told = faults(&text, &[]);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("E056 7:80 gate.value: an accuracy of 0.9"), "{told:?}");
    assert!(told[0].contains("--accuracy-unit fraction"), "{told:?}");
    for (unit, expected) in [(AccuracyUnit::Fraction, 0.9), (AccuracyUnit::Percent, 0.009)] {
        let options = PlanOptions { accuracy_unit: Some(unit), ..PlanOptions::default() };
        let read = read("s.yaml", text.as_bytes(), &MemoryFiles::default(), &options).unwrap();
        assert!(gate(&read.plan).contains(&format!("\"value\":{expected}")), "{}", gate(&read.plan));
    }
}

#[test]
fn a_reward_is_a_metric_without_a_bar() {
    let read = read_suite("reward: {kind: metric, metric_key: also}");
    assert_eq!(read.plan.graders[0].name, "also");
    assert!(read.plan.gate.is_none());
    assert_eq!(read.notes, ["reward `also` has no bar, so nothing decides: add `gate`"]);
    let read = read_suite("reward: {kind: custom, function: rewards.py:compose}");
    assert_eq!(read.plan.graders[2].name, "reward");
    assert_eq!(read.plan.graders[2].config.get("role"), Some(&Value::from("reward")));
    assert!(read.files.contains(&"rewards.py".to_owned()));
    check_round_trip(&read.plan);
}

#[test]
fn judges_of_every_era_are_rubrics() {
    let text = "name: s\ndataset: d.csv\ntarget: {kind: letta_code, model_handles: [a/b, c/d], flags: '--x'}\n\
                graders:\n  a: {kind: rubric, prompt_path: r.txt, rubric_vars: [x]}\n  b: {kind: model_judge, prompt: p, model: m}\n  \
                c: {kind: letta_judge, prompt: p, agent_file: j.af}\n";
    let read = read_beside(text, &[("r.txt", "Rate {x}")]).unwrap_or_else(|faults| panic!("{faults:#?}"));
    for grader in &read.plan.graders {
        assert_eq!(grader.config.get("kind"), Some(&Value::from("rubric")), "{grader:?}");
        assert!(grader.config.contains("model") && grader.config.contains("prompt"), "{grader:?}");
    }
    let scenarios: Vec<&str> = read.plan.scenarios.iter().map(|scenario| scenario.id.as_str()).collect();
    assert_eq!(scenarios, ["a/b", "c/d"]);
    assert_eq!(read.plan.scenarios[1].overlay.get("model"), Some(&Value::from("c/d")));
    assert_eq!(read.notes.len(), 3, "{:?}", read.notes);
    check_round_trip(&read.plan);
}

#[test]
fn another_target_may_stand_in_a_suite() {
    let text = "name: s\ndataset: d.jsonl\ntarget: {kind: scripted, rules: []}\ngraders: {e: {kind: tool, function: exact_match}}\n\
                gate: {kind: simple, metric_key: e, op: gte, value: 1}\n";
    let read = read_beside(text, &[]).unwrap();
    assert_eq!(read.plan.origin, Origin::Letta);
    assert_eq!(read.plan.target.get("kind"), Some(&Value::from("scripted")));
    let of = |text: &str| read_beside(text, &[]).unwrap_or_else(|faults| panic!("{text}: {faults:#?}")).plan.origin;
    for ours in [
        text.replace("value: 1", "value: 1, decide: interval"),
        text.replace("d.jsonl", "{path: d.jsonl}"),
        format!("{text}scenarios: []\n"),
        format!("apiVersion: heldset/v1\nkind: Experiment\n{text}"),
    ] {
        assert_eq!(of(&ours), Origin::Native, "{ours}");
    }
}

#[test]
fn faults_of_a_suite_are_all_told() {
    let text = "name: s\ndataset: https://huggingface.co/datasets/a/b\ntarget: {kind: agent, agent_id: a, agent_file: b.af, api_key: sk-1, time_out: 3}\n\
                graders: {e: {kind: tool, function: exact_match, extractr: x}}\nmax_samples: 0\nsample_tag: [a]\n\
                gate: {metric: accuracy, op: gte, value: 90, pass_op: lt, pass_value: 1, aggregaton: x}\n";
    insta::assert_snapshot!(faults(text, &[]).join("\n"), @r"
    E051 2:10 dataset: `https://huggingface.co/datasets/a/b` is read through a connector, and this version has none yet (connectors come with a later version; bring the file here and name it by its path)
    E051 3:9 target: `target` names its agent in several ways (keep exactly one of `agent_id`, `agent_file` and `agent_script`)
    E057 3:63 target.api_key: `target.api_key` holds a secret in the clear (write `${NAME}`: the value is taken from the environment, and never stored)
    E050 3:79 target.time_out: `target` has no key `time_out` (did you mean `timeout`?)
    E050 4:60 graders.e.extractr: `graders.e` has no key `extractr` (did you mean `extractor`?)
    E051 5:14 max_samples: `max_samples` is 0 (write a number from 1, or leave the key out)
    E050 6:13 sample_tag: a plan has no key `sample_tag` (did you mean `sample_tags`?)
    E051 7:55 gate.pass_op: `pass_op: lt` cannot be carried: a score passes from a threshold on (turn the grader round with `negate`, and use `gte`)
    E050 7:86 gate.aggregaton: `gate` has no key `aggregaton` (did you mean `aggregation`?)
    ");
    let told = faults(&suite("gate: {metric_key: exat, op: gte, value: 1}"), &[]);
    assert!(told[0].contains("no grader is named `exat` (did you mean `exact`?)"), "{told:?}");
}

#[test]
fn suites_of_others_are_read_and_come_back() {
    let Some(folder) = folder() else { return };
    let mut read_files = 0;
    for entry in fs::read_dir(folder.join("letta")).unwrap() {
        let path = entry.unwrap().path();
        for entry in fs::read_dir(&path).into_iter().flatten() {
            let file = entry.unwrap().file_name().to_string_lossy().into_owned();
            if !file.starts_with("suite") {
                continue;
            }
            read_files += 1;
            let name = format!("letta/{}/{file}", path.file_name().unwrap().to_string_lossy());
            let bytes = fs::read(folder.join(&name)).unwrap();
            let options = PlanOptions { keep_names: true, ..PlanOptions::default() };
            let read = read(&name, &bytes, &Disk(folder.clone()), &options);
            let read = read.unwrap_or_else(|faults| panic!("{faults:#?}"));
            assert_eq!(read.plan.origin, Origin::Letta, "{name}");
            assert!(read.notes.iter().any(|note| note.contains("no bar")), "{:?}", read.notes);
            check_round_trip(&read.plan);
        }
    }
    assert!(read_files >= 8, "{read_files}");
}
