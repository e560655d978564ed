//! The target command: programs that behave, and programs that do not.

use heldset_core::trace::{StepKind, StepStatus};
use heldset_core::value::Value;
use heldset_engine::agents::Task;

use crate::{Bench, ending, object, outputs, seed, task, value};

/// Answers each turn with what it was opened with and how it lives.
const TELLING: &str = r#"
import json, os, sys
opened = None
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "open":
        opened = told
        turns = 0
    elif told["type"] == "turn":
        turns += 1
        print(json.dumps({"type": "step", "kind": "tool_call", "name": "search", "args": {"q": 1}, "result": "r"}))
        print(json.dumps({"type": "step", "name": "bad", "error": "no such tool"}))
        print(json.dumps({"output": {"opened": opened, "turn": told, "turns": turns, "env": dict(os.environ),
            "cwd": os.getcwd(), "files": os.listdir("."), "pid": os.getpid()},
            "steps": [{"type": "message", "content": "done"}], "usage": {"prompt_tokens": 2}, "memory": {"human": "h"}}))
        sys.stdout.flush()
"#;

fn shell(script: &str) -> String {
    let script = script.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!(r#"{{"kind":"command","timeout":20,"command":["sh","-c","{script}"]}}"#)
}

fn told(bench: &Bench, target: &str, task: Task) -> (Value<'static>, heldset_engine::agents::Ended) {
    let mut ends = bench.run(target, vec![task]);
    let end = ends.remove(0);
    assert_eq!(end.failure, None, "{:?}", end.trace.log);
    (end.trace.turns.last().unwrap().output.clone().unwrap(), end)
}

fn at<'v>(value: &'v Value<'static>, path: &str) -> &'v Value<'static> {
    path.split('.').fold(value, |value, key| value.as_object().unwrap().get(key).unwrap_or(&Value::Null))
}

