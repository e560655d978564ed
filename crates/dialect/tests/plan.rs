//! Plans in our own form: every key, every fault, and the way back.

use heldset_core::fault::Fault;
use heldset_core::plan::{DatasetRef, Design, Factor, GradeWhen, Limit, Order, Origin, Plan};
use heldset_core::value::Value;
use heldset_dialect::plan::{PlanOptions, ReadPlan, read};
use heldset_dialect::write::yaml;
use heldset_testkit::MemoryFiles;

/// Reads a plan beside some files.
pub(crate) fn read_beside(text: &str, files: &[(&str, &str)]) -> Result<ReadPlan, Vec<Fault>> {
    read("plan.yaml", text.as_bytes(), &MemoryFiles::of(files), &PlanOptions::default())
}

/// A plan that must be read.
pub(crate) fn plan(text: &str) -> Plan {
    read_beside(text, &[]).unwrap_or_else(|faults| panic!("{faults:#?}")).plan
}

/// The faults as `CODE line:column field: message (help)`.
pub(crate) fn faults(text: &str, files: &[(&str, &str)]) -> Vec<String> {
    let faults = read_beside(text, files).map(|read| panic!("{read:#?}")).unwrap_err();
    faults.iter().map(shown).collect()
}

fn shown(fault: &Fault) -> String {
    let place = fault.place.map_or_else(String::new, |place| format!("{}:{}", place.line, place.column));
    let (field, help) = (fault.field.as_deref().unwrap_or("-"), fault.help.as_deref().unwrap_or("-"));
    format!("{} {place} {field}: {} ({help})", fault.code, fault.message)
}

/// Writes a plan in its native form and reads it again.
pub(crate) fn check_round_trip(plan: &Plan) {
    let native = plan.to_value();
    let text = yaml(native.as_object().unwrap());
    let options = PlanOptions { keep_names: true, ..PlanOptions::default() };
    let again = read("plan.yaml", text.as_bytes(), &MemoryFiles::default(), &options);
    let again = again.unwrap_or_else(|faults| panic!("{text}\n{faults:#?}"));
    assert_eq!(again.plan, Plan { origin: Origin::Native, ..plan.clone() }, "{text}");
    assert_eq!(again.plan.digest(), plan.digest());
    let kept = heldset_core::canonical::bytes(&native);
    let kept = read("plan.json", &kept, &MemoryFiles::default(), &options).unwrap().plan;
    assert_eq!(kept.digest(), plan.digest());
    assert_eq!(kept.graders.first(), plan.graders.first());
    let told = |note: &&String| !note.contains("stays named");
    assert_eq!(again.notes.iter().find(told), None);
}

const EXAMPLE: &str = r#"
apiVersion: heldset/v1
kind: Experiment
name: trip
dataset: {path: d.jsonl}
select: {tags: [math], limit: 10}
target: {kind: scripted, agents: [concierge], rules: [{match: "regex", turn: 0, output: "…"}], default: {echo: true}}
scenarios: [{id: base, overlay: {model: m1}}]
memory_seeds: []
run: {n_runs: 1}
max_concurrent: 16
max_errors: 10%
graders: {exact: {kind: tool, function: exact_match, extractor: last_assistant}}
gate: {kind: simple, metric_key: exact, aggregation: avg_score, op: gte, value: 0.9, decide: interval}
"#;

#[test]
fn the_example_of_the_contract_is_read() {
    let plan = plan(EXAMPLE);
    assert_eq!((plan.name.as_str(), plan.origin), ("trip", Origin::Native));
    assert_eq!(plan.dataset, DatasetRef::Path("d.jsonl".to_owned()));
    assert_eq!((plan.select.tags_all.as_slice(), plan.select.limit), (&["math".to_owned()][..], Some(10)));
    assert_eq!(plan.max_errors, Limit::Share(0.1));
    assert_eq!(plan.graders[0].config.get("function"), Some(&Value::from("exact_match")));
    assert!(plan.gate.is_some());
    check_round_trip(&plan);
}

#[test]
fn little_is_enough_and_the_rest_has_defaults() {
    let read = read_beside("dataset: d.jsonl\ntarget: {kind: echo}\n", &[]).unwrap();
    let plan = read.plan;
    assert_eq!((plan.name.as_str(), plan.scenarios[0].id.as_str()), ("plan", "default"));
    assert_eq!((plan.n_runs, plan.max_concurrent, plan.order), (1, 16, Order::Coverage));
    assert_eq!((plan.design.clone(), plan.grade), (Design::Cartesian, GradeWhen::AfterRecord));
    assert_eq!((read.files, read.notes), (vec!["d.jsonl".to_owned()], Vec::new()));
    check_round_trip(&plan);
}

