//! The released functions and extractors, case by case: `data/make_letta_vectors.py` ran Letta Evals 0.26.0 itself.

use heldset_core::plan::GraderSpec;
use heldset_core::trace::{Step, StepKind, Trace, TurnTrace};
use heldset_core::value::{Object, Value};
use heldset_grade::{Grader, Move, Scored, Subject};

use crate::scene::value;

fn text(case: &Object<'static>, key: &str) -> Option<String> {
    case.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn step(message: &Value<'static>) -> Step {
    let message = message.as_object().unwrap();
    let kind = StepKind::parse(message.get("type").unwrap().as_str().unwrap()).unwrap();
    let mut step = Step { kind, name: text(message, "name"), call_id: text(message, "call_id"), ..Step::default() };
    step.arguments = message.get("arguments").cloned();
    step.output = message.get("output").cloned();
    match message.get("content") {
        Some(Value::Array(parts)) => {
            let part = |part: &Value<'static>| {
                let mut member = Object::new();
                member.set("type", "text".into());
                member.set("text", part.clone());
                Value::Object(member)
            };
            step.output = Some(Value::Array(parts.iter().map(part).collect()));
        }
        Some(content) => step.output = Some(content.clone()),
        None => {}
    }
    step
}

fn trace_of(case: &Object<'static>) -> Trace {
    let mut trace = Trace { memory: case.get("memory").cloned(), ..Trace::default() };
    match case.get("said") {
        Some(said) => trace.turns.push(TurnTrace { output: Some(said.clone()), ..TurnTrace::default() }),
        None => {
            for turn in case.get("trajectory").and_then(Value::as_array).unwrap() {
                let steps = turn.as_array().unwrap().iter().map(step).collect();
                trace.turns.push(TurnTrace { steps, ..TurnTrace::default() });
            }
        }
    }
    trace
}

#[test]
fn scores_and_submissions_are_those_of_the_release() {
    let vectors = value(include_str!("data/letta-vectors.json"));
    let mut wrong = Vec::new();
    for case in vectors.as_array().unwrap() {
        let case = case.as_object().unwrap();
        let mut config = Object::new();
        config.set("kind", "tool".into());
        config.set("function", case.get("function").unwrap().clone());
        config.set("compat", "letta/0.26".into());
        if let (Some(extractor), Some(more)) = (case.get("extractor"), case.get("config")) {
            config.set("extractor", extractor.clone());
            config.set("extractor_config", more.clone());
        }
        let mut fields = Object::new();
        if let Some(truth) = case.get("ground_truth") {
            fields.set("expected_output", truth.clone());
        }
        let grader = Grader::new(&GraderSpec { name: "g".to_owned(), config }).unwrap();
        let trace = trace_of(case);
        let Move::Done(graded) = grader.grade(Subject { id: "r", fields: &fields, trace: &trace }) else {
            panic!("nobody is to be asked")
        };
        let expected = case.get("score").map(|score| match score {
            Value::Number(number) => number.as_f64(),
            _ => panic!("a score is a number"),
        });
        let found = match graded.outcome {
            Scored::Score { score, .. } => Some(score),
            Scored::Error(_) => None,
            Scored::Unscored(reason) => panic!("unscored: {reason}"),
        };
        let submission = text(case, "submission");
        if found != expected || (submission.is_some() && graded.submission.is_some() && submission != graded.submission)
        {
            wrong.push(format!("{case:?}\n  -> {found:?} {:?} {:?}", graded.submission, graded.rationale));
        }
    }
    assert!(vectors.as_array().unwrap().len() > 1500);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
