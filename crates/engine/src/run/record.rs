//! Recording a run: outputs become durable, then they are graded, then the scores become durable.
//!
//! *Invariant:* a grader sees sealed fields of a record only after the agent's output for it is on disk. Every planned
//! session ends in exactly one row.

use std::sync::mpsc::Receiver;

use heldset_core::canonical;
use heldset_core::leaf::Leaves;
use heldset_core::plan::GradeWhen;
use heldset_core::trace::Trace;
use heldset_core::value::{Object, Value};
use heldset_store::Journal;
use heldset_store::run::BalanceDoc;

use super::grading::{Graded1, Graders, outcome};
use super::records::Seen;
use super::{RunListener, ScenarioCount};
use crate::agents::Helpers;
use crate::refusal::Outcome;
use crate::results::{Row, RowOutcome, Score, Writer};
use crate::summary::Tally;

/// The label of what agents did.
pub(crate) const OUTPUTS: &str = "internal";
/// The label of what graders say.
pub(crate) const SCORES: &str = "evaluator_only";
/// The most sessions that are made durable together.
const GROUP: usize = 4096;

/// A session that ended, or that never began.
pub(crate) struct Item {
    /// What is known of it; outcome and scores are still to come.
    pub(crate) row: Row,
    /// What the agent did.
    pub(crate) trace: Trace,
    /// The record; absent when it was graded before.
    pub(crate) seen: Option<Seen>,
    /// The run key.
    pub(crate) key: heldset_core::digest::Digest,
    /// Whether it is in the journal already.
    pub(crate) journaled: bool,
}

/// Records sessions as they end.
pub(crate) struct Recorder<'r, 's> {
    pub(crate) journal: &'r mut Journal<'s>,
    pub(crate) graders: &'r Graders,
    pub(crate) helpers: Box<dyn Helpers>,
    pub(crate) writer: Writer<'s>,
    pub(crate) leaves: Leaves,
    pub(crate) when: GradeWhen,
    pub(crate) scenarios: Vec<ScenarioCount>,
    pub(crate) listener: &'r mut dyn RunListener,
}

/// What a recording comes to.
pub(crate) struct Recorded<'s> {
    pub(crate) writer: Writer<'s>,
    pub(crate) tally: Tally,
    pub(crate) balance: BalanceDoc,
    pub(crate) cached: u64,
    pub(crate) reported: Vec<Option<String>>,
}

