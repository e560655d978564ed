//! A server that speaks as OpenAI's API does: chat completions, whole or in pieces, and embeddings.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{Reply, Request, Server};

/// What the model does when it is asked.
#[derive(Clone, Debug)]
pub enum Say {
    /// Says a text.
    Text(&'static str),
    /// Calls tools: id, name, arguments as text.
    Calls(Vec<(&'static str, &'static str, &'static str)>),
    /// Says something and calls a tool.
    Both(&'static str, (&'static str, &'static str, &'static str)),
    /// Does what a server does when it does not answer.
    Fault(Reply),
}

/// A model that does one thing after another, and the last one for ever.
pub fn openai(script: Vec<Say>) -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move |_, request| {
        if request.path.ends_with("/embeddings") {
            return embeddings(request);
        }
        if !request.path.ends_with("/chat/completions") {
            return Reply::Body(404, json!({"error": {"message": "no such path"}}).to_string());
        }
        let place = asked.fetch_add(1, Ordering::SeqCst).min(script.len() - 1);
        let (content, calls) = match &script[place] {
            Say::Fault(fault) => return fault.clone(),
            Say::Text(text) => (Some(*text), Vec::new()),
            Say::Calls(calls) => (None, calls.clone()),
            Say::Both(text, call) => (Some(*text), vec![*call]),
        };
        match request.json()["stream"].as_bool() {
            Some(true) => streamed(content, &calls),
            _ => whole(content, &calls),
        }
    })
}

fn whole(content: Option<&str>, calls: &[(&str, &str, &str)]) -> Reply {
    let call = |(id, name, arguments): &(&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    let completion = json!({
        "id": "c", "object": "chat.completion", "model": "test-model-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    });
    Reply::Body(200, completion.to_string())
}

/// Every text and all arguments are cut into two pieces.
fn streamed(content: Option<&str>, calls: &[(&str, &str, &str)]) -> Reply {
    let mut events: Vec<Value> = Vec::new();
    let mut delta =
        |delta: Value| events.push(json!({"model": "test-model-1", "choices": [{"index": 0, "delta": delta}]}));
    delta(json!({"role": "assistant", "content": content.map(|_| "")}));
    if let Some(content) = content {
        let (a, b) = content.split_at(content.len() / 2);
        delta(json!({"content": a}));
        delta(json!({"content": b}));
    }
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        let (a, b) = arguments.split_at(arguments.len() / 2);
        delta(json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": ""}}]}));
        delta(json!({"tool_calls": [{"index": index, "function": {"arguments": a}}]}));
        delta(json!({"tool_calls": [{"index": index, "function": {"arguments": b}}]}));
    }
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    events.push(json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}));
    let mut body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    body.push_str("data: [DONE]\n\n");
    Reply::With(200, "content-type", "text/event-stream".to_owned(), body)
}

/// A text is embedded as how often it has the letters a, b and c.
fn embeddings(request: &Request) -> Reply {
    let asked = request.json();
    let texts = asked["input"].as_array().cloned().unwrap_or_default();
    let vector = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        ["a", "b", "c"].map(|letter| text.matches(letter).count() as f64 + 0.01)
    };
    // In reverse, since the order is not promised.
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .rev()
        .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
        .collect();
    Reply::Body(200, json!({"data": data, "model": asked["model"]}).to_string())
}
