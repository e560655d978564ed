//! Asks a model for an answer that fits a schema.
//!
//! *Invariant:* what comes back is JSON that the model wrote; whether it fits is for the asker to say.

use std::sync::Arc;
use std::time::Duration;

use heldset_core::canonical;
use heldset_core::value::{Object, Value};
use heldset_grade::Answer;

use super::{in_time, option, told};
use crate::chat::content_text;
use crate::config::{plain_text, span};
use crate::requests::{Endpoint, Net, Verdict, excerpt, read_json};

/// How long an answer may take when a plan does not say.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);
const SENT: &[&str] =
    &["model", "temperature", "max_tokens", "max_completion_tokens", "seed", "top_p", "reasoning_effort"];
/// How a model is asked for JSON, the strictest way first.
const FORMATS: [&str; 3] = ["json_schema", "json_object", "text"];

/// Asks.
pub(super) async fn ask(
    net: &Arc<Net>,
    endpoint: &Object<'static>,
    messages: &[(String, String)],
    schema: &Value<'static>,
) -> Answer {
    let config = with_defaults(endpoint, net);
    let base = option(&config, "base_url").ok_or("no `base_url` says where the judge is")?;
    let base = base.trim_end_matches('/');
    let url = if base.ends_with("/chat/completions") { base.to_owned() } else { format!("{base}/chat/completions") };
    // A server that does not know a format says so with one of these.
    let unknown = ["400", "422"].map(|status| (status.to_owned(), Verdict::Answer));
    let endpoint = Endpoint::new(net, &config, ("base_url", &url), &[]).map_err(told)?.verdicts(unknown.into());
    let timeout = span(&config, "timeout", TIMEOUT).map_err(told)?;
    in_time(timeout, asked(&endpoint, &config, messages, schema)).await
}

async fn asked(
    endpoint: &Endpoint,
    config: &Object<'static>,
    messages: &[(String, String)],
    schema: &Value<'static>,
) -> Answer {
    let mut refused = String::new();
    for format in FORMATS {
        let body = canonical::bytes(&request(config, messages, schema, format));
        let reply = endpoint.send(body, "", &|_| String::new(), &mut 0).await.map_err(|failure| failure.message)?;
        if reply.status < 300 {
            return content(&reply.json().map_err(|failure| failure.message)?);
        }
        refused = format!("answered with status {}: {}", reply.status, excerpt(&reply.text));
        let about_format = ["response_format", "json_schema", "json_object", "schema"];
        if !about_format.iter().any(|word| reply.text.contains(word)) {
            break;
        }
    }
    Err(refused)
}

/// What is sent.
pub(super) fn request(
    config: &Object<'static>,
    messages: &[(String, String)],
    schema: &Value<'static>,
    format: &str,
) -> Value<'static> {
    let mut request = Object::new();
    for (key, value) in config.iter().filter(|(key, value)| SENT.contains(key) && !value.is_null()) {
        request.set(key.to_owned(), value.clone());
    }
    if reasons(config) && matches!(config.get("temperature"), Some(Value::Number(number)) if number.as_f64() == 0.0) {
        request.remove("temperature");
    }
    let message = |(role, content): &(String, String)| {
        let mut message = Object::new();
        message.set("role", role.clone().into());
        message.set("content", content.clone().into());
        Value::Object(message)
    };
    request.set("messages", Value::Array(messages.iter().map(message).collect()));
    let mut wanted = Object::new();
    wanted.set("type", format.to_owned().into());
    match format {
        "json_schema" => {
            let mut named = Object::new();
            named.set("name", "answer".into());
            named.set("schema", schema.clone());
            wanted.set("json_schema", named.into());
        }
        "json_object" => {}
        _ => return request.into(),
    }
    request.set("response_format", wanted.into());
    request.into()
}

/// Whether a model is one of those that take no temperature.
fn reasons(config: &Object<'static>) -> bool {
    let model = option(config, "model").unwrap_or_default();
    ["o1", "o3", "o4", "gpt-5"].iter().any(|name| model.starts_with(name))
}

fn content(completion: &Value<'static>) -> Answer {
    let choice = completion.as_object().and_then(|answer| answer.get("choices")?.as_array()?.first()?.as_object());
    let message = choice.and_then(|choice| choice.get("message")?.as_object());
    let content = message.and_then(|message| message.get("content")).and_then(content_text);
    let content = content.ok_or_else(|| format!("no chat completion: {}", excerpt(&plain_text(completion))))?;
    // Whether a text that is not JSON will do is for the judge's own rules to say.
    Ok(read_json(unfenced(&content)).unwrap_or_else(|| Value::from(content.clone())))
}

/// The inside of a fence, when a text is one.
fn unfenced(content: &str) -> &str {
    let trimmed = content.trim();
    let inside = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inside.map_or(trimmed, |inside| inside.strip_prefix("json").unwrap_or(inside).trim())
}

/// An endpoint with what its provider makes of what is not said.
pub(super) fn with_defaults(endpoint: &Object<'static>, net: &Net) -> Object<'static> {
    let mut config = endpoint.clone();
    for name in ["endpoint", "url"] {
        if let (false, Some(url)) = (config.contains("base_url"), config.get(name).cloned()) {
            config.set("base_url", url);
        }
    }
    if let (None, Some(variable)) = (option(&config, "api_key"), option(&config, "api_key_env")) {
        config.set("api_key", format!("${{{variable}}}").into());
    }
    let (variable, key, base) = match option(&config, "provider").as_deref() {
        Some("anthropic") => ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1"),
        Some("google") => {
            ("GEMINI_BASE_URL", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai")
        }
        _ => ("OPENAI_BASE_URL", "OPENAI_API_KEY", "https://api.openai.com/v1"),
    };
    // A key of the environment goes only where the environment, or its provider, says.
    if option(&config, "base_url").is_none() {
        config.set("base_url", net.secret(variable).unwrap_or_else(|| base.to_owned()).into());
        if option(&config, "api_key").is_none() && net.secret(key).is_some() {
            config.set("api_key", format!("${{{key}}}").into());
        }
    }
    config
}
