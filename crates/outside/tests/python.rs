//! The target python, and the set-up of suites.

use crate::{Bench, ending, outputs, seed, task, value};

const AGENT: &str = r#"
import asyncio
import beside

def plain(text):
    print("this is not protocol")
    return beside.shout(text)

async def slow(input, turn, state):
    await asyncio.sleep(0)
    state.setdefault("seen", []).append(input)
    return {"output": {"turn": turn, "seen": state["seen"]}, "steps": [{"name": "look"}], "usage": {"input_tokens": 1}}

def view(session):
    return [session.session_id, session["input"], [seed["source"] for seed in session.seeds], session.args]

def talk(messages, **more):
    return [message["role"] for message in messages] + sorted(more)[:1]

class Kept:
    def __init__(self, session_id):
        self.turns = 0
        self.id = session_id
    def __call__(self, prompt):
        self.turns += 1
        return f"{self.id} {self.turns} {prompt}"

def broken(text):
    raise ValueError("no idea")

def nan(text):
    return float("nan")
"#;

fn bench() -> Bench {
    Bench::new().with("agent.py", AGENT).with("beside.py", "def shout(text): return text.upper()\n")
}

fn target(function: &str) -> String {
    format!(r#"{{"kind":"python","function":"{function}","timeout":60}}"#)
}

#[test]
fn a_function_answers_turns_by_the_names_of_its_parameters() {
    let bench = bench();
    let check = |function: &str, expected: &[&str]| {
        let mut one = task(0, &["a", "b"]);
        one.seeds = vec![seed("notes", None)];
        one.args = Some(value(r#"{"k":1}"#));
        let ends = bench.run(&target(function), vec![one]);
        assert_eq!(ends[0].failure, None, "{:?}", ends[0].trace.log);
        assert_eq!(outputs(&ends[0]), expected, "{function}");
    };
    check("agent.py:plain", &[r#""A""#, r#""B""#]);
    check("agent:plain", &[r#""A""#, r#""B""#]);
    check("agent.py:slow", &[r#"{"seen":["a"],"turn":0}"#, r#"{"seen":["a","b"],"turn":1}"#]);
    check("agent.py:view", &[r#"["s0","a",["notes"],{"k":1}]"#, r#"["s0","b",["notes"],{"k":1}]"#]);
    check("agent.py:talk", &[r#"["user","agent_args"]"#, r#"["user","assistant","user","agent_args"]"#]);
    check("agent.py:Kept", &[r#""s0 1 a""#, r#""s0 2 b""#]);
}

#[test]
fn an_exception_is_a_failure_with_its_last_line() {
    let mut bench = bench();
    bench.concurrent = 1;
    let ends = bench.run(&target("agent.py:broken"), vec![task(0, &["a"]), task(1, &["a"])]);
    assert_eq!(ending(&ends[0]), "agent: ValueError: no idea");
    assert_eq!(ending(&ends[1]), "agent: ValueError: no idea");
    assert!(ends[0].trace.log.as_deref().unwrap().contains("Traceback"), "{:?}", ends[0].trace.log);
    let ends = bench.run(&target("agent.py:missing"), vec![task(0, &["a"])]);
    assert!(ending(&ends[0]).contains("has no `missing`"), "{}", ending(&ends[0]));
    let ends = bench.run(&target("agent.py:nan"), vec![task(0, &["a"])]);
    assert!(ending(&ends[0]).starts_with("agent: the answer is not JSON"), "{}", ending(&ends[0]));
    let facts = bench.prepare(&target("agent:plain")).unwrap_or_else(|_| panic!()).facts()[0].clone();
    assert_eq!(facts.files.len(), 1);
    assert_eq!(facts.files[0].0, "agent");
}

#[test]
fn the_set_up_is_called_once_before_the_first_session() {
    let mark = "import os\ndef setup():\n    open(os.path.join(os.path.dirname(__file__), 'mark'), 'a').write('x')\n";
    let mut bench =
        Bench::new().with("setup.py", mark).with("bad.py", "def setup(client):\n    raise OSError('down')\n");
    bench.setup = Some("setup.py:setup".to_owned());
    let ends = bench.run(r#"{"kind":"echo"}"#, vec![task(0, &["a"]), task(1, &["b"])]);
    assert!(ends.iter().all(|end| end.failure.is_none()), "{:?}", ends[0].failure);
    assert_eq!(std::fs::read_to_string(bench.path().join("mark")).unwrap(), "x");
    bench.setup = Some("bad.py:setup".to_owned());
    let ends = bench.run(r#"{"kind":"echo"}"#, vec![task(0, &["a"])]);
    assert_eq!(ending(&ends[0]), "setup: `bad.py:setup`: OSError: down");
}
