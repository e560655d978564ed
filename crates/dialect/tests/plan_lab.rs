//! Experiments of mas-lab, the companion of the seed document first.

use std::fs;

use heldset_core::plan::{DatasetRef, Order, Origin};
use heldset_core::value::{Object, Value};
use heldset_dialect::plan::{PlanOptions, read};
use heldset_testkit::MemoryFiles;

use crate::lab_fixtures::{Disk, folder};
use crate::plan::{check_round_trip, faults, read_beside};

/// The companion experiment, with its manifest as it is given.
fn companion(manifest: &str) -> String {
    format!(
        r#"# labs/trip-planner-eval/experiment.yaml
name: trip-planner-eval
mas:
  manifest: {manifest}  # resolves mas.yaml via mas.apps

# Seeds shared by every run
memory_seeds:
  - source: "arborian_schedule"
    content: "Paris–London: 08:00, 14:00, 20:00. Paris–Tokyo: 11:30, 23:00."
    target_agent: "transport_agent"
  - source: "pricing_baseline"
    content: "Economy fares: Paris–London €89, Paris–Tokyo €640."

dataset:
  path: "./datasets/trip_queries.yaml"

scenarios:
  - id: baseline
    overlay: overlays/baseline.yaml
  - id: with-memory
    overlay: overlays/with-memory.yaml
"#
    )
}

const OVERLAYS: [(&str, &str); 2] = [
    ("overlays/baseline.yaml", "model: m1\n"),
    ("overlays/with-memory.yaml", "apiVersion: mas/v1\nkind: Overlay\nspec: {patch: {memory: {enabled: true}}}\n"),
];

#[test]
fn the_line_that_is_not_yaml_is_told_with_its_quotes() {
    let told = faults(&companion("app: trip-planner"), &OVERLAYS);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("E025 4:"), "{told:?}");
    assert!(told[0].contains("in quotes: `manifest: \"app: trip-planner\"`"), "{told:?}");
}

#[test]
fn the_companion_experiment_is_read() {
    for manifest in ["\"app: trip-planner\"", "\"app:trip-planner\"", "app:trip-planner", "{app: trip-planner}"] {
        for place in ["apps/trip-planner/mas.yaml", "apps/trip-planner/mas.yml", "apps/trip-planner.yaml"] {
            let mut files = OVERLAYS.to_vec();
            files.push((place, "apiVersion: mas/v1\nkind: MAS\nspec: {entry: concierge, agents: {concierge: {}}}\n"));
            let read = read_beside(&companion(manifest), &files).unwrap_or_else(|faults| panic!("{faults:#?}"));
            let plan = read.plan;
            assert_eq!((plan.origin, plan.n_runs), (Origin::Lab, 1));
            assert_eq!(plan.target.get("kind"), Some(&Value::from("mas")));
            assert_eq!(plan.target.get("entry"), Some(&Value::from("concierge")));
            assert_eq!(plan.dataset, DatasetRef::Path("./datasets/trip_queries.yaml".to_owned()));
            assert_eq!(plan.memory_seeds[0].target_agent.as_deref(), Some("transport_agent"));
            assert_eq!(plan.scenarios[0].overlay.get("model"), Some(&Value::from("m1")));
            assert!(plan.scenarios[1].overlay.get("memory").is_some(), "{:?}", plan.scenarios[1]);
            assert!(read.files.contains(&place.to_owned()), "{:?}", read.files);
            check_round_trip(&plan);
        }
    }
}

#[test]
fn a_missing_application_is_told_unless_another_target_is_given() {
    let text = companion("\"app: trip-planner\"");
    let told = faults(&text, &OVERLAYS);
    assert!(told[0].starts_with("E019 4:13 mas.manifest: there is no application `trip-planner`"), "{told:?}");
    assert!(told[0].contains("`apps/trip-planner/mas.yaml`") && told[0].contains("--target FILE"), "{told:?}");
    let target: Object<'static> = [("kind".into(), Value::from("echo"))].into_iter().collect();
    let options = PlanOptions { target: Some(target.clone()), ..PlanOptions::default() };
    let read = read("e.yaml", text.as_bytes(), &MemoryFiles::of(&OVERLAYS), &options).unwrap();
    assert_eq!(read.plan.target, target);
}

