//! Gates: what they say of a run, in three answers.

use heldset_core::canonical;
use heldset_core::gate::{Answer, Case, Evidence, Score, Verdict, decide};
use heldset_core::statistics::{LEVEL, wilson};

use crate::gate_rules::rule;

fn case(place: usize, scores: &[(&str, Option<f64>)]) -> Case {
    let score = |score: &Option<f64>| Score { score: *score, pass: score.map(|score| score >= 0.5) };
    Case {
        key: format!("r{place}"),
        cluster: place,
        labels: vec![],
        scores: scores.iter().map(|(name, found)| ((*name).to_owned(), score(found))).collect(),
    }
}

fn run(cases: Vec<Case>) -> Evidence {
    Evidence { metrics: vec!["exact".into(), "style".into()], planned: cases.len(), cases, baseline: None }
}

/// A run of one metric, with the scores of its cases and how many have none.
fn scored(scores: &[f64], unscored: usize) -> Evidence {
    let scores = scores.iter().copied().map(Some).chain((0..unscored).map(|_| None));
    run(scores.enumerate().map(|(place, score)| case(place, &[("exact", score)])).collect())
}

fn passes(passed: usize, failed: usize, unscored: usize) -> Evidence {
    let scores: Vec<f64> = (0..passed).map(|_| 1.0).chain((0..failed).map(|_| 0.0)).collect();
    scored(&scores, unscored)
}

fn says(text: &str, evidence: &Evidence) -> Verdict {
    decide(&rule(text), evidence)
}

use Answer::{Fail, Inconclusive, Pass};