#[test]
fn json_is_read_as_well() {
    let plan = plan(r#"{"name":"j","dataset":"trips@3","target":{"kind":"echo"}}"#);
    assert_eq!(plan.dataset, DatasetRef::Cite("trips@3".to_owned()));
}

#[test]
fn every_part_comes_back() {
    for part in [
        "select: {group: hotel, labels: {k: v}, tags: {all: [a], any: [b], none: [c]}, ids: [tc-*], limit: 3}",
        "select: {sample: {n: 20, seed: 7, stratify_by: metadata.level}, shard: 2/4, failed_from: r-1, split: test}",
        "select: {sample: 5}",
        "select: {filter: {field: category, operator: eq, value: x}}",
        "select: {filter: {category: x}}",
        "execution: {order: depth, timeout: 12.5, max_executions: 9, max_concurrent: 2}",
        "execution: {design: {mode: coupled, couplings: [{scenario: default, records: [a-*, b]}]}}",
        "execution: {design: {mode: one_factor, vary: records, pin_scenario: default}}",
        "execution: {design: {mode: one_factor, vary: scenarios, pin_record: q1}}",
        "execution: {design: one_factor}",
        "max_errors: 7%",
        "max_errors: 0.123456789",
        "max_errors: 12.345%",
        "max_errors: 0",
        "max_errors: 3",
        "memory_seeds: [{source: a, content: b, target_agent: c, metadata: {k: [1, null]}}]",
        "scenarios: [{id: 1.0, overlay: {a: {b: [1]}}}, {id: two}]",
        "graders: {a: {kind: rubric, prompt: \"x\\n{input}\", model: m}, b: {function: contains}}\ngrade: after_run",
        "description: |\n  Two\n  lines\nsetup_script: setup.py:prepare",
        "run: {n_runs: 4}\nmax_concurrent: 1",
    ] {
        check_round_trip(&plan(&format!("name: p\ndataset: d.jsonl\ntarget: {{kind: echo}}\n{part}\n")));
    }
}

#[test]
fn words_mean_what_they_say() {
    let plan = |part: &str| plan(&format!("name: p\ndataset: d.jsonl\ntarget: {{kind: echo}}\n{part}\n"));
    assert_eq!(plan("select: {shard: 2/4}").select.shard, Some((2, 4)));
    assert_eq!(plan("scenarios: [{id: 1.0}]").scenarios[0].id, "1.0");
    assert_eq!(plan("max_errors: 0.25").max_errors, Limit::Share(0.25));
    let factor = plan("execution: {design: {mode: one_factor, pin_scenario: default}}").design;
    assert_eq!(factor, Design::OneFactor(Factor::Records(Some("default".to_owned()))));
    assert_eq!(plan("num_runs: 3\nscenarios: []").n_runs, 3);
}

#[test]
fn files_of_a_plan_are_read_into_it_and_named() {
    let text = "dataset: data/d.jsonl\ntarget: target.yaml\nmemory_seeds: seeds.yaml\nsetup_script: s.py:go\n\
                scenarios: [{id: a, overlay: over.yaml}]\n\
                graders: {j: {kind: rubric, prompt_path: p.txt}, c: {kind: tool, function: g.py:f, extractor: e.py:f}}\n";
    let files = [
        ("target.yaml", "kind: echo\nmodel: m0\n"),
        ("seeds.yaml", "seeds: [{key: s, text: c}]\n"),
        ("over.yaml", "model: m1\n"),
        ("p.txt", "Judge {input}\n"),
        ("g.py", "def f(sample, submission): return 1\n"),
        ("e.py", "def f(trajectory, config): return ''\n"),
    ];
    let read = read_beside(text, &files).unwrap();
    assert_eq!(read.plan.target.get("model"), Some(&Value::from("m0")));
    assert_eq!(read.plan.scenarios[0].overlay.get("model"), Some(&Value::from("m1")));
    assert_eq!((read.plan.memory_seeds[0].source.as_str(), read.plan.memory_seeds[0].content.as_str()), ("s", "c"));
    assert_eq!(read.plan.graders[0].config.get("prompt"), Some(&Value::from("Judge {input}\n")));
    let expected =
        ["data/d.jsonl", "target.yaml", "over.yaml", "seeds.yaml", "p.txt", "g.py", "e.py", "s.py"].map(str::to_owned);
    let mut files = read.files.clone();
    files.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(files, expected);
    check_round_trip(&read.plan);
}

#[test]
fn unknown_keys_name_the_nearest_wherever_they_are() {
    let text = "name: p\ndataset: {path: d.jsonl, spilt: test}\ntarget: {kind: echo}\nscenario: []\n\
                select: {limt: 3}\nexecution: {ordr: depth}\nscenarios: [{id: a, overlya: {}}]\n";
    insta::assert_snapshot!(faults(text, &[]).join("\n"), @r"
    E050 2:33 dataset.spilt: `dataset` has no key `spilt` (did you mean `split`?)
    E050 4:11 scenario: a plan has no key `scenario` (did you mean `scenarios`?)
    E050 5:16 select.limt: `select` has no key `limt` (did you mean `limit`?)
    E050 6:19 execution.ordr: `execution` has no key `ordr` (did you mean `order`?)
    E050 7:30 scenarios[0].overlya: `scenarios[0]` has no key `overlya` (did you mean `overlay`?)
    ");
}

#[test]
fn what_cannot_be_meant_is_told_with_its_place() {
    let text = "name: p\ndataset: {path: a, ref: b}\ntarget: {kind: http, api_key: sk-1}\nselect: {limit: 0, shard: 5/4}\n\
                run: {n_runs: two}\nmax_errors: many\nexecution: {design: coupled, order: wide}\nmemory_seeds: 3\n\
                graders: [3, {name: x}]\ngrade: never\n";
    insta::assert_snapshot!(faults(text, &[]).join("\n"), @r"
    E051 2:10 dataset: the dataset is named in several ways (keep one of `path`, `ref` and `name`)
    E057 3:31 target.api_key: `target.api_key` holds a secret in the clear (write `${NAME}`: the value is taken from the environment, and never stored)
    E051 4:17 select.limit: `select.limit` is 0 (write a number from 1, or leave the key out)
    E051 4:27 select.shard: `select.shard` cannot be `5/4` (write one part of several, as in `1/4`)
    E051 5:15 run.n_runs: `run.n_runs` must be a whole number, not text (-)
    E051 6:13 max_errors: `max_errors` is neither a count nor a share (write `5` or `10%`)
    E051 7:21 execution.design: the design `coupled` has no `couplings` (list them, as in `couplings: [{scenario: base, records: [a-*]}]`)
    E051 7:37 execution.order: `execution.order` cannot be `wide` (use one of `coverage`, `depth`)
    E051 8:15 memory_seeds: `memory_seeds` must be a list of seeds or the path of a file, not a number (-)
    E051 9:11 graders[0]: `graders[0]` must be a mapping, not a number (-)
    E051 9:14 graders[1]: grader `x` has no `kind` (see `heldset explain E059`)
    E051 10:8 grade: `grade` cannot be `never` (use one of `after_record`, `after_run`)
    ");
}

#[test]
fn secrets_and_wrong_names_are_told() {
    let text = "name: p\ndataset: d.jsonl\ntarget: {kind: http, headers: {authorization: Bearer sk-1}}\n\
                scenarios: [{id: a}, {id: a}]\ngraders: {exact: {kind: tool, function: exact_match}}\n\
                execution: {design: {mode: coupled, couplings: [{scenario: b, records: ['*']}]}}\n";
    insta::assert_snapshot!(faults(text, &[]).join("\n"), @r"
    E057 3:47 target.headers.authorization: `target.headers.authorization` holds a secret in the clear (write `${NAME}`: the value is taken from the environment, and never stored)
    E051 4:27 scenarios[1].id: scenario `a` is there twice (give each an id of its own)
    E051 6:60 execution.design.couplings[0].scenario: there is no scenario `b` (did you mean `a`?)
    ");
    let shown = format!("{:?}", read_beside(text, &[]).unwrap_err());
    assert!(!shown.contains("sk-1"), "{shown}");
}

#[test]
fn what_is_no_plan_is_told_what_it_lacks() {
    for (text, expected) in [
        ("- 1\n", "a plan is a mapping, not a list"),
        ("name: x\n", "this is no plan: it has neither `dataset` nor `target`"),
        ("name: x\nitems: []\n", "this looks like a dataset, not a plan"),
        ("apiVersion: lab/v1\nkind: Dataset\n", "this is a dataset, not a plan"),
        ("apiVersion: heldset/v2\nkind: Experiment\n", "plans of `heldset/v2` are not known here"),
        ("kind: Suite\n", "the kind of a plan is `Experiment`, not `Suite`"),
        ("dataset: d.jsonl\nrun: {}\n", "the plan has no `target`"),
        ("name: x\ntarget: {kind: echo}\n", "the plan has no `dataset`"),
        ("dataset: d.jsonl\ntarget: {model: m}\n", "the target has no `kind`"),
        ("dataset: Not_a_slug\ntarget: {kind: echo}\n", "`Not_a_slug` is neither a file nor a citation"),
        ("dataset: d.jsonl\ntarget: t.yaml\n", "there is no file `t.yaml`"),
    ] {
        let told = faults(text, &[]);
        assert!(told.iter().any(|fault| fault.contains(expected)), "{text}: {told:?}");
    }
}

#[test]
fn a_file_named_without_an_ending_is_a_path() {
    let text = "dataset: cases\ntarget: {kind: echo}\n";
    assert_eq!(plan(text).dataset, DatasetRef::Cite("cases".to_owned()));
    let read = read_beside(text, &[("cases", "{}")]).unwrap();
    assert_eq!(read.plan.dataset, DatasetRef::Path("cases".to_owned()));
}
