//! A server that speaks as Letta's REST API does, with agents that answer what they are told.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Reply, Request, Server};

/// A server with one agent, `agent-1`; an import makes another.
pub fn letta() -> Server {
    let agents = Mutex::new(BTreeMap::from([("agent-1".to_owned(), json!({"model": "base", "heard": 0}))]));
    Server::start(move |_, request| answer(&mut agents.lock().unwrap(), request))
}

fn answer(agents: &mut BTreeMap<String, Value>, request: &Request) -> Reply {
    let path = request.path.strip_prefix("/v1/agents/").unwrap_or_default();
    if (request.method.as_str(), path) == ("POST", "import") {
        let id = format!("agent-{}", agents.len() + 1);
        agents.insert(id.clone(), json!({"model": "base", "heard": 0}));
        return Reply::Body(200, json!({"agent_ids": [id]}).to_string());
    }
    let (id, rest) = path.split_once('/').unwrap_or((path, ""));
    let Some(agent) = agents.get_mut(id) else {
        return Reply::Body(404, json!({"detail": format!("no agent {id}")}).to_string());
    };
    match (request.method.as_str(), rest) {
        ("POST", "messages") => messages(agent, &request.json()),
        ("POST", "archival-memory") => Reply::Body(200, json!([{"text": request.json()["text"]}]).to_string()),
        ("PATCH", "") => {
            agent["model"] = request.json()["model"].clone();
            Reply::Body(200, agent.to_string())
        }
        ("GET", "core-memory/blocks") => {
            let heard = format!("heard {}", agent["heard"]);
            Reply::Body(
                200,
                json!([{"label": "human", "value": heard}, {"label": "persona", "value": "p"}]).to_string(),
            )
        }
        ("DELETE", "") => {
            agents.remove(id);
            Reply::Body(200, "null".to_owned())
        }
        _ => Reply::Body(405, "{}".to_owned()),
    }
}

fn messages(agent: &mut Value, body: &Value) -> Reply {
    agent["heard"] = (agent["heard"].as_u64().unwrap_or_default() + 1).into();
    let said = body["messages"][0]["content"].as_str().unwrap_or_default();
    let model = agent["model"].as_str().unwrap_or_default();
    if said == "silence" {
        return Reply::Body(200, json!({"messages": [], "stop_reason": {"stop_reason": "end_turn"}}).to_string());
    }
    let call = json!({"name": "look", "arguments": "{\"for\": \"x\"}", "tool_call_id": "t1"});
    let messages = json!([
        {"message_type": "reasoning_message", "reasoning": "let me see"},
        {"message_type": "assistant_message", "content": "one moment"},
        {"message_type": "tool_call_message", "tool_call": call},
        {"message_type": "tool_return_message", "tool_call_id": "t1", "tool_return": "found", "status": "success"},
        {"message_type": "assistant_message", "content": [{"type": "text", "text": format!("{model}: {said}")}]},
    ]);
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 4, "total_tokens": 11});
    Reply::Body(200, json!({"messages": messages, "usage": usage}).to_string())
}