#[test]
fn an_interval_decides_only_when_it_is_on_one_side() {
    for (text, passed, failed, unscored, expected, needed) in [
        (r#"{"value":0.9}"#, 98, 2, 0, Pass, None),
        (r#"{"value":0.9}"#, 95, 5, 0, Inconclusive, Some(139)),
        (r#"{"value":0.9}"#, 90, 10, 0, Inconclusive, None),
        (r#"{"value":0.9}"#, 80, 20, 0, Fail, None),
        (r#"{"value":0.9}"#, 1, 0, 0, Inconclusive, Some(35)),
        (r#"{"value":0.9}"#, 34, 0, 0, Inconclusive, Some(35)),
        (r#"{"value":0.9}"#, 35, 0, 0, Pass, None),
        (r#"{"value":1}"#, 500, 0, 0, Inconclusive, None),
        (r#"{"value":1}"#, 499, 1, 0, Fail, None),
        (r#"{"value":0}"#, 3, 3, 0, Pass, None),
        (r#"{"op":"gt","value":1}"#, 500, 0, 0, Fail, None),
        (r#"{"op":"lte","value":0.1}"#, 2, 98, 0, Pass, None),
        (r#"{"op":"lte","value":0.1}"#, 20, 80, 0, Fail, None),
        (r#"{"op":"lt","value":0.1}"#, 5, 95, 0, Inconclusive, Some(139)),
        (r#"{"value":0.9,"decide":"point"}"#, 9, 1, 0, Pass, None),
        (r#"{"op":"gt","value":0.9,"decide":"point"}"#, 9, 1, 0, Fail, None),
        (r#"{"value":0.9,"decide":"point"}"#, 89, 11, 0, Fail, None),
        (r#"{"op":"eq","value":0.5}"#, 5, 5, 0, Pass, None),
        (r#"{"op":"eq","value":0.5}"#, 5, 6, 0, Fail, None),
    ] {
        let verdict = says(text, &passes(passed, failed, unscored));
        assert_eq!((verdict.verdict, verdict.needed_n), (expected, needed), "{text} {passed} {failed}: {verdict:?}");
        assert_eq!(verdict.n, passed + failed);
    }
}

#[test]
fn the_needed_number_is_the_smallest_that_decides() {
    // Rates of which every multiple of 20 scores has a whole number.
    for (passed, failed, bar) in [(19, 1, 0.8), (95, 5, 0.9), (11, 9, 0.5), (16, 4, 0.9), (1, 19, 0.1)] {
        let verdict = says(&format!(r#"{{"value":{bar}}}"#), &passes(passed, failed, 0));
        assert_eq!(verdict.verdict, Inconclusive, "{passed} {failed} {bar}");
        let needed = usize::try_from(verdict.needed_n.unwrap()).unwrap();
        let decides = |n: usize| {
            let (low, high) = wilson(n * passed / (passed + failed), n, LEVEL).interval.unwrap();
            low >= bar || high < bar
        };
        assert!(decides(needed.next_multiple_of(20)), "{needed} scores decide {passed} {failed} against {bar}");
        assert!(!decides((needed - 1) / 20 * 20), "fewer than {needed} do not");
    }
    let numbers: Vec<f64> = (0..10).map(|place| 0.5 + f64::from(place) / 50.0).collect();
    let verdict = says(r#"{"value":0.57}"#, &scored(&numbers, 0));
    assert_eq!((verdict.verdict, verdict.method), (Inconclusive, "t"));
    let needed = verdict.needed_n.unwrap();
    assert!((35..=40).contains(&needed), "sd 0.0606, gap 0.02: {needed}");
}

#[test]
fn unscored_cases_are_never_passed_over() {
    for (text, passed, failed, unscored, expected, part) in [
        (r#"{"value":0.5}"#, 98, 0, 2, Pass, "as asked: at least 0.5"),
        (r#"{"value":0.5}"#, 97, 0, 3, Fail, "3 of 100 planned cases are unscored, more than the 2 %"),
        (r#"{"value":0.5,"decide":"point"}"#, 97, 0, 3, Fail, "more than the 2 %"),
        (r#"{"value":0.5}"#, 10, 0, 1, Fail, "1 of 11 planned cases are unscored"),
        (r#"{"value":0.905,"decide":"point"}"#, 90, 9, 1, Inconclusive, "1 unscored cases could turn that around"),
        (r#"{"value":0.9,"decide":"point"}"#, 91, 8, 1, Pass, "as asked"),
        (r#"{"value":0.9,"decide":"point"}"#, 80, 19, 1, Fail, "but at least 0.9 is asked"),
        (r#"{"op":"lte","value":0.09,"decide":"point"}"#, 9, 90, 1, Inconclusive, "turn that around"),
        (r#"{"aggregation":"min","value":1}"#, 99, 0, 1, Inconclusive, "turn that around"),
        (r#"{"value":0.5}"#, 0, 0, 5, Fail, "there are no scores for avg_score of `exact`"),
        (r#"{"op":"lte","value":0.5}"#, 0, 0, 0, Fail, "there are no scores"),
        (r#"{"op":"lte","value":0.5,"min_n":9}"#, 0, 0, 0, Fail, "there are no scores"),
        (r#"{"metric_key":"exakt","value":0}"#, 50, 0, 0, Fail, "there are no scores for avg_score of `exakt`"),
    ] {
        let verdict = says(text, &passes(passed, failed, unscored));
        assert_eq!(verdict.verdict, expected, "{text} {passed} {failed} {unscored}: {verdict:?}");
        assert!(verdict.reason.contains(part), "{text}: {}", verdict.reason);
    }
    let planned = Evidence { planned: 110, ..passes(100, 0, 0) };
    let verdict = says(r#"{"value":0.5}"#, &planned);
    assert_eq!((verdict.verdict, verdict.unscored), (Fail, 10), "what was never attempted is unscored");
}

#[test]
fn every_aggregation_has_its_value() {
    let numbers: Vec<f64> = (1..=20).map(|place| f64::from(place) / 20.0).collect();
    for (aggregation, expected, method) in [
        (r#""avg_score""#, 0.525, "t"),
        (r#""accuracy","pass_threshold":0.75"#, 0.3, "wilson"),
        (r#""accuracy""#, 0.05, "wilson"),
        (r#""pass_rate""#, 0.55, "wilson"),
        (r#""min""#, 0.05, "point"),
        (r#""max""#, 1.0, "point"),
        (r#""median""#, 0.525, "point"),
        (r#""p50""#, 0.525, "point"),
        (r#""p95""#, 0.9525, "point"),
        (r#""p99""#, 0.9905, "point"),
    ] {
        let verdict = says(&format!(r#"{{"aggregation":{aggregation},"op":"gte","value":0}}"#), &scored(&numbers, 0));
        assert!((verdict.value.unwrap() - expected).abs() < 1e-12, "{aggregation}: {verdict:?}");
        assert_eq!((verdict.method, verdict.verdict), (method, Pass), "{aggregation}");
    }
}

#[test]
fn rounding_of_sums_decides_nothing() {
    let verdict = says(r#"{"value":0.4,"decide":"point"}"#, &scored(&[0.1, 0.7], 0));
    assert_eq!(verdict.verdict, Pass, "{verdict:?}");
}

#[test]
fn repeats_are_clusters() {
    let repeated = |records: usize| {
        let cases = (0..40).map(|place| Case { cluster: place % records, ..case(place, &[("exact", Some(1.0))]) });
        run(cases.collect())
    };
    let text = r#"{"value":0.9}"#;
    assert_eq!(says(text, &repeated(40)).verdict, Pass);
    let few = says(text, &repeated(4));
    assert_eq!((few.verdict, few.method, few.n), (Inconclusive, "clustered wilson", 40));
    assert!(few.needed_n.unwrap() > 300, "ten repeats of 35 records: {few:?}");
}

#[test]
fn a_least_number_of_scores_is_asked_for() {
    let text = r#"{"value":0.5,"min_n":50}"#;
    let few = says(text, &passes(49, 0, 0));
    assert_eq!((few.verdict, few.needed_n), (Inconclusive, Some(50)));
    assert_eq!(few.reason, "there are 49 scores, and the rule asks for at least 50");
    assert_eq!(says(text, &passes(50, 0, 0)).verdict, Pass);
}

#[test]
fn weights_make_one_score_of_several() {
    let cases = |style: fn(usize) -> Option<f64>| {
        run((0..60).map(|place| case(place, &[("exact", Some(1.0)), ("style", style(place))])).collect())
    };
    let text = |rest: &str| format!(r#"{{"weights":{{"exact":3,"style":1,"absent":0}},{rest}}}"#);
    let half = cases(|place| Some(f64::from(u8::from(place % 2 == 0))));
    let verdict = says(&text(r#""value":0.8"#), &half);
    assert_eq!((verdict.verdict, verdict.value, verdict.n), (Pass, Some(0.875), 60));
    assert_eq!(verdict.method, "t");
    assert_eq!(says(&text(r#""value":0.875"#), &half).verdict, Inconclusive);
    assert_eq!(says(&text(r#""value":0.875,"decide":"point""#), &half).verdict, Pass);
    assert_eq!(says(&text(r#""value":0.95"#), &half).verdict, Fail);
    let least = says(&text(r#""aggregation":"min","value":0.75"#), &half);
    assert_eq!((least.verdict, least.value, least.method), (Pass, Some(0.75), "point"));
    let full = says(&text(r#""aggregation":"accuracy","value":0.9"#), &cases(|_| Some(1.0)));
    assert_eq!((full.verdict, full.method), (Pass, "wilson"), "all passes are ones");
    let gaps = says(&text(r#""value":0.1"#), &cases(|place| (place > 5).then_some(1.0)));
    assert_eq!((gaps.verdict, gaps.unscored), (Fail, 6), "a case needs all the scores that weigh");
}

#[test]
fn joined_rules_follow_three_valued_logic() {
    let [pass, fail, open] = [r#"{"value":0.5}"#, r#"{"value":0.99}"#, r#"{"value":0.9}"#];
    let evidence = passes(88, 12, 0);
    for (text, expected) in [(pass, Pass), (fail, Fail), (open, Inconclusive)] {
        assert_eq!(says(text, &evidence).verdict, expected);
    }
    for (operator, conditions, expected) in [
        ("and", vec![pass, pass], Pass),
        ("and", vec![pass, open], Inconclusive),
        ("and", vec![open, fail], Fail),
        ("or", vec![fail, pass], Pass),
        ("or", vec![open, pass], Pass),
        ("or", vec![fail, open], Inconclusive),
        ("or", vec![fail, fail], Fail),
    ] {
        let text = format!(r#"{{"operator":"{operator}","conditions":[{}]}}"#, conditions.join(","));
        let verdict = says(&text, &evidence);
        assert_eq!(verdict.verdict, expected, "{text}");
        assert_eq!((verdict.children.len(), verdict.n), (2, 100));
        assert_eq!(verdict.needed_n.is_some(), expected == Inconclusive, "{verdict:?}");
    }
}

#[test]
fn each_value_of_a_label_is_asked() {
    let labelled = |place: usize| {
        let category = ["maths", "art"][place % 2];
        let score = f64::from(u8::from(category == "maths" || place % 4 == 1));
        Case { labels: vec![("category".into(), category.into())], ..case(place, &[("exact", Some(score))]) }
    };
    let evidence = run((0..100).map(labelled).collect());
    let verdict = says(r#"{"kind":"per_label","label":"category","rule":{"value":0.8}}"#, &evidence);
    let children: Vec<_> =
        verdict.children.iter().map(|child| (child.label.clone().unwrap().1, child.verdict)).collect();
    assert_eq!(children, [(Some("#1".to_owned()), Fail), (Some("#2".to_owned()), Pass)]);
    assert_eq!((verdict.verdict, verdict.method, verdict.n), (Fail, "per label", 50));
    assert!(
        verdict.reason.starts_with("1 of 2 groups fail: `category` #1: avg_score of `exact` is 0.5 (50 scores"),
        "{}",
        verdict.reason
    );
    let some = r#"{"kind":"per_label","label":"category","values":["maths"],"rule":{"value":0.8}}"#;
    assert_eq!(says(some, &evidence).verdict, Pass);
    let unknown = r#"{"kind":"per_label","label":"category","values":["music"],"rule":{"value":0.8}}"#;
    assert_eq!(says(unknown, &evidence).verdict, Fail, "a value that is asked for must be there");
    let bare = says(r#"{"kind":"per_label","label":"level","rule":{"value":0.5}}"#, &evidence);
    assert_eq!((bare.verdict, bare.children[0].label.clone()), (Pass, Some(("level".to_owned(), None))));
}

#[test]
fn coverage_counts_what_is_scored() {
    for (min, unscored, expected) in [(0.9, 10, Pass), (0.91, 10, Fail), (1.0, 0, Pass), (0.0, 100, Fail)] {
        let verdict = says(&format!(r#"{{"kind":"coverage","min":{min}}}"#), &passes(100 - unscored, 0, unscored));
        assert_eq!(verdict.verdict, expected, "{min} {unscored}");
    }
}

/// A run and its baseline, record by record.
fn against(pairs: impl Iterator<Item = (f64, f64)>) -> Evidence {
    let (now, before): (Vec<f64>, Vec<f64>) = pairs.unzip();
    Evidence { baseline: Some(scored(&before, 0).cases), ..scored(&now, 0) }
}

#[test]
fn a_regression_is_measured_on_pairs() {
    let text = |margin: f64| format!(r#"{{"kind":"regression","margin":{margin}}}"#);
    let repeat = |pair: (f64, f64), n: usize| std::iter::repeat_n(pair, n);
    let same = against(repeat((1.0, 1.0), 8).chain(repeat((0.0, 0.0), 4)));
    let verdict = says(&text(0.0), &same);
    assert_eq!((verdict.verdict, verdict.value, verdict.method), (Pass, Some(0.0), "paired t"), "nothing changed");
    let worse = against(repeat((1.0, 1.0), 60).chain(repeat((0.0, 1.0), 40)));
    let verdict = says(&text(0.1), &worse);
    assert_eq!((verdict.verdict, verdict.value, verdict.method), (Fail, Some(-0.4), "newcombe paired"));
    assert_eq!(says(&text(0.6), &worse).verdict, Pass);
    let little = against(repeat((1.0, 1.0), 97).chain(repeat((0.0, 1.0), 2)).chain(repeat((1.0, 0.0), 1)));
    let verdict = says(&text(0.03), &little);
    assert_eq!(verdict.verdict, Inconclusive, "{verdict:?}");
    assert!(verdict.needed_n.unwrap() > 100);
    let point = r#"{"kind":"regression","margin":0.03,"decide":"point"}"#;
    assert_eq!(says(point, &little).verdict, Pass);
    let slower = against((0..50).map(|place| (2.0 + f64::from(place % 3), 1.0 + f64::from(place % 3))));
    assert_eq!(says(r#"{"kind":"regression","op":"lte","margin":0.5}"#, &slower).verdict, Fail);
    assert_eq!(says(&text(0.0), &slower).verdict, Pass, "more is better unless it is said");
}

#[test]
fn a_regression_without_pairs_fails() {
    let text = r#"{"kind":"regression"}"#;
    assert_eq!(says(text, &passes(5, 0, 0)).reason, "there is no baseline run to compare with");
    let other = Evidence { baseline: Some(vec![case(77, &[("exact", Some(1.0))])]), ..passes(5, 0, 0) };
    let verdict = says(text, &other);
    assert_eq!(verdict.verdict, Fail);
    assert!(verdict.reason.contains("there are no scores for change of avg_score"), "{}", verdict.reason);
    let partly = Evidence { baseline: Some(passes(40, 0, 0).cases), ..passes(50, 0, 0) };
    let verdict = says(text, &partly);
    assert_eq!((verdict.verdict, verdict.n), (Pass, 40));
    assert!(verdict.reason.ends_with("10 records have no score in the baseline"), "{}", verdict.reason);
}

#[test]
fn repeats_of_a_record_are_averaged_before_they_are_paired() {
    let repeat =
        |place: usize, score: f64| Case { key: format!("r{}", place / 2), ..case(place, &[("exact", Some(score))]) };
    let now = (0..20).map(|place| repeat(place, f64::from(u8::from(place % 2 == 0)))).collect();
    let before = (0..10).map(|place| case(place, &[("exact", Some(0.5))])).collect();
    let verdict = says(r#"{"kind":"regression"}"#, &Evidence { baseline: Some(before), ..run(now) });
    assert_eq!((verdict.verdict, verdict.value, verdict.n), (Pass, Some(0.0), 10));
}

#[test]
fn a_verdict_is_written_with_its_evidence() {
    let written = |verdict: &Verdict| String::from_utf8(canonical::bytes(&verdict.to_value())).unwrap();
    let verdict = says(r#"{"value":0.5,"decide":"point"}"#, &scored(&[1.0], 0));
    assert_eq!(
        written(&verdict),
        r#"{"interval":null,"method":"wilson","n":1,"needed_n":null,"reason":"avg_score of `exact` is 1 (1 score), as asked: at least 0.5","rule":{"aggregation":"avg_score","decide":"point","kind":"simple","op":"gte","pass_threshold":1,"value":0.5},"unscored":0,"value":1,"verdict":"pass"}"#
    );
    let verdict = says(r#"{"conditions":[{"aggregation":"max","value":0.5}]}"#, &scored(&[1.0], 0));
    assert!(
        written(&verdict).starts_with(r#"{"conditions":[{"interval":null,"method":"point","n":1"#),
        "{}",
        written(&verdict)
    );
}

/// How probable each number of successes is.
fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut log_choose = 0.0;
    let each = (0..=n).map(|k| {
        if k > 0 {
            log_choose += ((n - k + 1) as f64 / k as f64).ln();
        }
        (log_choose + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln()).exp()
    });
    each.collect()
}

#[test]
fn a_good_agent_rarely_fails_and_a_bad_one_rarely_passes() {
    let (mut false_fails, mut false_passes) = (Vec::new(), Vec::new());
    for n in [20, 30, 50, 100, 200] {
        for bar in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95] {
            let rule = rule(&format!(r#"{{"value":{bar}}}"#));
            let answers: Vec<_> = (0..=n).map(|k| decide(&rule, &passes(k, n - k, 0)).verdict).collect();
            let chance = |p: f64, wanted: Answer| {
                let masses = binomial(n, p);
                answers.iter().zip(masses).filter(|(answer, _)| **answer == wanted).map(|(_, mass)| mass).sum::<f64>()
            };
            false_fails.push(chance(bar, Fail));
            false_passes.push(chance(bar - 1e-9, Pass));
            assert!(chance(bar + 0.03, Fail) <= chance(bar, Fail), "a better agent fails less");
        }
    }
    let worst = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    assert!(mean(&false_fails) < 0.035 && worst(&false_fails) < 0.08, "{} {}", mean(&false_fails), worst(&false_fails));
    assert!(
        mean(&false_passes) < 0.025 && worst(&false_passes) < 0.035,
        "{} {}",
        mean(&false_passes),
        worst(&false_passes)
    );
}