#[test]
fn a_missing_target_and_a_missing_overlay_are_told() {
    let text = "name: x\ndataset: {path: d.yaml, group: g, limit: 2}\nscenarios: [{id: a, overlay: o.yaml}, {id: b, overlay: up}]\n";
    insta::assert_snapshot!(faults(text, &[]).join("\n"), @r"
    E051 1:1 -: the plan has no `target` (add `target:`, or name a file with `--target FILE`)
    E019 3:30 scenarios[0].overlay: there is no file `o.yaml` (paths are relative to the file that names them)
    E019 3:56 scenarios[1].overlay: there is no overlay `up`: none of `up`, `overlays/up.yaml`, `overlays/up.yml` is there (paths are relative to the file that names them)
    ");
}

#[test]
fn everything_may_stand_under_experiment() {
    let text = "experiment:\n  name: e\n  mas: {agents: {a: {prompt: p}}}\n  flavour: cloud\n  dataset: {name: cases, filter: {type: x}, limit: 4}\n  \
                scenarios:\n    - {id: s1, overlays: {logic: [one], control: [], infra: [{ref: two}]}, flavour: local}\n    \
                - {id: s2, overlay: {a: {b: 1}}}\n  \
                execution: {parallelism: 3, timeout: 60, strategy: depth, max_executions: 100, reset_state: true}\n  \
                run: {n_runs: 5, post: []}\n  evaluation: {method: metrics, metrics: [contains]}\n  unknwon: 1\n";
    let files =
        [("overlays/one.yaml", "a: {b: 1, c: 2}\n"), ("overlays/two.yaml", "a: {c: 3}\n"), ("datasets/cases.yaml", "")];
    let told = faults(text, &files);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("E050 12:12 experiment.unknwon: `experiment` has no key `unknwon`"), "{told:?}");
    let read = read_beside(&text.replace("  unknwon: 1\n", ""), &files).unwrap();
    let plan = &read.plan;
    assert_eq!((plan.n_runs, plan.order, plan.max_concurrent), (5, Order::Depth, 3));
    assert_eq!((plan.run_timeout, plan.max_executions, plan.select.limit), (Some(60.0), Some(100), Some(4)));
    assert_eq!(plan.dataset, DatasetRef::Path("datasets/cases.yaml".to_owned()));
    let overlay = heldset_core::canonical::bytes(&Value::Object(plan.scenarios[0].overlay.clone()));
    assert_eq!(String::from_utf8(overlay).unwrap(), r#"{"a":{"b":1,"c":3},"flavour":"local"}"#);
    assert_eq!(plan.scenarios[1].overlay.get("flavour"), Some(&Value::from("cloud")));
    assert_eq!(plan.graders[0].name, "contains");
    let ignored = ["`experiment.execution.reset_state`", "`experiment.run.post`", "`experiment.evaluation.method`"];
    for key in ignored {
        assert!(read.notes.contains(&format!("ignored: {key}")), "{key}: {:?}", read.notes);
    }
    check_round_trip(plan);
}

#[test]
fn what_stands_beside_experiment_is_meant_to_be_inside() {
    let text = "target: {kind: echo}\nexperiment: {name: e, dataset: {path: d.yaml}}\n";
    assert_eq!(read_beside(text, &[]).unwrap().plan.target.get("kind"), Some(&Value::from("echo")));
    let told = faults(&format!("{text}tarrget: 1\n"), &[]);
    assert!(told[0].contains("has no key `tarrget` (did you mean `target`?)"), "{told:?}");
    let declared =
        "apiVersion: lab/v1\nkind: Experiment\nmetadata: {name: n}\nspec: {dataset: d.yaml, target: {kind: echo}}\n";
    assert_eq!(read_beside(declared, &[]).unwrap().plan.name, "n");
}

#[test]
fn faults_of_other_files_name_those_files() {
    let text = "name: x\ndataset: {path: d.yaml, limit: 1}\ntarget: {kind: echo}\nmemory_seeds: s.yaml\nscenarios: [{id: a, overlay: o.yaml}]\n";
    let files = [("s.yaml", "- source: a\n"), ("o.yaml", "a: b: c\n")];
    let told: Vec<String> = read_beside(text, &files)
        .unwrap_err()
        .iter()
        .map(|fault| format!("{} {}", fault.code, fault.file.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(told, ["E025 o.yaml", "E022 s.yaml"]);
}

#[test]
fn an_experiment_of_others_is_read() {
    let Some(folder) = folder() else { return };
    let name = "lab/experiment-fact-recall-smoke.yaml";
    let bytes = fs::read(folder.join(name)).unwrap();
    let files = Disk(folder.clone());
    let faults = read(name, &bytes, &files, &PlanOptions::default()).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:#?}");
    let options = PlanOptions { keep_names: true, ..PlanOptions::default() };
    let kept = read(name, &bytes, &files, &options).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(kept.plan.target.get("manifest"), Some(&Value::from("app:trip-planner")));
    check_round_trip(&kept.plan);
    let target: Object<'static> = [("kind".into(), Value::from("echo"))].into_iter().collect();
    let options = PlanOptions { target: Some(target), ..PlanOptions::default() };
    let read = read(name, &bytes, &files, &options).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!((read.plan.scenarios.len(), read.plan.max_concurrent), (4, 3));
    assert_eq!(read.plan.scenarios[0].overlay.get("flavour"), Some(&Value::from("local")));
    for key in ["application", "pipeline_bind", "execution.emulation", "execution.pause_between_runs"] {
        assert!(read.notes.contains(&format!("ignored: `experiment.{key}`")), "{key}: {:?}", read.notes);
    }
    check_round_trip(&read.plan);
}
