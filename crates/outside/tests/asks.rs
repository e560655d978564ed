//! Graders outside: programs and Python functions.

use heldset_core::value::Object;
use heldset_engine::agents::Outside;
use heldset_grade::{Answer, Ask};

use crate::{Bench, value};

const GRADERS: &str = r#"
from letta_evals.decorators import grader, extractor, reward_composer
from letta_evals.models import GradeResult, Sample

@grader
def same(sample: Sample, submission: str) -> GradeResult:
    print("noise")
    return GradeResult(score=float(sample.ground_truth == submission), rationale=sample.id)

@grader
async def half(sample, submission):
    return 0.5

@extractor
def last(trajectory, config):
    says = [m.content for turn in trajectory for m in turn if m.message_type == "assistant_message"]
    return says[-1] + config["mark"]

@reward_composer
def reward(ctx):
    return ctx.grades["a"]["score"] / 2

def wrong(sample, submission):
    raise KeyError("gone")
"#;

fn ask(asks: Vec<Ask>) -> Vec<Answer> {
    let bench = Bench::new().with("graders.py", GRADERS);
    let mut helpers = bench.dialler().helpers(bench.path(), 2).unwrap_or_else(|_| panic!());
    helpers.ask(asks)
}

#[test]
fn python_functions_in_letta_s_words_are_called() {
    let call = |function: &str, role, payload: &str| Ask::Python {
        function: format!("graders.py:{function}"),
        role,
        payload: value(payload),
    };
    let sample = r#"{"sample":{"id":"r1","input":"q","ground_truth":"4"},"submission":"4"}"#;
    let trace = r#"{"trace":{"turns":[{"content":"q","output":"first"},{"content":"r","output":"last"}]},"config":{"mark":"!"}}"#;
    let answers = ask(vec![
        call("same", "grader", sample),
        call("half", "grader", sample),
        call("last", "extractor", trace),
        call("reward", "reward", r#"{"sample":{},"grades":{"a":{"score":0.5}}}"#),
        call("wrong", "grader", sample),
        call("half", "grader", sample),
    ]);
    assert_eq!(answers[0], Ok(value(r#"{"score":1,"rationale":"r1","metadata":{}}"#)));
    assert_eq!(answers[1], Ok(value(r#"{"score":0.5}"#)));
    assert_eq!(answers[2], Ok(value(r#""last!""#)));
    assert_eq!(answers[3], Ok(value(r#"{"score":0.25}"#)));
    assert_eq!(answers[4], Err("`graders.py:wrong`: KeyError: 'gone'".to_owned()));
    assert_eq!(answers[5], answers[1]);
}

#[test]
fn programs_are_given_a_document_and_answer_with_one() {
    let call = |script: &str| Ask::Command {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        config: Object::new(),
        payload: value(r#"{"submission":"x"}"#),
    };
    let answers = ask(vec![call("cat"), call("echo no"), call("echo why >&2; exit 1")]);
    assert_eq!(answers[0], Ok(value(r#"{"submission":"x"}"#)));
    assert!(answers[1].as_ref().unwrap_err().starts_with("the program's answer is not JSON"));
    assert_eq!(answers[2], Err("the program ended with exit status: 1: why".to_owned()));
}
