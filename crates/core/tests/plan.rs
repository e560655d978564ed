//! Plans: which records they select, which sessions they come to, what is wrong with them.

use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::plan::{
    Admitted, DatasetRef, Design, Factor, GradeWhen, GraderSpec, Limit, Order, Origin, Plan, Sample, Scenario,
    Selection,
};
use heldset_core::value::{Object, Value};
use proptest::prelude::*;

fn object(text: &str) -> Object<'static> {
    json::read(text).unwrap().into_owned().as_object().unwrap().clone()
}

fn plan(scenarios: &[&str]) -> Plan {
    let scenario = |id: &&str| Scenario { id: (*id).to_owned(), overlay: Object::new() };
    Plan {
        name: "p".to_owned(),
        description: None,
        origin: Origin::Native,
        dataset: DatasetRef::Path("d.jsonl".to_owned()),
        select: Selection::default(),
        target: object(r#"{"kind":"echo"}"#),
        scenarios: scenarios.iter().map(scenario).collect(),
        memory_seeds: Vec::new(),
        n_runs: 1,
        order: Order::Coverage,
        design: Design::Cartesian,
        max_executions: None,
        max_concurrent: 16,
        run_timeout: None,
        max_errors: Limit::Share(0.1),
        graders: Vec::new(),
        grade: GradeWhen::AfterRecord,
        gate: None,
        setup_script: None,
    }
}

/// Sessions as `scenario record repeat`.
fn sessions(plan: &Plan, ids: &[&str]) -> Vec<String> {
    let sessions = plan.sessions(ids).unwrap();
    let listed: Vec<String> = sessions
        .iter()
        .map(|one| format!("{}{}{}", plan.scenarios[one.scenario].id, ids[one.record], one.repeat))
        .collect();
    assert_eq!(listed.len() as u64, sessions.len());
    listed
}

#[test]
fn coverage_repeats_last_and_depth_repeats_first() {
    let mut plan = Plan { n_runs: 2, ..plan(&["a", "b"]) };
    assert_eq!(sessions(&plan, &["x", "y"]), ["ax0", "ay0", "bx0", "by0", "ax1", "ay1", "bx1", "by1"]);
    plan.order = Order::Depth;
    assert_eq!(sessions(&plan, &["x", "y"]), ["ax0", "ax1", "ay0", "ay1", "bx0", "bx1", "by0", "by1"]);
    assert!(sessions(&plan, &[]).is_empty());
}

#[test]
fn coupled_scenarios_meet_what_is_listed_once() {
    let mut plan = plan(&["a", "b", "c"]);
    let couple =
        |scenario: &str, globs: &[&str]| (scenario.to_owned(), globs.iter().map(|one| (*one).to_owned()).collect());
    plan.design = Design::Coupled(vec![couple("b", &["x*"]), couple("a", &["y"]), couple("b", &["x1", "y"])]);
    assert_eq!(sessions(&plan, &["x1", "x2", "y"]), ["ay0", "bx10", "bx20", "by0"]);
}

#[test]
fn one_factor_varies_and_the_rest_is_pinned() {
    let mut plan = plan(&["a", "b"]);
    for (factor, expected) in [
        (Factor::Scenarios(None), vec!["ax0", "bx0"]),
        (Factor::Scenarios(Some("y".to_owned())), vec!["ay0", "by0"]),
        (Factor::Records(None), vec!["ax0", "ay0"]),
        (Factor::Records(Some("b".to_owned())), vec!["bx0", "by0"]),
    ] {
        plan.design = Design::OneFactor(factor);
        assert_eq!(sessions(&plan, &["x", "y"]), expected);
    }
    plan.design = Design::OneFactor(Factor::Scenarios(Some("z".to_owned())));
    let problem = plan.sessions(&["x"]).unwrap_err();
    assert_eq!((problem.code, problem.path.to_string()), (Code::E051, "execution.design.pin_record".to_owned()));
}

#[test]
fn more_sessions_than_allowed_are_refused_before_the_first() {
    let mut plan = Plan { n_runs: 3, max_executions: Some(12), ..plan(&["a", "b"]) };
    assert_eq!(plan.sessions(&["x", "y"]).unwrap().len(), 12);
    let problem = plan.sessions(&["x", "y", "z"]).unwrap_err();
    assert_eq!(problem.code, Code::E051);
    assert_eq!(problem.message, "the plan comes to 18 sessions, more than its `max_executions` of 12");
    plan = Plan { n_runs: u64::MAX, max_executions: None, ..plan };
    assert_eq!(plan.sessions(&["x"]).unwrap_err().code, Code::E051);
}

proptest! {
    #[test]
    fn every_pair_is_met_once_in_each_repeat(scenarios in 1_usize..4, records in 0_usize..6, n_runs in 1_u64..4, depth: bool) {
        let names = ["a", "b", "c"];
        let ids: Vec<String> = (0..records).map(|id| id.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let order = if depth { Order::Depth } else { Order::Coverage };
        let plan = Plan { n_runs, order, ..plan(&names[..scenarios]) };
        let mut listed = sessions(&plan, &ids);
        listed.sort();
        listed.dedup();
        prop_assert_eq!(listed.len() as u64, scenarios as u64 * records as u64 * n_runs);
    }

    #[test]
    fn a_sample_has_its_size_keeps_the_order_and_the_shares(n in 1_u64..30, seed: u64, strata in proptest::collection::vec(0_u8..4, 0..30)) {
        let ids: Vec<String> = (0..strata.len()).map(|id| format!("r{id}")).collect();
        let names: Vec<String> = strata.iter().map(u8::to_string).collect();
        let admitted: Vec<Admitted<'_>> =
            ids.iter().zip(&names).map(|(id, stratum)| Admitted { id, stratum }).collect();
        let sample = Some(Sample { n, seed, stratify_by: Some("s".to_owned()) });
        let kept = Selection { sample, ..Selection::default() }.narrow(&admitted);
        prop_assert_eq!(kept.len() as u64, n.min(strata.len() as u64));
        prop_assert!(kept.is_sorted());
        for stratum in 0..4 {
            let count = |places: &mut dyn Iterator<Item = usize>| places.filter(|place| strata[*place] == stratum).count() as f64;
            let (all, met) = (count(&mut (0..strata.len())), count(&mut kept.iter().copied()));
            let share = all * kept.len() as f64 / strata.len().max(1) as f64;
            prop_assert!((met - share).abs() < 1.0 + 1e-9, "{met} of {share}");
        }
    }
}

#[test]
fn a_sample_depends_on_seed_and_ids_not_on_the_order() {
    let ids: Vec<String> = (0..100).map(|id| format!("r{id}")).collect();
    let choose = |ids: &[String], seed| {
        let admitted: Vec<Admitted<'_>> = ids.iter().map(|id| Admitted { id, stratum: "" }).collect();
        let sample = Some(Sample { n: 10, seed, stratify_by: None });
        let mut kept: Vec<String> = Selection { sample, ..Selection::default() }
            .narrow(&admitted)
            .into_iter()
            .map(|place| ids[place].clone())
            .collect();
        kept.sort();
        kept
    };
    let turned: Vec<String> = ids.iter().rev().cloned().collect();
    assert_eq!(choose(&ids, 7), choose(&turned, 7));
    assert_ne!(choose(&ids, 7), choose(&ids, 8));
}

#[test]
fn shards_part_all_records_and_the_limit_comes_last() {
    let ids: Vec<String> = (0..10).map(|id| id.to_string()).collect();
    let admitted: Vec<Admitted<'_>> = ids.iter().map(|id| Admitted { id, stratum: "" }).collect();
    let narrow = |shard, limit| Selection { shard, limit, ..Selection::default() }.narrow(&admitted);
    assert_eq!(narrow(Some((1, 3)), None), [0, 3, 6, 9]);
    assert_eq!(narrow(Some((3, 3)), None), [2, 5, 8]);
    assert_eq!(narrow(Some((1, 3)), Some(2)), [0, 3]);
    assert_eq!(narrow(None, Some(50)).len(), 10);
}

#[test]
fn a_record_is_admitted_when_everything_holds() {
    let record = object(
        r#"{"category":"hotel","tags":["math","easy"],"labels":{"level":"3","area":["a","b"]},"metadata":{"group":"late"}}"#,
    );
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let base = Selection::default;
    for (select, expected) in [
        (base(), true),
        (Selection { group: Some("hotel".to_owned()), ..base() }, true),
        (Selection { group: Some("late".to_owned()), ..base() }, true),
        (Selection { group: Some("early".to_owned()), ..base() }, false),
        (Selection { labels: Some(object(r#"{"level":3,"area":"b"}"#)), ..base() }, true),
        (Selection { labels: Some(object(r#"{"area":["x","a"]}"#)), ..base() }, true),
        (Selection { labels: Some(object(r#"{"area":"c"}"#)), ..base() }, false),
        (Selection { labels: Some(object(r#"{"none":"c"}"#)), ..base() }, false),
        (Selection { tags_all: texts(&["math", "easy"]), ..base() }, true),
        (Selection { tags_all: texts(&["math", "hard"]), ..base() }, false),
        (Selection { tags_any: texts(&["math", "hard"]), ..base() }, true),
        (Selection { tags_any: texts(&["hard"]), ..base() }, false),
        (Selection { tags_none: texts(&["easy"]), ..base() }, false),
        (Selection { ids: texts(&["x", "tc-*"]), ..base() }, true),
        (Selection { ids: texts(&["tc-?"]), ..base() }, false),
    ] {
        assert_eq!(select.admits("tc-001", &record), expected, "{select:?}");
    }
    let untagged = object("{}");
    assert!(!Selection { tags_all: texts(&["a"]), ..base() }.admits("1", &untagged));
    assert!(Selection { tags_none: texts(&["a"]), ..base() }.admits("1", &untagged));
}

#[test]
fn names_that_are_not_there_and_secrets_are_all_told() {
    let mut plan = plan(&["a", "a"]);
    plan.target = object(r#"{"kind":"http","headers":{"Authorization":"Bearer sk-1"},"api_key":"${KEY}"}"#);
    plan.scenarios[0].overlay = object(r#"{"api_key":"sk-2"}"#);
    plan.graders = vec![GraderSpec { name: "g".to_owned(), config: object(r#"{"kind":"rubric","api_key":"sk-3"}"#) }];
    plan.design = Design::Coupled(vec![("b".to_owned(), Vec::new())]);
    let told: Vec<String> =
        plan.problems().iter().map(|problem| format!("{} {}", problem.code, problem.path)).collect();
    let expected = [
        "E057 scenarios[0].overlay.api_key",
        "E051 scenarios[1].id",
        "E051 execution.design.couplings[0].scenario",
        "E057 graders.g.api_key",
        "E057 target.headers.Authorization",
    ];
    assert_eq!(told, expected);
    assert!(plan.problems().iter().all(|problem| !problem.message.contains("sk-")));
}

#[test]
fn the_digest_follows_what_is_asked() {
    let plan = plan(&["a"]);
    assert_eq!(plan.digest(), plan.clone().digest());
    assert_ne!(plan.digest(), Plan { n_runs: 2, ..plan.clone() }.digest());
    assert_eq!(plan.digest(), Plan { origin: Origin::Letta, ..plan.clone() }.digest());
    let Value::Object(native) = plan.to_value() else { panic!("a mapping") };
    assert_eq!(native.get("max_errors"), Some(&Value::from("10%")));
}
