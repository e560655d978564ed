//! Rows and the head of a report, as values.
//!
//! *Invariant:* the names are a promise: more may come, none goes.

use heldset_core::value::{Object, Value};
use heldset_store::run::RunDoc;

use crate::results::{Row, Score};
use crate::summary::{balance_value, count, number};

/// Which data, which run, and its balance.
pub(crate) fn head(doc: &RunDoc) -> Object<'static> {
    let mut head = Object::new();
    for (name, text) in [
        ("run", &doc.id),
        ("name", &doc.name),
        ("dataset", &doc.dataset),
        ("digest", &doc.digest),
        ("split", &doc.split),
        ("plan_digest", &doc.plan_digest),
        ("started_at", &doc.started_at),
    ] {
        head.set(name, text.clone().into());
    }
    head.set("version", count(doc.version));
    if let Some(replay) = &doc.replay {
        head.set("replay", replay.clone().into());
    }
    head.set("balance", balance_value(&doc.balance));
    head
}

/// A row.
pub(crate) fn row(row: &Row) -> Object<'static> {
    let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    let mut object = Object::with_capacity(24);
    object.set("id", row.record_id.clone().into());
    object.set("scenario", row.scenario.clone().into());
    object.set("repeat", count(row.repeat));
    object.set("outcome", row.outcome.name().into());
    object.set("reason", text(&row.reason));
    object.set("scores", scores(&row.scores));
    object.set("output", row.output.clone().unwrap_or(Value::Null));
    object.set("outputs", outputs(row));
    object.set("run_ms", number(row.run_ms));
    object.set("queue_ms", number(row.queue_ms));
    object.set("model_ms", number(row.model_ms));
    object.set("usage", row.usage.clone().unwrap_or(Value::Null));
    object.set("retries", count(row.retries));
    object.set("cached", row.cached.is_some().into());
    object.set("cached_from", text(&row.cached));
    object.set("failure", text(&row.failure));
    object.set("session_id", row.session_id.clone().into());
    object.set("category", text(&row.category));
    object.set("labels", Value::Object(row.labels.clone()));
    object.set("leaf", row.leaf.clone().into());
    object.set("run_key", row.run_key.clone().into());
    if let Some(trace) = &row.trace {
        object.set("trace", trace.clone());
    }
    object
}

/// What was answered in each turn, in order; a turn without an answer has null.
fn outputs(row: &Row) -> Value<'static> {
    let turns = row.trace.as_ref().and_then(|trace| trace.as_object()?.get("turns")?.as_array());
    let Some(turns) = turns else { return Value::Array(row.output.iter().cloned().collect()) };
    let output = |turn: &Value<'static>| turn.as_object().and_then(|turn| turn.get("output")).cloned();
    Value::Array(turns.iter().map(|turn| output(turn).unwrap_or(Value::Null)).collect())
}

/// Scores by name.
pub(crate) fn scores(scores: &[Score]) -> Value<'static> {
    let one = |score: &Score| {
        let mut value = score.to_value();
        if let Value::Object(members) = &mut value {
            members.remove("name");
            if !members.contains("score") {
                members.set("score", Value::Null);
            }
        }
        (score.name.clone().into(), value)
    };
    Value::Object(scores.iter().map(one).collect())
}
