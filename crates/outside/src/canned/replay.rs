//! The target replay: recorded outputs by record.
//!
//! *Invariant:* a record that was not recorded is refused, never made up; what is replayed is what was recorded for the
//! same scenario where recordings tell scenarios apart.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use heldset_core::digest::sha256;
use heldset_core::fault::Problem;
use heldset_core::json;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{TargetFacts, Task};

use super::{begun, deliver, sent};
use crate::agent::{Agent, Progress, Session, failure};
use crate::answer;
use crate::config::{self, wrong};

struct Replay {
    file: (String, String),
    recorded: HashMap<String, Vec<Recorded>>,
    /// How often each record was replayed: the n-th time gets the n-th recording.
    served: RefCell<HashMap<String, usize>>,
}

/// What is known of one session: an answer for each turn that was recorded.
struct Recorded {
    repeat: u64,
    turns: Vec<Object<'static>>,
    /// Whether the one answer is that of the last turn, the others not being known.
    only_last: bool,
}

/// The target `replay`.
pub(crate) fn prepare(config: &Object<'static>, scenario: &str, base: &Path) -> Result<Box<dyn Agent>, Problem> {
    config::only(config, "replay", &["from"])?;
    let Some(from) = config::text(config, "from")? else {
        return Err(wrong("from", "a `replay` target has no `from`", "name a JSON Lines file of recorded outputs"));
    };
    let help = "each line is a JSON mapping with `id` and `output` or `outputs`";
    let bytes = std::fs::read(base.join(from))
        .map_err(|error| wrong("from", format!("cannot read `{from}`: {error}"), "name a file relative to the plan"))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("from", format!("`{from}` is not UTF-8"), help))?;
    let mut recorded: HashMap<String, Vec<Recorded>> = HashMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fault = |reason: String| wrong("from", format!("`{from}`, line {}: {reason}", index + 1), help);
        let value = json::read(line).map_err(|error| fault(error.to_string()))?.into_owned();
        let Value::Object(line) = value else { return Err(fault("not a mapping".to_owned())) };
        let Some(id) = ["id", "record_id", "sample_id", "record"].iter().find_map(|key| line.get(key)) else {
            // Heads and summaries of reports are not recordings.
            continue;
        };
        let other = line.get("scenario").and_then(Value::as_str).is_some_and(|told| told != scenario);
        if let (false, Some(one)) = (other, read(&line)) {
            recorded.entry(config::plain_text(id)).or_default().push(one);
        }
    }
    recorded.values_mut().for_each(|all| all.sort_by_key(|one| one.repeat));
    let file = (from.to_owned(), sha256(&bytes).hex());
    Ok(Box::new(Replay { file, recorded, served: RefCell::default() }))
}

fn read(line: &Object<'static>) -> Option<Recorded> {
    let repeat = match line.get("repeat") {
        Some(Value::Number(number)) => number.as_u64().unwrap_or(0),
        _ => 0,
    };
    let trace = line.get("trace").and_then(Value::as_object);
    let turns = trace.and_then(|trace| trace.get("turns")).or_else(|| line.get("turns")).and_then(Value::as_array);
    let told: Vec<Object<'static>> = turns.unwrap_or_default().iter().filter_map(Value::as_object).cloned().collect();
    if told.iter().any(|turn| turn.contains("output")) {
        return Some(Recorded { repeat, turns: told, only_last: false });
    }
    let beside = |turn: &mut Object<'static>| {
        for key in ["steps", "usage", "memory", "model"] {
            if let Some(value) = line.get(key) {
                turn.set(key, value.clone());
            }
        }
    };
    if let Some(outputs) = line.get("outputs").and_then(Value::as_array) {
        let answer = |output: &Value<'static>| [("output".into(), output.clone())].into_iter().collect();
        let mut turns: Vec<Object<'static>> = outputs.iter().map(answer).collect();
        turns.last_mut().map(beside);
        return Some(Recorded { repeat, turns, only_last: false });
    }
    let output = line.get("output").filter(|output| !output.is_null())?;
    let mut turn: Object<'static> = [("output".into(), output.clone())].into_iter().collect();
    beside(&mut turn);
    Some(Recorded { repeat, turns: vec![turn], only_last: true })
}

impl Replay {
    fn next(&self, id: &str) -> Option<&Recorded> {
        let all = self.recorded.get(id)?;
        let mut served = self.served.borrow_mut();
        let count = served.entry(id.to_owned()).or_default();
        let one = all.get((*count).min(all.len().checked_sub(1)?));
        *count += 1;
        one
    }
}

impl Agent for Replay {
    fn facts(&self) -> TargetFacts {
        TargetFacts {
            kind: "replay".to_owned(),
            takes_seeds: true,
            files: vec![self.file.clone()],

            ..TargetFacts::default()
        }
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(async move {
            let Some(recorded) = self.next(&task.record_id) else {
                return Err(failure("refused", "not recorded"));
            };
            deliver(&task.seeds, None, &mut progress.trace)?;
            let count = sent(task).count();
            for (number, turn) in sent(task) {
                progress.trace.turns.push(begun(turn));
                let unknown = recorded.only_last && number + 1 < count;
                let at = if recorded.only_last { 0 } else { number };
                match recorded.turns.get(at) {
                    _ if unknown => {}
                    Some(answer) => answer::settle(&mut progress.trace, answer.clone()),
                    None => return Err(failure("refused", format!("turn {} is not recorded", number + 1))),
                }
            }
            Ok(())
        })
    }
}
