//! Sessions of several agents over a model that does as a script says.

#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::trace::{StepKind, StepStatus};
use serde_json::{Value as Json, json};

use super::*;
use crate::servers::{Say, Server, openai};
use crate::turns::trial::{hold, net, object, outputs, seed, task, value};

fn agent(mut config: Json, server: &Server) -> Box<dyn Agent> {
    config["base_url"] = server.url("/v1").into();
    prepare(&object(config), &net()).unwrap()
}

fn two() -> Json {
    json!({"model": "m", "entry": "desk", "agents": [
        {"id": "rail", "prompt": "You know trains.", "model": "m-rail", "handoffs": []},
        {"id": "desk", "prompt": "You greet."},
    ]})
}

#[test]
fn an_agent_hands_over_and_the_next_one_searches_its_own_memory() {
    let server = openai(vec![
        Say::Calls(vec![("h1", "transfer_to_rail", "{}")]),
        Say::Calls(vec![("s1", "memory_search", r#"{"query":"trains to Rome","k":1}"#)]),
        Say::Text("at nine"),
        Say::Text("still rail"),
    ]);
    let mut task = task(&["when?", "and?"]);
    task.seeds = vec![
        seed("timetable", "trains to Rome leave at nine", Some("rail")),
        seed("gossip", "trains to Rome are slow", Some("desk")),
        seed("all", "the sun shines", None),
    ];
    let agent = agent(two(), &server);
    assert_eq!(agent.facts().agents, Some(vec!["rail".to_owned(), "desk".to_owned()]));
    let (progress, outcome) = hold(&*agent, &task);
    assert_eq!(outcome, Ok(()));
    assert_eq!(outputs(&progress), ["at nine", "still rail"]);
    let delivered: Vec<_> =
        progress.trace.seeds.iter().map(|one| (one.source.as_str(), one.agent.as_deref().unwrap())).collect();
    assert_eq!(delivered, [("timetable", "rail"), ("gossip", "desk"), ("all", "rail"), ("all", "desk")]);
    let steps = &progress.trace.turns[0].steps;
    assert_eq!((steps[0].kind, steps[0].name.as_deref()), (StepKind::Handoff, Some("rail")));
    assert_eq!((steps[0].agent.as_deref(), steps[0].parent.as_deref()), (Some("desk"), None));
    assert_eq!((steps[1].kind, steps[1].sources.as_slice()), (StepKind::Retrieval, &["timetable".to_owned()][..]));
    assert_eq!((steps[1].agent.as_deref(), steps[1].parent.as_deref()), (Some("rail"), Some("h1")));
    let seen = server.seen();
    assert_eq!(seen[0].json()["messages"][0]["content"], "You greet.");
    assert_eq!(seen[1].json()["messages"][0]["content"], "You know trains.");
    assert_eq!((&seen[1].json()["model"], &seen[0].json()["model"]), (&json!("m-rail"), &json!("m")));
    let names = |request: &Json| -> Vec<String> {
        let tools = request["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&seen[0].json()), ["transfer_to_rail", "memory_search", "memory_write"]);
    assert_eq!(names(&seen[1].json()), ["memory_search", "memory_write"]);
}

#[test]
fn what_is_written_lasts_for_the_session_and_no_longer() {
    let script = vec![
        Say::Calls(vec![(
            "w",
            "memory_write",
            r#"{"content":"Alice likes trains","source":"note","metadata":{"n":1}}"#,
        )]),
        Say::Text("noted"),
        Say::Calls(vec![("s", "memory_search", r#"{"query":"trains","filter":{"n":1}}"#)]),
        Say::Text("trains"),
        Say::Calls(vec![("s", "memory_search", r#"{"query":"trains"}"#)]),
        Say::Text("nothing"),
    ];
    let server = openai(script);
    let agent = agent(json!({"model": "m", "agents": ["solo"]}), &server);
    let (progress, _) = hold(&*agent, &task(&["remember", "recall"]));
    assert_eq!(outputs(&progress), ["noted", "trains"]);
    assert_eq!(progress.trace.turns[1].steps[0].sources, ["note"]);
    assert_eq!(
        progress.trace.memory,
        Some(value(json!([{"label": "note", "value": "Alice likes trains", "agent": "solo"}])))
    );
    let (progress, _) = hold(&*agent, &task(&["recall"]));
    let step = &progress.trace.turns[0].steps[0];
    assert_eq!((step.kind, step.output.clone()), (StepKind::Retrieval, Some(value(json!([])))));
}

#[test]
fn a_memory_of_embeddings_finds_what_is_near() {
    let search = r#"{"query":"bbb","k":1}"#;
    let server = openai(vec![Say::Calls(vec![("s", "memory_search", search), ("x", "other", "{}")]), Say::Text("ok")]);
    let mut config = two();
    config["memory"] = json!({"kind": "embeddings", "model": "e"});
    let mut task = task(&["go"]);
    task.seeds = vec![seed("as", "aaaa", None), seed("bs", "bb bb", None), seed("cs", "cc", None)];
    let (progress, outcome) = hold(&*agent(config, &server), &task);
    assert_eq!(outcome, Ok(()));
    let steps = &progress.trace.turns[0].steps;
    assert_eq!(steps[0].sources, ["bs"]);
    assert_eq!(
        (steps[1].status, steps[1].error.as_deref()),
        (StepStatus::Error, Some("no fixture answers the tool `other`"))
    );
}

#[test]
fn manifests_are_read_and_names_are_checked() {
    let server = openai(vec![Say::Text("hi")]);
    let manifest = json!({"model": "m", "spec": {"entry": "b", "agents": [
        {"metadata": {"name": "a"}, "spec": {"instructions": "A"}}, {"name": "b", "system_prompt": "B"},
    ]}});
    let (progress, _) = hold(&*agent(manifest, &server), &task(&["x"]));
    assert_eq!(outputs(&progress), ["hi"]);
    assert_eq!(server.seen()[0].json()["messages"][0]["content"], "B");
    let check = |change: &dyn Fn(&mut Json), message: &str, help: &str| {
        let mut config = two();
        config["base_url"] = "http://h/v1".into();
        change(&mut config);
        let problem = prepare(&object(config), &net()).err().unwrap();
        assert_eq!((problem.message.as_str(), problem.help.as_deref()), (message, Some(help)));
    };
    check(&|config| config["entry"] = "desc".into(), "there is no agent `desc`", "did you mean `desk`?");
    let unknown = |config: &mut Json| config["agents"][1]["handoffs"] = json!(["rial"]);
    check(&unknown, "there is no agent `rial`", "did you mean `rail`?");
    let none = |config: &mut Json| config["agents"] = json!([]);
    check(&none, "a `mas` target has no agents", "list them: `agents: [{id: concierge, prompt: …}]`");
    let memory = |config: &mut Json| config["memory"] = json!({"kind": "lexcal"});
    check(&memory, "there is no memory of kind `lexcal`", "did you mean `lexical`?");
}
