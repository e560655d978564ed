//! An explanation for people.
//!
//! *Invariant:* every text is made harmless to a terminal, line by line.

use std::fmt::Write;

use heldset_core::value::{Object, Value};

use super::{Explained, ExplainedRow};
use crate::report::one_line;
use crate::results::Score;
use crate::summary::{plain, short};

/// How much of a line is shown.
const SHOWN: usize = 2_000;

impl Explained {
    /// The explanation as text.
    pub fn text(&self) -> String {
        let doc = &self.doc;
        // Writing to a String cannot fail.
        let mut out = String::new();
        let _infallible = writeln!(out, "run {} of {}@{} {}", doc.id, doc.dataset, doc.version, doc.digest);
        for session in &self.sessions {
            out.push('\n');
            session.write(&mut out);
        }
        out
    }
}

impl ExplainedRow {
    fn write(&self, out: &mut String) {
        let row = &self.row;
        line(out, "record", &format!("{}, scenario {}, repeat {}", row.record_id, row.scenario, row.repeat));
        line(out, "outcome", row.outcome.name());
        for (name, text) in [("reason", &row.reason), ("failure", &row.failure)] {
            if let Some(text) = text {
                line(out, name, text);
            }
        }
        line(out, "cache", &self.cache.words());
        line(out, "run key", &row.run_key);
        if let Some(target) = &self.target {
            line(out, "target", &format!("{} {}", target.kind, target.digest));
            line(out, "  config", &target.config);
        }
        line(out, "session", &row.session_id);
        let times = [row.queue_ms, row.run_ms, row.model_ms].map(short);
        line(out, "time", &format!("waited {} ms, ran {} ms, models {} ms", times[0], times[1], times[2]));
        if let Some(usage) = &row.usage {
            line(out, "usage", &plain(usage));
        }
        match row.trace.as_ref().and_then(Value::as_object) {
            Some(trace) => trace_lines(out, trace),
            None => line(out, "output", &row.output.as_ref().map(plain).unwrap_or_default()),
        }
        row.scores.iter().for_each(|score| score_lines(out, score));
    }
}

fn score_lines(out: &mut String, score: &Score) {
    let value = score.score.map_or_else(|| score.problem.clone().unwrap_or_default(), short);
    let verdict = match score.pass {
        Some(true) => ", pass",
        Some(false) => ", fail",
        None => "",
    };
    line(out, "score", &format!("{} {value}{verdict}", score.name));
    if let Some(rationale) = &score.rationale {
        line(out, "  because", rationale);
    }
    if let Some(details) = &score.details {
        line(out, "  details", &plain(details));
    }
}

fn trace_lines(out: &mut String, trace: &Object<'_>) {
    let list = |object: &Object<'_>, name: &str| -> Vec<Value<'static>> {
        let values = object.get(name).and_then(Value::as_array).unwrap_or_default();
        values.iter().map(|value| value.clone().into_owned()).collect()
    };
    for seed in list(trace, "seeds") {
        let Some(seed) = seed.as_object() else { continue };
        let agent = seed.get("agent").map(|agent| format!(" to {}", plain(agent))).unwrap_or_default();
        line(out, "seed", &format!("{}{agent}", seed.get("source").map(plain).unwrap_or_default()));
    }
    for (number, turn) in list(trace, "turns").iter().enumerate() {
        let Some(turn) = turn.as_object() else { continue };
        let get = |name: &str| turn.get(name).map(plain).unwrap_or_default();
        line(out, &format!("turn {number}"), &format!("{}: {}", get("role"), get("content")));
        for step in list(turn, "steps") {
            line(out, "  step", &step_words(&step));
        }
        line(out, "  output", &get("output"));
    }
    for name in ["memory", "reported", "log"] {
        if let Some(value) = trace.get(name) {
            line(out, name, &plain(value));
        }
    }
}

fn step_words(step: &Value<'_>) -> String {
    let Some(step) = step.as_object() else { return plain(step) };
    let mut words = Vec::new();
    for name in ["type", "name", "agent", "arguments", "output", "sources", "status", "error"] {
        if let Some(value) = step.get(name) {
            words.push(if ["type", "name"].contains(&name) {
                plain(value)
            } else {
                format!("{name} {}", plain(value))
            });
        }
    }
    words.join(" ")
}

fn line(out: &mut String, name: &str, text: &str) {
    // Writing to a String cannot fail.
    let _infallible = writeln!(out, "{name:10} {}", one_line(text, SHOWN));
}
