//! Feeding the targets: which session is next, and what becomes of one that ended.
//!
//! *Invariant:* a session is taken from the journal, else from the cache, else held; each number is handed on once.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;

use heldset_core::digest::Digest;
use heldset_core::plan::Sessions;
use heldset_core::trace::{Trace, TurnTrace};
use heldset_core::value::Object;

use super::cache::{Cache, Known};
use super::journaled::Journaled;
use super::record::Item;
use super::records::{Records, Seen};
use super::select::Selected;
use super::targets::PreparedTarget;
use super::task::{self, Prepared, Slot};
use crate::agents::{Ended, Task, Turn};
use crate::refusal::{Outcome, Refusal};
use crate::results::{Row, RowOutcome};
use crate::session::Session;
use heldset_core::plan::Plan;

/// All that decides what is next.
pub(crate) struct Feed<'f, 's> {
    pub(crate) session: &'f Session,
    pub(crate) plan: &'f Plan,
    pub(crate) records: &'f Records<'s>,
    pub(crate) selected: &'f Selected,
    pub(crate) sessions: &'f Sessions,
    pub(crate) targets: &'f [PreparedTarget],
    pub(crate) known: &'f Known,
    pub(crate) cache: Cache,
    pub(crate) journaled: HashMap<u64, Journaled>,
    pub(crate) send: SyncSender<Item>,
    pub(crate) next: u64,
    pub(crate) held: HashMap<u64, Held>,
    pub(crate) problem: Option<Box<Refusal>>,
    /// Whether nobody takes sessions any more.
    pub(crate) closed: bool,
}

/// A session that an agent has.
pub(crate) struct Held {
    row: Row,
    seen: Seen,
    key: Digest,
}

impl Feed<'_, '_> {
    /// The next session for an agent; all that need none are handed on meanwhile.
    pub(crate) fn next(&mut self) -> Option<Task> {
        while !self.closed && self.problem.is_none() {
            let number = self.next;
            if number >= self.sessions.len() {
                return None;
            }
            self.next += 1;
            match self.offer(number) {
                Ok(Some(task)) => return Some(task),
                Ok(None) => {}
                Err(refusal) => self.problem = Some(refusal),
            }
        }
        None
    }

