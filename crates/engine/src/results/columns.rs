//! A row of results as a record, and back.
//!
//! *Invariant:* what is written reads back to the same row.

use heldset_core::number::Number;
use heldset_core::record::{Record, RecordId};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{Policy, PolicyDraft, SplitLabels};
use heldset_store::StoreError;

use super::{Row, RowOutcome, Score};
use crate::refusal::Outcome;

/// The split that results are kept in.
pub(crate) const SPLIT: &str = "results";
/// What is computed from sealed fields.
const EVALUATED: [&str; 3] = ["outcome", "reason", "scores"];

/// Who may see what of results.
pub(crate) fn policy() -> Outcome<Policy> {
    let draft = PolicyDraft::default().split(SPLIT, "internal").default_label("internal");
    let draft = EVALUATED.iter().fold(draft, |draft, field| draft.field(field, "evaluator_only"));
    Ok(draft.resolve()?)
}

/// The labels of the columns.
pub(crate) fn labels() -> Outcome<SplitLabels> {
    Ok(policy()?.in_split(SPLIT)?)
}

impl Row {
    /// The row as a record.
    pub(crate) fn to_record(&self) -> Record<'_> {
        let mut fields = Object::with_capacity(20);
        let mut put = |name: &'static str, value: Value<'static>| fields.push_unique(name.into(), value);
        put("record_id", self.record_id.clone().into());
        put("leaf", self.leaf.clone().into());
        put("scenario", self.scenario.clone().into());
        put("repeat", count(self.repeat));
        put("run_key", self.run_key.clone().into());
        put("outcome", self.outcome.name().into());
        let texts = [("reason", &self.reason), ("failure", &self.failure)];
        let texts = texts.into_iter().chain([("cached", &self.cached), ("category", &self.category)]);
        for (name, text) in texts {
            if let Some(text) = text {
                put(name, text.clone().into());
            }
        }
        for (name, value) in [("output", &self.output), ("trace", &self.trace), ("usage", &self.usage)] {
            if let Some(value) = value {
                put(name, value.clone());
            }
        }
        if !self.scores.is_empty() {
            put("scores", Value::Array(self.scores.iter().map(Score::to_value).collect()));
        }
        put("queue_ms", number(self.queue_ms));
        put("run_ms", number(self.run_ms));
        put("model_ms", number(self.model_ms));
        if self.retries > 0 {
            put("retries", count(self.retries));
        }
        put("session_id", self.session_id.clone().into());
        if !self.labels.is_empty() {
            put("labels", Value::Object(self.labels.clone()));
        }
        let id = RecordId::from_row(self.number);
        Record { id, fields }
    }

    /// The row that a record is.
    pub(crate) fn from_record(record: &Record<'_>) -> Result<Row, StoreError> {
        let fields = &record.fields;
        let damaged = || StoreError::damaged("a row of results");
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let must = |name: &str| text(name).ok_or_else(damaged);
        let owned = |name: &str| fields.get(name).cloned().map(Value::into_owned);
        let number = |name: &str| match fields.get(name) {
            Some(Value::Number(number)) => number.as_f64(),
            _ => 0.0,
        };
        let whole = |name: &str| match fields.get(name) {
            Some(Value::Number(number)) => number.as_u64().unwrap_or(0),
            _ => 0,
        };
        let scores = fields.get("scores").and_then(Value::as_array).unwrap_or_default();
        let labels = owned("labels").and_then(|labels| match labels {
            Value::Object(labels) => Some(labels),
            _ => None,
        });
        Ok(Row {
            number: record.id.as_str().parse().map_err(|_| damaged())?,
            record_id: must("record_id")?,
            leaf: must("leaf")?,
            scenario: must("scenario")?,
            repeat: whole("repeat"),
            run_key: must("run_key")?,
            outcome: text("outcome").and_then(|name| RowOutcome::parse(&name)).ok_or_else(damaged)?,
            reason: text("reason"),
            failure: text("failure"),
            output: owned("output"),
            trace: owned("trace"),
            scores: scores.iter().map(Score::from_value).collect::<Option<_>>().ok_or_else(damaged)?,
            queue_ms: number("queue_ms"),
            run_ms: number("run_ms"),
            model_ms: number("model_ms"),
            usage: owned("usage"),
            retries: whole("retries"),
            cached: text("cached"),
            session_id: must("session_id")?,
            category: text("category"),
            labels: labels.unwrap_or_default(),
        })
    }
}

impl Score {
    /// The score as a mapping, without what is absent.
    pub fn to_value(&self) -> Value<'static> {
        let mut score = Object::with_capacity(7);
        score.push_unique("name".into(), self.name.clone().into());
        if let Some(value) = self.score {
            score.push_unique("score".into(), number(value));
        }
        if let Some(pass) = self.pass {
            score.push_unique("pass".into(), pass.into());
        }
        for (name, text) in [("problem", &self.problem), ("rationale", &self.rationale)] {
            if let Some(text) = text {
                score.push_unique(name.into(), text.clone().into());
            }
        }
        if let Some(details) = &self.details {
            score.push_unique("details".into(), details.clone());
        }
        score.push_unique("key".into(), self.key.clone().into());
        score.into()
    }

    /// The score that a mapping is.
    pub fn from_value(value: &Value<'_>) -> Option<Score> {
        let score = value.as_object()?;
        let text = |name: &str| score.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Score {
            name: text("name")?,
            score: match score.get("score") {
                Some(Value::Number(number)) => Some(number.as_f64()),
                _ => None,
            },
            pass: match score.get("pass") {
                Some(Value::Bool(pass)) => Some(*pass),
                _ => None,
            },
            problem: text("problem"),
            rationale: text("rationale"),
            details: score.get("details").cloned().map(Value::into_owned),
            key: text("key")?,
        })
    }
}

fn number(value: f64) -> Value<'static> {
    Value::Number(Number::from_f64(value).unwrap_or_else(|_| Number::from_i64(0)))
}

fn count(value: u64) -> Value<'static> {
    Value::Number(Number::from_u64(value))
}
