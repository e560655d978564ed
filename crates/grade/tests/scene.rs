//! A grader, a record and a session, from JSON to one line that says how it went.

use heldset_core::json;
use heldset_core::plan::GraderSpec;
use heldset_core::trace::Trace;
use heldset_core::value::{Object, Value};
use heldset_grade::{Answer, Ask, Graded, Grader, Move, Scored, Subject};

pub(crate) fn value(text: &str) -> Value<'static> {
    json::read(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).into_owned()
}

pub(crate) fn object(text: &str) -> Object<'static> {
    value(text).as_object().unwrap().clone()
}

pub(crate) fn spec(config: &str) -> GraderSpec {
    GraderSpec { name: "g".to_owned(), config: object(config) }
}

pub(crate) fn grader(config: &str) -> Grader {
    Grader::new(&spec(config)).unwrap_or_else(|problem| panic!("{config}: {}", problem.message))
}

/// A session of one turn with one answer, in JSON.
pub(crate) fn said(output: &str) -> Trace {
    trace(&format!(r#"{{"turns":[{{"role":"user","content":"q","output":{output}}}]}}"#))
}

pub(crate) fn trace(text: &str) -> Trace {
    Trace::from_value(&value(text)).unwrap()
}

/// Grades; whoever is asked answers by `answer`.
pub(crate) fn graded(grader: &Grader, record: &str, trace: &Trace, answer: &mut dyn FnMut(&Ask) -> Answer) -> Graded {
    let fields = object(record);
    let subject = Subject { id: "r", fields: &fields, trace };
    let mut next = grader.grade(subject);
    loop {
        match next {
            Move::Done(graded) => return graded,
            Move::Ask(asks, pending) => {
                let answers = asks.iter().map(&mut *answer).collect();
                next = grader.resume(subject, pending, answers);
            }
        }
    }
}

pub(crate) fn outcome(config: &str, record: &str, trace: &Trace) -> String {
    line(&graded(&grader(config), record, trace, &mut |ask| panic!("asked {ask:?}")))
}

pub(crate) fn line(graded: &Graded) -> String {
    match &graded.outcome {
        Scored::Score { score, pass } => format!("{score} {}", if *pass { "pass" } else { "fail" }),
        Scored::Unscored(reason) => format!("unscored: {reason}"),
        Scored::Error(reason) => format!("error: {reason}"),
    }
}
