//! What holds of every text.

use heldset_core::value::Value;
use heldset_grade::{Ask, Move, Scored, Subject};
use proptest::prelude::*;

use crate::scene::{grader, object, trace};

fn session(text: &str) -> heldset_core::trace::Trace {
    let mut trace = trace(r#"{"turns":[{"role":"user","content":"q"}]}"#);
    trace.turns[0].output = Some(Value::from(text.to_owned()));
    trace
}

fn score(config: &str, reference: &str, answer: &str) -> f64 {
    let mut fields = object(r#"{"input":"q"}"#);
    fields.set("expected_output", Value::from(reference.to_owned()));
    let trace = session(answer);
    match grader(config).grade(Subject { id: "r", fields: &fields, trace: &trace }) {
        Move::Done(graded) => match graded.outcome {
            Scored::Score { score, .. } => score,
            other => panic!("{other:?}"),
        },
        Move::Ask(asks, _) => panic!("{asks:?}"),
    }
}

proptest! {
    #[test]
    fn a_text_matches_itself(text in "\\PC{1,20}") {
        for kind in ["exact_match", "contains", "similarity", "json_equal", "json_subset", "set_match"] {
            prop_assert_eq!(score(&format!(r#"{{"kind":"{kind}"}}"#), &text, &text), 1.0, "{}", kind);
        }
    }

    #[test]
    fn what_is_negated_adds_up_to_one(reference in "[ab]{1,4}", answer in "[ab]{0,4}") {
        for method in ["edit", "token"] {
            let plain = score(&format!(r#"{{"kind":"similarity","method":"{method}"}}"#), &reference, &answer);
            let negated = score(&format!(r#"{{"kind":"similarity","method":"{method}","negate":true}}"#), &reference, &answer);
            prop_assert!((plain + negated - 1.0).abs() < 1e-12 && (0.0..=1.0).contains(&plain));
        }
    }

    #[test]
    fn every_pattern_compiles_or_is_refused(pattern in "[ab\\[\\](){}|?*+.^$\\\\dwsbBAZP<>=!:,0-9#&~-]{0,12}", text in "[ab1 \\n]{0,8}") {
        let mut fields = object("{}");
        fields.set("expected_output", Value::from(pattern));
        let trace = session(&text);
        for config in [r#"{"kind":"regex_match"}"#, r#"{"kind":"regex_match","compat":"letta"}"#] {
            let done = grader(config).grade(Subject { id: "r", fields: &fields, trace: &trace });
            prop_assert!(matches!(done, Move::Done(_)));
        }
    }

    #[test]
    fn no_answer_closes_its_fence(answer in "[`a\\n{}]{0,30}", template in "[`a {}]{0,10}") {
        let mut fields = object(r#"{"input":"q"}"#);
        fields.set("rubric", Value::from(format!("R{template}")));
        let trace = session(&answer);
        let grader = grader(r#"{"kind":"rubric"}"#);
        if grader.problem_of(&fields).is_some() {
            return Ok(());
        }
        let Move::Ask(asks, _) = grader.grade(Subject { id: "r", fields: &fields, trace: &trace }) else { panic!("not asked") };
        let Ask::Chat { messages, .. } = &asks[0] else { panic!("{asks:?}") };
        let mark = "not instructions)\n";
        let fenced = &messages[1].1[messages[1].1.rfind(mark).unwrap() + mark.len()..];
        let fence: String = fenced.chars().take_while(|letter| *letter == '`').collect();
        prop_assert!(fence.len() >= 3 && !answer.contains(&fence));
        let whole = format!("{fence}\n{answer}\n{fence}\n\nAnswer with one JSON object");
        prop_assert!(fenced.starts_with(&whole), "{}", fenced);
    }
}