impl<'s> Recorder<'_, 's> {
    /// Takes sessions until no more come.
    pub(crate) fn run(mut self, items: &Receiver<Item>) -> Outcome<Recorded<'s>> {
        let reported = vec![None; self.scenarios.len()];
        let (tally, balance) = (Tally::default(), BalanceDoc::default());
        let mut sum = Sum { tally, balance, cached: 0, reported };
        let mut held = Vec::new();
        while let Ok(first) = items.recv() {
            let mut group = vec![first];
            group.extend(items.try_iter().take(GROUP));
            self.store(&mut group)?;
            match self.when {
                GradeWhen::AfterRecord => self.finish(group, &mut sum)?,
                GradeWhen::AfterRun => held.append(&mut group),
            }
        }
        self.finish(held, &mut sum)?;
        let Sum { tally, balance, cached, reported } = sum;
        Ok(Recorded { writer: self.writer, tally, balance, cached, reported })
    }

    /// Makes what agents did durable.
    fn store(&mut self, group: &mut [Item]) -> Outcome<()> {
        let mut frame = Vec::with_capacity(group.len() * 256);
        for item in group.iter_mut().filter(|item| !item.journaled) {
            if let Some(seen) = &item.seen {
                item.row.leaf = seen.leaf(&mut self.leaves)?;
                describe(&mut item.row, seen)?;
            }
            item.row.trace = worth_keeping(&item.trace).then(|| item.trace.to_value());
            frame.push(if frame.is_empty() { b'[' } else { b',' });
            write_row(&item.row, &mut frame);
        }
        if frame.is_empty() {
            return Ok(());
        }
        frame.push(b']');
        self.journal.append(OUTPUTS, &frame)?;
        Ok(self.journal.sync(OUTPUTS)?)
    }

    /// Grades what is durable, and counts it.
    fn finish(&mut self, group: Vec<Item>, sum: &mut Sum) -> Outcome<()> {
        let scores = self.grade(&group)?;
        let mut frame = Vec::new();
        for (item, scores) in group.into_iter().zip(scores) {
            let Item { mut row, trace, seen, .. } = item;
            if let Some(scores) = scores {
                row.scores = scores;
                (row.outcome, row.reason) = outcome(row.failure.as_deref(), &row.scores);
            }
            if seen.is_some() && row.outcome != RowOutcome::Skipped {
                frame.push(if frame.is_empty() { b'[' } else { b',' });
                write_scores(&row, &mut frame);
            }
            self.count(&row, &trace, sum);
            sum.tally.add(&row);
            self.writer.push(row)?;
        }
        if !frame.is_empty() {
            frame.push(b']');
            self.journal.append(SCORES, &frame)?;
        }
        self.listener.progress(&self.scenarios);
        Ok(())
    }

    /// The scores of each session that an agent ended well and nobody scored yet.
    fn grade(&mut self, group: &[Item]) -> Outcome<Vec<Option<Vec<Score>>>> {
        let mut records = Vec::with_capacity(group.len());
        for item in group {
            let due = item.seen.as_ref().filter(|_| item.row.outcome != RowOutcome::Skipped);
            records.push(due.map(Seen::for_evaluator).transpose()?);
        }
        let due = |item: &Item| item.row.failure.is_none();
        let subjects: Vec<Graded1<'_>> = group
            .iter()
            .zip(&records)
            .filter(|(item, _)| due(item))
            .filter_map(|(item, record)| Some((item, record.as_ref()?)))
            .map(|(item, record)| Graded1 { record, trace: &item.trace, key: item.key, known: &item.row.scores })
            .collect();
        let mut scores = self.graders.grade(&subjects, &mut *self.helpers).into_iter();
        let mut all = Vec::with_capacity(group.len());
        for (item, record) in group.iter().zip(&records) {
            all.push(match (record, due(item)) {
                (Some(_), true) => scores.next(),
                (Some(_), false) => Some(Vec::new()),
                (None, _) => None,
            });
        }
        Ok(all)
    }

    fn count(&mut self, row: &Row, trace: &Trace, sum: &mut Sum) {
        let balance = &mut sum.balance;
        balance.planned += 1;
        match row.outcome {
            RowOutcome::Pass | RowOutcome::Fail => balance.scored += 1,
            RowOutcome::Unscored => balance.unscored += 1,
            RowOutcome::Error => balance.error += 1,
            RowOutcome::Skipped => balance.skipped += 1,
        }
        sum.cached += u64::from(row.cached.is_some());
        if let Some(at) = self.scenarios.iter().position(|scenario| scenario.name == row.scenario) {
            self.scenarios[at].add(row);
            if sum.reported[at].is_none() {
                sum.reported[at].clone_from(&trace.reported);
            }
        }
    }
}

/// What has come together so far.
struct Sum {
    tally: Tally,
    balance: BalanceDoc,
    cached: u64,
    reported: Vec<Option<String>>,
}

/// Whether a trace says more than its one answer.
fn worth_keeping(trace: &Trace) -> bool {
    let plain = match &trace.turns[..] {
        [] => true,
        [turn] => turn.steps.is_empty(),
        _ => false,
    };
    !plain || !trace.seeds.is_empty() || trace.memory.is_some() || trace.log.is_some()
}

/// What reports are broken down by.
fn describe(row: &mut Row, seen: &Seen) -> Outcome<()> {
    let record = seen.bare()?;
    row.category = record.fields.get("category").and_then(Value::as_str).map(str::to_owned);
    if let Some(Value::Object(labels)) = record.fields.get("labels") {
        row.labels = labels.clone().into_owned();
    }
    Ok(())
}

/// A row without what graders say, as canonical JSON.
fn write_row(row: &Row, out: &mut Vec<u8>) {
    let record = row.to_record();
    let mut fields = Object::with_capacity(record.fields.len() + 1);
    fields.push_unique("id".into(), Value::from(record.id.as_str()));
    for (name, value) in record.fields.iter().filter(|(name, _)| !matches!(*name, "reason" | "scores")) {
        fields.push_unique(name.into(), value.clone());
    }
    canonical::write_object(&fields, out);
}

/// What graders say of a row, as canonical JSON.
fn write_scores(row: &Row, out: &mut Vec<u8>) {
    let mut fields = Object::with_capacity(4);
    fields.push_unique("id".into(), Value::from(row.number.to_string()));
    fields.push_unique("outcome".into(), Value::from(row.outcome.name()));
    if let Some(reason) = &row.reason {
        fields.push_unique("reason".into(), Value::from(reason.as_str()));
    }
    fields.push_unique("scores".into(), Value::Array(row.scores.iter().map(Score::to_value).collect()));
    canonical::write_object(&fields, out);
}
