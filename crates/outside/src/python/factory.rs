//! Makes an agent of Letta for each session with a Python function.
//!
//! *Invariant:* the function sees of a case what an agent may see, and what the case gives to the runtime.

use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, Task};

use super::ask::{Call, Callers};
use crate::agent::failure;
use crate::config::plain_text;
use crate::letta::{AgentScript, Made};

/// A function that makes agents.
pub(crate) struct Factory {
    pub(crate) callers: Callers,
    pub(crate) function: String,
    /// What a client of Letta needs to know.
    pub(crate) client: Object<'static>,
}

impl AgentScript for Factory {
    fn make<'a>(&'a self, task: &'a Task) -> Made<'a> {
        Box::pin(self.made(task))
    }
}

impl Factory {
    async fn made(&self, task: &Task) -> Result<String, AgentFailure> {
        let mut payload = self.client.clone();
        payload.set("sample", sample(task).into());
        let payload = Value::Object(payload);
        let call = Call { role: "factory", function: &self.function, payload: &payload, limit: None };
        match self.callers.call(call).await {
            Ok(Value::String(id)) if !id.is_empty() => Ok(id.into_owned()),
            Ok(other) => {
                let message =
                    format!("`{}` returned `{}`, which is no id of an agent", self.function, plain_text(&other));
                Err(failure("setup", message))
            }
            Err(failed) => Err(failure("setup", format!("`{}`: {}", self.function, failed.message))),
        }
    }
}

fn sample(task: &Task) -> Object<'static> {
    let mut sample = Object::new();
    sample.set("id", task.record_id.clone().into());
    let sent: Vec<Value<'static>> =
        task.turns.iter().filter(|turn| turn.role != "assistant").map(|turn| turn.content.clone().into()).collect();
    let input = match <[Value<'static>; 1]>::try_from(sent) {
        Ok([one]) => one,
        Err(several) => Value::Array(several),
    };
    sample.set("input", input);
    if let Some(args) = &task.args {
        sample.set("agent_args", args.clone());
    }
    for (key, value) in task.runtime.iter() {
        sample.set(key.to_owned(), value.clone());
    }
    sample
}
