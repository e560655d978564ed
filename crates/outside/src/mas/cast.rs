//! The agents of a configuration: their prompts, models, tools, and to whom each can hand over.
//!
//! *Invariant:* every name in a configuration is the name of an agent in it.

use std::sync::Arc;

use heldset_core::fault::{Problem, nearest};
use heldset_core::value::{Object, Value};

use crate::chat::Model;
use crate::config::{plain_text, text, wrong};
use crate::embeddings::{Embedder, Semantic};
use crate::memory::{Lexical, Memory};
use crate::requests::{Net, count};
use crate::tools::{self, function, name_of};

/// How many hits a search has when nobody says.
const HITS: u64 = 5;

/// All agents.
pub(super) struct Cast {
    pub(super) agents: Vec<Member>,
    pub(super) entry: usize,
    pub(super) k: usize,
    embedder: Option<Arc<Embedder>>,
}

/// One agent.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) prompt: Option<String>,
    pub(super) model: Model,
    pub(super) tools: Vec<Value<'static>>,
    /// The tool that hands over, and to which agent.
    pub(super) handoffs: Vec<(String, usize)>,
}

impl Cast {
    pub(super) fn prepare(config: &Object<'static>, net: &Arc<Net>) -> Result<Cast, Problem> {
        let inner = ["spec", "manifest"].iter().find_map(|key| config.get(key)?.as_object());
        let inner = inner.and_then(|inner| inner.get("spec").and_then(Value::as_object).or(Some(inner)));
        let find = |key: &str| config.get(key).or_else(|| inner?.get(key)).filter(|value| !value.is_null());
        let written = match find("agents") {
            Some(Value::Array(items)) => items.iter().map(|item| (None, item)).collect(),
            Some(Value::Object(named)) => named.iter().map(|(name, item)| (Some(name), item)).collect(),
            _ => Vec::new(),
        };
        if written.is_empty() {
            let help = "list them: `agents: [{id: concierge, prompt: …}]`";
            return Err(wrong("agents", "a `mas` target has no agents", help));
        }
        let mut names: Vec<String> = Vec::new();
        for (name, item) in &written {
            let name = name.map(str::to_owned).or_else(|| name_in(item));
            let name = name.ok_or_else(|| wrong("agents", "an agent has no `id`", "give it an `id`"))?;
            if names.contains(&name) {
                return Err(wrong("agents", format!("two agents are called `{name}`"), "rename one of them"));
            }
            names.push(name);
        }
        let entry = match find("entry").or_else(|| find("entry_agent")).and_then(Value::as_str) {
            None => 0,
            Some(entry) => place(&names, "entry", entry)?,
        };
        let shared = config.get("tools").map(tools::declared).unwrap_or_default();
        let member = |(index, (_, item)): (usize, &(Option<&str>, &Value<'static>))| {
            member(config, net, &names, index, item, &shared)
        };
        let agents = written.iter().enumerate().map(member).collect::<Result<_, _>>()?;
        let memory = find("memory");
        Ok(Cast { agents, entry, k: hits(memory)?, embedder: embedder(config, memory, net)? })
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    /// An empty memory.
    pub(super) fn memory(&self) -> Box<dyn Memory> {
        match &self.embedder {
            Some(embedder) => Box::new(Semantic::new(embedder.clone())),
            None => Box::new(Lexical::default()),
        }
    }
}

fn part<'v>(item: &'v Value<'static>, keys: &[&str]) -> Option<&'v Value<'static>> {
    let item = item.as_object()?;
    let spec = item.get("spec").and_then(Value::as_object);
    let metadata = item.get("metadata").and_then(Value::as_object);
    keys.iter()
        .find_map(|key| item.get(key).or_else(|| spec?.get(key)).or_else(|| metadata?.get(key)))
        .filter(|v| !v.is_null())
}

fn name_in(item: &Value<'static>) -> Option<String> {
    match item {
        Value::String(name) => Some(name.clone().into_owned()),
        item => part(item, &["id", "name"])?.as_str().map(str::to_owned),
    }
}

fn place(names: &[String], key: &str, name: &str) -> Result<usize, Problem> {
    names.iter().position(|known| known == name).ok_or_else(|| {
        let help = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the agents are {}", names.join(", ")),
        };
        wrong(key, format!("there is no agent `{name}`"), help)
    })
}