#[test]
fn a_session_lives_across_its_turns_and_is_told_everything_once() {
    let bench = Bench::new().with("agent.py", TELLING);
    let mut one = task(7, &["first", "second"]);
    one.turns[1].role = "hitl".to_owned();
    one.seeds = vec![seed("notes", None), seed("notes", Some("b"))];
    one.args = Some(value(r#"{"k":[1,2.5]}"#));
    one.runtime = object(r#"{"extra_vars":{"env":{"CITY":"Rome","N":3}}}"#);
    let (output, end) = told(&bench, r#"{"kind":"command","command":"python3 agent.py"}"#, one);
    assert_eq!(at(&output, "turns"), &Value::from(2));
    assert_eq!(at(&output, "turn"), &value(r#"{"type":"turn","session":7,"role":"hitl","content":"second"}"#));
    assert_eq!(at(&output, "opened.session_id"), &Value::from("s7"));
    assert_eq!(at(&output, "opened.args"), &value(r#"{"k":[1,2.5]}"#));
    assert_eq!(at(&output, "opened.tools"), &value("[]"));
    assert_eq!(at(&output, "opened.context"), &value("[]"));
    assert_eq!(at(&output, "opened.env"), &value(r#"{"CITY":"Rome","N":3}"#));
    let seeds = r#"[{"source":"notes","content":"content of notes"},
        {"source":"notes","content":"content of notes","target_agent":"b"}]"#;
    assert_eq!(at(&output, "opened.seeds"), &value(seeds));
    assert_eq!(end.trace.seeds.len(), 2);
    assert_eq!(end.trace.seeds[1].agent.as_deref(), Some("b"));
    assert_eq!(at(&output, "env.CITY"), &Value::from("Rome"));
    assert_eq!(end.trace.memory, Some(value(r#"{"human":"h"}"#)));
    assert_eq!(end.trace.usage().input_tokens, Some(4));
    let steps = &end.trace.turns[0].steps;
    assert_eq!((steps[0].kind, steps[0].name.as_deref()), (StepKind::ToolCall, Some("search")));
    assert_eq!(steps[0].output, Some(Value::from("r")));
    assert_eq!((steps[1].status, steps[1].error.as_deref()), (StepStatus::Error, Some("no such tool")));
    assert_eq!((steps[2].kind, &steps[2].output), (StepKind::Message, &Some(Value::from("done"))));
}

#[test]
fn the_environment_is_clean_and_the_folder_empty() {
    let bench = Bench::new().with("agent.py", TELLING);
    let target = r#"{"kind":"command","command":["python3","agent.py"],"env":{"KEY":"Bearer ${TOKEN}","N":1}}"#;
    let (output, _) = told(&bench, target, task(0, &["x"]));
    let Value::Object(env) = at(&output, "env") else { panic!() };
    let mut names: Vec<&str> = env.iter().map(|(name, _)| name).collect();
    // What shells and interpreters of this machine set for themselves is not ours.
    names.retain(|name| !matches!(*name, "PWD" | "SHLVL" | "_" | "LC_CTYPE") && !name.contains("PYENV"));
    names.sort_unstable();
    assert_eq!(names, ["HOME", "KEY", "LANG", "N", "PATH", "TMPDIR", "TRACEPARENT"]);
    assert_eq!(at(&output, "env.KEY"), &Value::from("Bearer s3cret"));
    assert_eq!(at(&output, "env.LANG"), &Value::from("C.UTF-8"));
    assert_eq!(at(&output, "env.HOME"), at(&output, "cwd"));
    assert_eq!(at(&output, "env.TMPDIR"), at(&output, "cwd"));
    assert_eq!(at(&output, "files"), &value("[]"));
    assert!(!std::path::Path::new(at(&output, "cwd").as_str().unwrap()).exists(), "the folder is removed");
}

#[test]
fn files_among_the_arguments_are_told_with_their_digest() {
    let bench = Bench::new().with("agent.py", TELLING).with("data/x.txt", "abc");
    let agents =
        bench.prepare(r#"{"kind":"command","command":["python3","agent.py"],"args":["data/x.txt","--n","1"]}"#);
    let facts = agents.unwrap_or_else(|_| panic!()).facts()[0].clone();
    let file = |name: &str| facts.files.iter().find(|(element, _)| element == name).map(|(_, digest)| digest.as_str());
    assert_eq!(file("data/x.txt"), Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    assert!(file("agent.py").is_some() && file("python3").is_none() && file("--n").is_none());
    assert_eq!((facts.isolation, facts.takes_seeds), (Some("none"), true));
}

#[test]
fn a_reused_process_serves_one_session_after_another() {
    let mut bench = Bench::new().with("agent.py", TELLING);
    bench.concurrent = 1;
    let target = r#"{"kind":"command","command":["python3","agent.py"],"reuse":true}"#;
    let ends = bench.run(target, vec![task(0, &["a"]), task(1, &["b"]), task(2, &["c"])]);
    let pids: Vec<_> = ends.iter().map(|end| at(end.trace.output().unwrap(), "pid").clone()).collect();
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    let opened: Vec<_> = ends.iter().map(|end| at(end.trace.output().unwrap(), "opened.session_id").clone()).collect();
    assert_eq!(opened, [Value::from("s0"), Value::from("s1"), Value::from("s2")]);
    assert_eq!(ends[2].trace.steps().count(), 3, "steps of other sessions are not in it");
}

#[test]
fn a_reused_process_that_fails_is_replaced() {
    let mut bench = Bench::new();
    bench.concurrent = 1;
    let target = shell(
        "while read line; do case $line in *crash*) exit 3;; *'\"turn\"'*) echo '{\"output\":\"ok\"}';; esac; done",
    );
    let target = target.replace(r#""timeout""#, r#""reuse":true,"timeout""#);
    let ends = bench.run(&target, vec![task(0, &["a"]), task(1, &["crash"]), task(2, &["c"])]);
    let endings: Vec<String> = ends.iter().map(ending).collect();
    let crashed = "crashed: the agent ended before it answered turn 1 (exit status: 3)";
    assert_eq!(endings, [r#""ok""#, crashed, r#""ok""#]);
}

#[test]
fn every_way_to_misbehave_has_its_failure() {
    let bench = Bench::new();
    let check = |script: &str, expected: &str| {
        let ends = bench.run(&shell(script), vec![task(0, &["x"])]);
        assert_eq!(ending(&ends[0]), expected, "{script}");
        ends[0].trace.log.clone().unwrap_or_default()
    };
    check("exit 0", "crashed: the agent ended before it answered turn 1 (exit status: 0)");
    let log =
        check("echo oh no >&2; exit 4", "crashed: the agent ended before it answered turn 1 (exit status: 4): oh no");
    assert_eq!(log, "oh no\n");
    check("kill -9 $$", "crashed: the agent ended before it answered turn 1 (signal: 9 (SIGKILL))");
    let log =
        check("echo hello; cat >/dev/null", "protocol: the agent printed a line that is not of the protocol: `hello`");
    assert!(log.contains("hello"), "{log}");
    check("echo; cat >/dev/null", "protocol: the agent printed a line that is not of the protocol: ``");
    check("echo '{\"a\":1}'", "protocol: the agent printed a line that is not of the protocol: `{\\\"a\\\":1}`");
    check(
        "echo '{\"output\":\"x\"}'; echo bye",
        "protocol: the agent printed a line that is not of the protocol: `bye`",
    );
    check(
        "echo '{\"output\":\"x\"}'; echo '{\"output\":\"y\"}'",
        "protocol: the agent answered more often than it was asked: `{\\\"output\\\":\\\"y\\\"}`",
    );
    check("echo '{\"error\":\"out of money\"}'", "agent: out of money");
    check("echo '{\"error\":{\"message\":\"deep\"}}'", "agent: deep");
    check("echo '{\"output\":\"x\",\"error\":null}'", r#""x""#);
    check("printf '{\"output\":\"no newline\"}'", r#""no newline""#);
    check("head -c 9000000 /dev/zero; cat", "protocol: the agent printed a line of more than 8 MiB");
    check(
        "while :; do echo '{\"type\":\"step\",\"content\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}'; done | head -c 70000000",
        "protocol: the agent printed more than 64 MiB",
    );
    let log = check("yes | head -c 3000000 >&2; echo '{\"output\":\"x\"}'", r#""x""#);
    assert!(log.len() <= (16 << 10) + 3, "{}", log.len());
    let long = "x".repeat(300_000);
    let ends = bench.run(&shell("read a; read b; echo '{\"output\":\"'${#b}'\"}'"), vec![task(0, &[&long])]);
    assert_eq!(ends[0].failure, None, "a long turn fits through");
}

#[test]
fn a_turn_that_is_not_answered_in_time_ends_the_session_and_its_processes() {
    let bench = Bench::new();
    let script = "(sleep 600; echo late) & echo $! >&2; sleep 600";
    let target = shell(script).replace(r#""timeout":20"#, r#""timeout":"700ms""#);
    let ends = bench.run(&target, vec![task(0, &["x"])]);
    assert_eq!(ending(&ends[0]), "timeout: turn 1 was not answered within 0.7 s");
    let child = ends[0].trace.log.clone().unwrap();
    let stat = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    let is_gone = || stat().is_empty() || stat().contains(") Z ");
    // A signal is on its way for a moment.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !is_gone() && std::time::Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(is_gone(), "the process it started is still there: {}", stat());
}

#[test]
fn who_does_not_close_is_ended_and_keeps_its_answer() {
    let ends = Bench::new().run(&shell("echo '{\"output\":\"x\"}'; sleep 600"), vec![task(0, &["x"])]);
    assert_eq!(ending(&ends[0]), r#""x""#);
}

#[test]
fn plain_text_goes_in_and_comes_out() {
    let bench = Bench::new();
    let check = |command: &str, expected: &str| {
        let target = format!(r#"{{"kind":"command","protocol":"text","timeout":20,"command":{command}}}"#);
        let ends = bench.run(&target, vec![task(0, &["one\ntwo", "three"])]);
        assert_eq!(ending(&ends[0]), expected, "{command}");
    };
    check(r#""cat""#, r#""one\ntwo" "three""#);
    check(r#"["sh","-c","cat; echo; echo"]"#, r#""one\ntwo\n" "three\n""#);
    check(
        r#"["sh","-c","cat >/dev/null; echo no key >&2; exit 2"]"#,
        "crashed: the agent ended with exit status: 2 in turn 1: no key",
    );
    check(r#"["sh","-c","printf '\\377'"]"#, "protocol: the answer to turn 1 is not UTF-8");
    check(r#""true""#, r#""" """#);
    let mut seeded = task(0, &["x"]);
    seeded.seeds = vec![seed("a", None)];
    let target = r#"{"kind":"command","protocol":"text","command":"cat"}"#;
    assert_eq!(ending(&bench.run(target, vec![seeded])[0]), "refused: a `text` program cannot take seeds");
    assert!(!bench.prepare(target).unwrap_or_else(|_| panic!()).facts()[0].takes_seeds);
    assert_eq!(outputs(&bench.run(target, vec![task(0, &["\u{e4}\r"])])[0]), [r#""ä\r""#]);
}