    /// Takes a session back from an agent.
    pub(crate) fn ended(&mut self, ended: Ended) -> ControlFlow<()> {
        let Some(Held { mut row, seen, key }) = self.held.remove(&ended.number) else {
            return ControlFlow::Continue(());
        };
        let trace = ended.trace;
        row.output = trace.output().cloned();
        row.failure = ended.failure.map(|failure| format!("{}: {}", failure.kind, failure.message));
        if row.failure.is_none() && trace.turns.iter().any(|turn| turn.output.is_none()) {
            row.failure = Some("protocol: a turn was not answered".to_owned());
        }
        let usage = trace.usage();
        row.usage = (!usage.is_empty()).then(|| usage.to_value());
        (row.queue_ms, row.run_ms, row.retries) = (rounded(ended.queue_ms), rounded(ended.run_ms), ended.retries);
        row.model_ms = rounded(trace.turns.iter().map(|turn| turn.model_ms).sum());
        self.hand_on(Item { row, trace, seen: Some(seen), key, journaled: false });
        if self.closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn offer(&mut self, number: u64) -> Outcome<Option<Task>> {
        let place = self.sessions.get(number).ok_or_else(|| super::internal("a session beyond the last"))?;
        let seen = self.records.at(self.selected.rows[place.record])?;
        let target = &self.targets[place.scenario];
        let slot = Slot { number, scenario: place.scenario, repeat: place.repeat };
        let (agent, evaluator) = (seen.for_agent()?, seen.bare()?);
        let prepared = task::prepare(slot, &agent, &evaluator, &self.plan.memory_seeds, target);
        let mut row = self.row(slot, seen.id());
        let Prepared { mut task, key } = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                row.failure = Some(format!("record: {why}"));
                let key = heldset_core::digest::tagged("run", &[]);
                drop((agent, evaluator));
                self.hand_on(Item { row, trace: Trace::default(), seen: Some(seen), key, journaled: false });
                return Ok(None);
            }
        };
        row.run_key = key.hex();
        drop((agent, evaluator));
        if let Some(item) = self.without_agent(row.clone(), &task.turns, &seen, key) {
            self.hand_on(item);
            return Ok(None);
        }
        if task.session_id.is_empty() {
            task.session_id = self.session.new_id();
        }
        row.session_id.clone_from(&task.session_id);
        task.traceparent = traceparent(self.session);
        self.held.insert(number, Held { row, seen, key });
        Ok(Some(task))
    }

    /// A session whose end is known, or that must not be held.
    fn without_agent(&mut self, row: Row, turns: &[Turn], seen: &Seen, key: Digest) -> Option<Item> {
        let journaled = self.journaled.remove(&row.number).filter(|known| known.row.run_key == row.run_key);
        if let Some(Journaled { row, graded }) = journaled {
            let trace = trace_of(&row, turns);
            let seen = (!graded).then(|| seen.clone());
            return Some(Item { row, trace, seen, key, journaled: true });
        }
        let cached = match self.cache {
            Cache::Use | Cache::Require => self.known.get(&row.run_key),
            Cache::Refresh | Cache::Off => None,
        };
        if let Some(cached) = cached {
            let own = (row.number, row.scenario, row.repeat);
            let mut row = cached.clone();
            (row.number, row.scenario, row.repeat) = own;
            let trace = trace_of(&row, turns);
            return Some(Item { row, trace, seen: Some(seen.clone()), key, journaled: false });
        }
        if self.cache != Cache::Require {
            return None;
        }
        let reason = Some("not in the cache".to_owned());
        let row = Row { outcome: RowOutcome::Skipped, reason, ..row };
        Some(Item { row, trace: Trace::default(), seen: Some(seen.clone()), key, journaled: false })
    }

    fn row(&self, slot: Slot, id: &str) -> Row {
        Row {
            number: slot.number,
            record_id: id.to_owned(),
            leaf: String::new(),
            scenario: self.plan.scenarios[slot.scenario].id.clone(),
            repeat: slot.repeat,
            run_key: String::new(),
            outcome: RowOutcome::Unscored,
            reason: None,
            failure: None,
            output: None,
            trace: None,
            scores: Vec::new(),
            queue_ms: 0.0,
            run_ms: 0.0,
            model_ms: 0.0,
            usage: None,
            retries: 0,
            cached: None,
            session_id: String::new(),
            category: None,
            labels: Object::new(),
        }
    }

    /// Gives a session to the recorder; one that is gone has its own reason, which ends the run.
    fn hand_on(&mut self, item: Item) {
        self.closed |= self.send.send(item).is_err();
    }
}

/// What an agent did, from what is kept of it.
fn trace_of(row: &Row, turns: &[Turn]) -> Trace {
    if let Some(trace) = row.trace.as_ref().and_then(Trace::from_value) {
        return trace;
    }
    let first = turns.first().map(|turn| TurnTrace {
        role: turn.role.clone(),
        content: turn.content.clone(),
        output: row.output.clone(),
        elapsed_ms: row.run_ms,
        model_ms: row.model_ms,
        usage: row.usage.as_ref().map(heldset_core::trace::Usage::from_value).unwrap_or_default(),
        ..TurnTrace::default()
    });
    Trace { turns: first.into_iter().collect(), ..Trace::default() }
}

/// Times are kept to a thousandth of a millisecond.
fn rounded(ms: f64) -> f64 {
    (ms * 1000.0).round() / 1000.0
}

fn traceparent(session: &Session) -> String {
    let mut bytes = [0; 24];
    session.store.entropy().fill(&mut bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("00-{}-{}-01", &hex[..32], &hex[32..])
}
