//! The targets echo, scripted and replay.

use heldset_core::trace::StepKind;

use crate::{Bench, ending, outputs, seed, task};

#[test]
fn echo_gives_each_turn_back() {
    let mut one = task(0, &["a", "b", "c"]);
    one.turns[1].role = "assistant".to_owned();
    one.turns[2].role = "hitl".to_owned();
    let ends = Bench::new().run(r#"{"kind":"echo"}"#, vec![one]);
    assert_eq!(outputs(&ends[0]), [r#""a""#, r#""c""#]);
    assert_eq!(ends[0].trace.turns[1].role, "hitl");
}

#[test]
fn the_first_rule_that_fits_answers() {
    let target = r#"{"kind":"scripted","agents":["concierge","booker"],"rules":[
        {"match":"(?i)weather in (\\w+)","turn":0,"output":"$1: sunny for $5","usage":{"input_tokens":3}},
        {"record":"r1","output":{"a":[1]},"agent":"booker","steps":[{"type":"tool_call","name":"book","arguments":"{\"x\":1}"}]},
        {"match":"boom","error":"it broke"},
        {"match":"slow","delay_ms":1,"output":"late"}],
        "default":{"echo":true}}"#;
    let tasks = vec![
        task(0, &["the Weather in Rome", "the Weather in Oslo"]),
        task(1, &["x"]),
        task(2, &["boom"]),
        task(3, &["slow"]),
    ];
    let ends = Bench::new().run(target, tasks);
    let endings: Vec<String> = ends.iter().map(ending).collect();
    assert_eq!(
        endings,
        [r#""Rome: sunny for $5" "the Weather in Oslo""#, r#"{"a":[1]}"#, "agent: it broke", r#""late""#]
    );
    assert_eq!(ends[0].trace.usage().input_tokens, Some(3));
    let step = ends[1].trace.steps().next().unwrap();
    assert_eq!((step.kind, step.agent.as_deref()), (StepKind::ToolCall, Some("booker")));
    assert!(step.arguments.as_ref().unwrap().as_object().is_some());
}

#[test]
fn without_a_default_nothing_is_made_up() {
    let ends = Bench::new().run(r#"{"kind":"scripted","rules":[{"match":"x","output":"y"}]}"#, vec![task(0, &["a"])]);
    assert_eq!(ending(&ends[0]), "refused: no rule matches turn 1");
    assert_eq!(ends[0].trace.turns.len(), 1, "the turn that was sent is kept");
}

#[test]
fn a_seed_reaches_the_agent_it_names_or_all() {
    let mut one = task(0, &["a"]);
    one.seeds = vec![seed("all", None), seed("one", Some("b")), seed("all", None)];
    let told = |target: &str, task| {
        let ends = Bench::new().run(target, vec![task]);
        let told = ends[0].trace.seeds.iter();
        let told = told.map(|seed| format!("{}>{}", seed.source, seed.agent.as_deref().unwrap_or("?")));
        (told.collect::<Vec<_>>().join(" "), ending(&ends[0]))
    };
    let declared = r#"{"kind":"scripted","agents":["a","b"],"default":{"output":"x"}}"#;
    assert_eq!(told(declared, one.clone()).0, "all>a all>b one>b all>a all>b");
    assert_eq!(told(r#"{"kind":"scripted","default":{"output":"x"}}"#, one.clone()).0, "all>? one>b all>?");
    one.seeds = vec![seed("x", Some("nobody"))];
    assert_eq!(told(declared, one).1, "refused: the target has no agent `nobody`");
}

#[test]
fn replay_gives_what_was_recorded_and_nothing_else() {
    let recorded = concat!(
        r#"{"type":"header"}"#,
        "\n",
        r#"{"id":"r0","output":"one","usage":{"output_tokens":2}}"#,
        "\n\n",
        r#"{"record_id":"r1","outputs":["a","b"]}"#,
        "\n",
        r#"{"sample_id":"r2","scenario":"other","output":"not this one"}"#,
        "\n",
        r#"{"id":"r4","trace":{"turns":[{"output":"x","steps":[{"name":"t"}]}]}}"#,
        "\n",
        r#"{"id":"r5","repeat":1,"output":"second"}"#,
        "\n",
        r#"{"id":"r5","repeat":0,"output":"first"}"#,
    );
    let mut again = task(6, &["q"]);
    again.record_id = "r5".to_owned();
    let mut bench = Bench::new().with("old.jsonl", recorded);
    bench.concurrent = 1;
    let tasks = vec![
        task(0, &["q"]),
        task(1, &["q", "r"]),
        task(2, &["q"]),
        task(3, &["q"]),
        task(4, &["q"]),
        task(5, &["q"]),
        again,
    ];
    let ends = bench.run(r#"{"kind":"replay","from":"old.jsonl"}"#, tasks);
    let endings: Vec<String> = ends.iter().map(ending).collect();
    let refused = "refused: not recorded";
    assert_eq!(endings, [r#""one""#, r#""a" "b""#, refused, refused, r#""x""#, r#""first""#, r#""second""#]);
    assert_eq!(ends[4].trace.steps().count(), 1);
    let facts = bench.prepare(r#"{"kind":"replay","from":"old.jsonl"}"#).unwrap_or_else(|_| panic!()).facts().to_vec();
    assert_eq!(facts[0].files[0].0, "old.jsonl");
    assert_eq!(facts[0].files[0].1.len(), 64);
}

#[test]
fn an_overlay_for_another_kind_of_target_does_no_harm() {
    let target = r#"{"kind":"scripted","llm":{"model":"m"},"agents":{"a":{},"b":{}},"default":{"echo":true}}"#;
    let facts = Bench::new().prepare(target).unwrap_or_else(|_| panic!()).facts()[0].clone();
    assert_eq!(facts.agents, Some(vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn what_is_wrong_with_a_target_is_told_before_the_first_session() {
    let bench = Bench::new().with("bad.jsonl", "{\"id\":1,}\n").with("plain.py", "x");
    let check = |target: &str, expected: &str| {
        let refusal = bench.refusal(target);
        assert!(refusal.starts_with("E058 ") && refusal.contains(expected), "{refusal}");
    };
    check(r#"{}"#, "the target has no `kind`");
    check(r#"{"kind":"comand"}"#, "did you mean `command`?");
    check(r#"{"kind":"scripted","agents":"concierge"}"#, "an agent is named by text");
    check(r#"{"kind":"scripted","rule":[]}"#, "did you mean `rules`?");
    check(r#"{"kind":"scripted","rules":[{"match":"(","output":"x"}]}"#, "is not a regular expression");
    check(r#"{"kind":"scripted","rules":[{"match":"x"}]}"#, "`rules[0]` has no answer");
    check(r#"{"kind":"scripted","rules":[{"mach":"x","output":"y"}]}"#, "did you mean `match`?");
    check(r#"{"kind":"scripted","agents":["a"],"rules":[{"agent":"b","output":"y"}]}"#, "declares no agent `b`");
    check(r#"{"kind":"replay","from":"gone.jsonl"}"#, "cannot read `gone.jsonl`");
    check(r#"{"kind":"replay","from":"bad.jsonl"}"#, "line 1");
    check(r#"{"kind":"command"}"#, "has no `command`");
    check(r#"{"kind":"command","command":["no-such-program"]}"#, "there is no program `no-such-program`");
    check(r#"{"kind":"command","command":"./plain.py"}"#, "is not executable");
    check(r#"{"kind":"command","command":"sh 'x"}"#, "a quote in `command` is not closed");
    check(r#"{"kind":"command","command":"sh","env":{"A":"${NOT_SET}"}}"#, "the variable `NOT_SET` is not set");
    check(r#"{"kind":"command","command":"sh","network":"loopback"}"#, "ports");
    check(r#"{"kind":"command","command":"sh","timeout":-1}"#, "`timeout` is not a span of time");
    check(r#"{"kind":"command","command":"sh","protocol":"xml"}"#, "there is no protocol `xml`");
    check(r#"{"kind":"python"}"#, "has no `function`");
    check(r#"{"kind":"python","function":"f"}"#, "`f` is not `module:function`");
}
