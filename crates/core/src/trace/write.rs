//! Traces, steps and usage as JSON.
//!
//! *Invariant:* what is written reads back to the same; what is not known is left out.

use super::{Delivery, Step, StepStatus, Trace, TurnTrace, Usage};
use crate::number::Number;
use crate::value::{Object, Value};

impl Usage {
    /// The usage as a mapping, without what is not known.
    pub fn to_value(self) -> Value<'static> {
        let mut usage = Object::new();
        put(&mut usage, "input_tokens", self.input_tokens.map(count));
        put(&mut usage, "output_tokens", self.output_tokens.map(count));
        put(&mut usage, "cost", self.cost.and_then(number));
        usage.into()
    }
}

impl Step {
    /// The step as a mapping, without what is not known.
    pub fn to_value(&self) -> Value<'static> {
        let mut step = Object::new();
        step.set("type", self.kind.name().into());
        put(&mut step, "name", self.name.clone().map(Value::from));
        put(&mut step, "agent", self.agent.clone().map(Value::from));
        put(&mut step, "call_id", self.call_id.clone().map(Value::from));
        put(&mut step, "parent", self.parent.clone().map(Value::from));
        put(&mut step, "arguments", self.arguments.clone());
        put(&mut step, "output", self.output.clone());
        put(&mut step, "status", (self.status == StepStatus::Error).then(|| "error".into()));
        put(&mut step, "error", self.error.clone().map(Value::from));
        let sources = self.sources.iter().cloned().map(Value::from).collect::<Vec<_>>();
        put(&mut step, "sources", (!sources.is_empty()).then_some(Value::Array(sources)));
        put(&mut step, "elapsed_ms", self.elapsed_ms.and_then(number));
        put(&mut step, "more", self.more.clone());
        step.into()
    }
}

impl Trace {
    /// The trace as a mapping, without what is not known.
    pub fn to_value(&self) -> Value<'static> {
        let mut trace = Object::new();
        trace.set("turns", Value::Array(self.turns.iter().map(TurnTrace::to_value).collect()));
        let seeds = self.seeds.iter().map(delivery).collect::<Vec<_>>();
        put(&mut trace, "seeds", (!seeds.is_empty()).then_some(Value::Array(seeds)));
        put(&mut trace, "memory", self.memory.clone());
        put(&mut trace, "reported", self.reported.clone().map(Value::from));
        put(&mut trace, "log", self.log.clone().map(Value::from));
        trace.into()
    }
}

impl TurnTrace {
    /// The turn as a mapping, without what is not known.
    pub fn to_value(&self) -> Value<'static> {
        let mut turn = Object::new();
        turn.set("role", self.role.clone().into());
        turn.set("content", self.content.clone().into());
        put(&mut turn, "output", self.output.clone());
        let steps = self.steps.iter().map(Step::to_value).collect::<Vec<_>>();
        put(&mut turn, "steps", (!steps.is_empty()).then_some(Value::Array(steps)));
        put(&mut turn, "usage", (!self.usage.is_empty()).then(|| self.usage.to_value()));
        put(&mut turn, "elapsed_ms", Some(self.elapsed_ms).filter(|ms| *ms != 0.0).and_then(number));
        put(&mut turn, "model_ms", Some(self.model_ms).filter(|ms| *ms != 0.0).and_then(number));
        turn.into()
    }
}

fn delivery(seed: &Delivery) -> Value<'static> {
    let mut delivery = Object::new();
    delivery.set("source", seed.source.clone().into());
    put(&mut delivery, "agent", seed.agent.clone().map(Value::from));
    delivery.into()
}

fn put(object: &mut Object<'static>, key: &'static str, value: Option<Value<'static>>) {
    if let Some(value) = value {
        object.push_unique(key.into(), value);
    }
}

fn count(tokens: u64) -> Value<'static> {
    Value::Number(Number::from_u64(tokens))
}

/// A number of no meaning, such as an infinite time, is not known.
fn number(number: f64) -> Option<Value<'static>> {
    Number::from_f64(number).ok().map(Value::Number)
}
