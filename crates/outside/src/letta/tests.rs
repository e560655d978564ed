//! Sessions with a server that speaks as Letta's does.

#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::trace::StepKind;
use serde_json::{Value as Json, json};

use super::*;
use crate::agent::failure;
use crate::servers::{Server, letta};
use crate::turns::trial::{hold, net, object, outputs, seed, task, value};

fn agent(mut config: Json, server: &Server, base: &Path) -> Box<dyn Agent> {
    config["base_url"] = server.url("").into();
    prepare(&object(config), &net(), base, None).unwrap()
}

fn paths(server: &Server) -> Vec<String> {
    server.seen().iter().map(|request| format!("{} {}", request.method, request.path)).collect()
}

#[test]
fn an_agent_that_is_there_is_told_every_turn() {
    let server = letta();
    let config = json!({"agent_id": "agent-1", "model": "other/m", "api_key": "${KEY}", "project_id": "p1"});
    let mut task = task(&["one", "hitl: two"]);
    task.seeds = vec![seed("doc", "known", None)];
    let (progress, outcome) = hold(&*agent(config, &server, Path::new(".")), &task);
    assert_eq!(outcome, Ok(()));
    assert_eq!(outputs(&progress), ["other/m: one", "other/m: two"]);
    assert_eq!(
        paths(&server),
        [
            "PATCH /v1/agents/agent-1",
            "POST /v1/agents/agent-1/archival-memory",
            "POST /v1/agents/agent-1/messages",
            "POST /v1/agents/agent-1/messages",
            "GET /v1/agents/agent-1/core-memory/blocks",
        ]
    );
    let seen = server.seen();
    assert_eq!(
        (seen[0].header("authorization"), seen[0].header("x-project")),
        (Some("Bearer s3cret-value"), Some("p1"))
    );
    assert_eq!(seen[2].json()["messages"], json!([{"role": "user", "content": "one"}]));
    assert_eq!(seen[3].json()["messages"][0]["name"], "operator");
    assert_eq!(progress.trace.memory, Some(value(json!({"human": "heard 2", "persona": "p"}))));
    assert_eq!(progress.trace.usage().input_tokens, Some(14));
    let steps = &progress.trace.turns[0].steps;
    let kinds: Vec<_> = steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::Thinking, StepKind::Message, StepKind::ToolCall]);
    assert_eq!(
        (&steps[2].arguments, &steps[2].output),
        (&Some(value(json!({"for": "x"}))), &Some(value(json!("found"))))
    );
}

#[test]
fn a_file_makes_a_fresh_agent_for_every_session() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.af"), "{\"agents\":[]}").unwrap();
    let server = letta();
    let agent = agent(json!({"agent_file": "a.af", "cleanup": true}), &server, folder.path());
    assert_eq!(agent.facts().files[0].0, "a.af");
    let (progress, outcome) = hold(&*agent, &task(&["hi"]));
    assert_eq!((outcome, outputs(&progress)), (Ok(()), vec!["base: hi".to_owned()]));
    let seen = server.seen();
    assert!(seen[0].header("content-type").unwrap().starts_with("multipart/form-data; boundary="));
    assert!(seen[0].body.contains("{\"agents\":[]}"));
    assert_eq!(paths(&server).last().unwrap(), "DELETE /v1/agents/agent-2");
}

struct First;

impl AgentScript for First {
    fn make<'a>(&'a self, task: &'a Task) -> Made<'a> {
        Box::pin(async move {
            assert_eq!(task.record_id, "r1");
            Ok("agent-1".to_owned())
        })
    }
}

#[test]
fn a_script_says_which_agent_it_made() {
    let server = letta();
    let config = object(json!({"base_url": server.url(""), "agent_script": "make.py:make"}));
    let agent = prepare(&config, &net(), Path::new("."), Some(Box::new(First))).unwrap();
    assert_eq!(outputs(&hold(&*agent, &task(&["hi"])).0), ["base: hi"]);
    let problem = prepare(&config, &net(), Path::new("."), None).err().unwrap();
    assert_eq!(problem.message, "no Python can run the `agent_script`");
}

#[test]
fn silence_and_unknown_agents_are_failures() {
    let server = letta();
    let (_, outcome) = hold(&*agent(json!({"agent_id": "agent-1"}), &server, Path::new(".")), &task(&["silence"]));
    let why = "the agent said nothing: stopped by {\"stop_reason\":\"end_turn\"}";
    assert_eq!(outcome.unwrap_err(), failure("agent", why));
    let (_, outcome) = hold(&*agent(json!({"agent_id": "no/one"}), &server, Path::new(".")), &task(&["x"]));
    assert_eq!(outcome.unwrap_err().kind, "status");
    assert_eq!(paths(&server).last().unwrap(), "POST /v1/agents/no%2Fone/messages");
    let check = |config: Json, message: &str| {
        let problem = prepare(&object(config), &net(), Path::new("."), None).err().unwrap();
        assert_eq!(problem.message, message);
    };
    check(json!({}), "a `letta_agent` target has no agent");
    check(json!({"agent_id": "a", "agent_file": "b"}), "a `letta_agent` target has more than one agent");
    check(json!({"agent_id": "a", "model_handles": ["x", "y"]}), "a target has one model");
}