fn member(
    config: &Object<'static>,
    net: &Arc<Net>,
    names: &[String],
    index: usize,
    item: &Value<'static>,
    shared: &[Value<'static>],
) -> Result<Member, Problem> {
    let mut own = config.clone();
    match part(item, &["model"]) {
        Some(Value::Object(model)) => model.iter().for_each(|(key, value)| {
            own.set(if key == "name" { "model" } else { key }.to_owned(), value.clone());
        }),
        Some(model) => own.set("model", model.clone()),
        None => {}
    }
    let prompt = part(item, &["prompt", "instructions", "system_prompt", "system", "role"]).map(plain_text);
    let targets = match part(item, &["handoffs", "hand_offs", "transfers"]) {
        Some(Value::Array(listed)) => {
            let listed = listed.iter().filter_map(name_in).map(|name| place(names, "agents", &name));
            listed.collect::<Result<Vec<_>, _>>()?
        }
        _ => (0..names.len()).filter(|other| *other != index).collect(),
    };
    let mut declared = shared.to_vec();
    declared.extend(part(item, &["tools"]).map(tools::declared).unwrap_or_default());
    let handoffs: Vec<(String, usize)> = targets.into_iter().map(|to| (transfer(&names[to]), to)).collect();
    for (tool, to) in &handoffs {
        let description = format!("Hand the conversation over to {}.", names[*to]);
        declared.push(function(tool, Some(description.into()), None));
    }
    let own_memory =
        memory_tools().into_iter().filter(|tool| !declared.iter().any(|one| name_of(one) == name_of(tool)));
    let own_memory: Vec<_> = own_memory.collect();
    declared.extend(own_memory);
    let prompt = prompt.or(text(config, "system")?.map(str::to_owned));
    Ok(Member { name: names[index].clone(), prompt, model: Model::prepare(&own, net)?, tools: declared, handoffs })
}

fn transfer(name: &str) -> String {
    let safe = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' });
    format!("transfer_to_{}", safe.collect::<String>())
}

fn memory_tools() -> [Value<'static>; 2] {
    let schema = |text: &str| heldset_core::json::read(text).ok().map(Value::into_owned);
    [
        function(
            "memory_search",
            Some("Search your memory.".into()),
            schema(
                r#"{"type":"object","properties":{"query":{"type":"string"},"k":{"type":"integer"},"filter":{"type":"object"}},"required":["query"]}"#,
            ),
        ),
        function(
            "memory_write",
            Some("Write something into your memory.".into()),
            schema(
                r#"{"type":"object","properties":{"content":{"type":"string"},"source":{"type":"string"},"metadata":{"type":"object"}},"required":["content"]}"#,
            ),
        ),
    ]
}

fn hits(memory: Option<&Value<'static>>) -> Result<usize, Problem> {
    match memory {
        Some(Value::Object(memory)) => Ok(count(memory, "k")?.unwrap_or(HITS).max(1) as usize),
        _ => Ok(HITS as usize),
    }
}

fn embedder(
    config: &Object<'static>,
    memory: Option<&Value<'static>>,
    net: &Arc<Net>,
) -> Result<Option<Arc<Embedder>>, Problem> {
    let (kind, settings) = match memory {
        None => return Ok(None),
        Some(Value::String(kind)) => (kind.to_string(), Object::new()),
        Some(Value::Object(settings)) => (text(settings, "kind")?.unwrap_or("lexical").to_owned(), settings.clone()),
        Some(other) => {
            let message = format!("`memory` is a mapping, not {}", other.type_name());
            return Err(wrong("memory", message, "write `memory: {kind: lexical}`"));
        }
    };
    match kind.as_str() {
        "lexical" | "bm25" | "builtin" => Ok(None),
        "embeddings" => {
            let mut settings = settings;
            for key in ["base_url", "api_key", "headers", "max_retries"] {
                if let (false, Some(value)) = (settings.contains(key), config.get(key)) {
                    settings.set(key, value.clone());
                }
            }
            Embedder::prepare(&settings, net).map(|embedder| Some(Arc::new(embedder)))
        }
        other => {
            let near = nearest(other, ["lexical", "embeddings"]).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| "it is `lexical` or `embeddings`".to_owned());
            Err(wrong("memory", format!("there is no memory of kind `{other}`"), help))
        }
    }
}
