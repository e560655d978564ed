//! What is kept of each row while a run goes by: a few dozen bytes.
//!
//! *Invariant:* every row is counted once, in one outcome; what has no score is kept as that and never as a number.

use std::collections::HashMap;
use std::sync::Arc;

use heldset_core::canonical;
use heldset_core::digest::sha256;
use heldset_core::trace::Usage;
use heldset_core::value::{Object, Value};
use heldset_store::run::BalanceDoc;

use super::figures::Point;
use crate::results::{Row, RowOutcome, Score};

/// Rows of a run, counted as they come.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub(super) records: Names,
    pub(super) scenarios: Names,
    /// Categories and labels, each as what it is and its value.
    pub(super) groups: Names,
    /// Which set of groups each record is in: few sets serve many records.
    memberships: Vec<u32>,
    sets: Vec<Box<[u32]>>,
    numbers_of_sets: HashMap<Box<[u32]>, u32>,
    /// What tells the leaves of records apart.
    leaves: Vec<[u8; 16]>,
    pub(super) rows: Vec<Kept>,
    pub(super) metrics: Vec<Marks>,
    pub(super) usage: Usage,
    pub(super) balance: BalanceDoc,
    pub(super) cached: u64,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) record: u32,
    pub(super) scenario: u32,
    pub(super) run_ms: f64,
    pub(super) outcome: RowOutcome,
}

/// What one grader said, row by row.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    pub(super) name: String,
    marks: Vec<Mark>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    row: u32,
    said: Said,
    score: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Pass,
    Fail,
    Unscored,
    Error,
}

/// Names with numbers, from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

/// What one grader said of some rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    pub(super) points: Vec<Point>,
    pub(super) unscored: u64,
    pub(super) errors: u64,
    pub(super) skipped: u64,
}

/// The group of a category.
pub(super) const CATEGORY: &str = "category\n";
/// The group of a label.
pub(super) const LABEL: &str = "label\n";

impl Tally {
    /// A tally without any row.
    pub fn new() -> Tally {
        Tally::default()
    }

    /// Counts a row.
    pub fn add(&mut self, row: &Row) {
        let record = self.record(row);
        let scenario = self.scenarios.number(&row.scenario);
        let number = narrow(self.rows.len());
        self.rows.push(Kept { record, scenario, run_ms: row.run_ms, outcome: row.outcome });
        for score in &row.scores {
            let (said, value) = said(score);
            self.marks(&score.name).push(Mark { row: number, said, score: value });
        }
        self.usage = self.usage.plus(usage(row.usage.as_ref()));
        self.cached += u64::from(row.cached.is_some());
        self.balance.planned += 1;
        *match row.outcome {
            RowOutcome::Pass | RowOutcome::Fail => &mut self.balance.scored,
            RowOutcome::Error => &mut self.balance.error,
            RowOutcome::Unscored => &mut self.balance.unscored,
            RowOutcome::Skipped => &mut self.balance.skipped,
        } += 1;
    }

    /// Where every row ended.
    pub fn balance(&self) -> BalanceDoc {
        self.balance
    }

    /// How many rows came from the cache.
    pub fn cached(&self) -> u64 {
        self.cached
    }

    /// The groups of a record.
    pub(super) fn groups_of(&self, row: &Kept) -> &[u32] {
        let set = self.memberships.get(row.record as usize).and_then(|set| self.sets.get(*set as usize));
        set.map_or(&[], |groups| groups)
    }

    /// What tells the leaf of a record from others: enough of its digest.
    pub(super) fn leaf(&self, row: &Kept) -> u128 {
        self.leaves.get(row.record as usize).map_or(0, |leaf| u128::from_be_bytes(*leaf))
    }

    /// What a grader said, divided into groups: each row counts in those that it is in.
    pub(super) fn samples<'t>(
        &'t self,
        marks: &Marks,
        groups: usize,
        of: impl Fn(&'t Kept) -> &'t [u32],
    ) -> Vec<Sample> {
        let mut samples = vec![Sample::default(); groups];
        let mut next = marks.marks.iter().peekable();
        for (number, row) in (0u32..).zip(&self.rows) {
            let mark = next.next_if(|mark| mark.row == number);
            for group in of(row) {
                if let Some(sample) = samples.get_mut(*group as usize) {
                    sample.add(row, mark);
                }
            }
        }
        samples
    }

    fn record(&mut self, row: &Row) -> u32 {
        let record = self.records.number(&row.record_id);
        if record as usize == self.memberships.len() {
            let mut groups = Vec::new();
            if let Some(category) = &row.category {
                groups.push(self.groups.number(&format!("{CATEGORY}{category}")));
            }
            for label in label_names(&row.labels) {
                groups.push(self.groups.number(&format!("{LABEL}{label}")));
            }
            groups.sort_unstable();
            groups.dedup();
            let set = self.set(groups.into());
            self.memberships.push(set);
            let digest = sha256(row.leaf.as_bytes());
            self.leaves.push(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"));
        }
        record
    }

    fn set(&mut self, groups: Box<[u32]>) -> u32 {
        if let Some(number) = self.numbers_of_sets.get(&groups) {
            return *number;
        }
        let number = narrow(self.sets.len());
        self.sets.push(groups.clone());
        self.numbers_of_sets.insert(groups, number);
        number
    }

    fn marks(&mut self, name: &str) -> &mut Vec<Mark> {
        let at = self.metrics.iter().position(|metric| metric.name == name).unwrap_or_else(|| {
            self.metrics.push(Marks { name: name.to_owned(), marks: Vec::new() });
            self.metrics.len() - 1
        });
        &mut self.metrics[at].marks
    }
}

impl Marks {
    /// Every score with its row, and whether it passes.
    pub(super) fn scores(&self) -> impl Iterator<Item = (usize, f64, bool)> {
        let scored = self.marks.iter().filter(|mark| matches!(mark.said, Said::Pass | Said::Fail));
        scored.map(|mark| (mark.row as usize, mark.score, mark.said == Said::Pass))
    }
}

impl Sample {
    fn add(&mut self, row: &Kept, mark: Option<&Mark>) {
        match (mark.map(|mark| (mark.said, mark.score)), row.outcome) {
            (Some((Said::Pass | Said::Fail, score)), _) => {
                let pass = mark.is_some_and(|mark| mark.said == Said::Pass);
                self.points.push(Point { record: row.record, scenario: row.scenario, score, pass });
            }
            (Some((Said::Error, _)), _) | (None, RowOutcome::Error) => self.errors += 1,
            (None, RowOutcome::Skipped) => self.skipped += 1,
            _ => self.unscored += 1,
        }
    }
}

impl Names {
    /// The number of a name, a new one if need be.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = narrow(self.names.len());
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// All names, in the order of their numbers.
    pub(super) fn all(&self) -> &[Arc<str>] {
        &self.names
    }
}

/// The labels of a record, each as `key=value`; of a list, each element.
fn label_names(labels: &Object<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for (key, value) in labels.iter() {
        match value {
            Value::Null => {}
            Value::Array(values) => names.extend(values.iter().map(|value| format!("{key}={}", plain(value)))),
            value => names.push(format!("{key}={}", plain(value))),
        }
    }
    names
}

/// A value as text: texts as they are, all else as JSON.
pub(crate) fn plain(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_string(),
        value => String::from_utf8(canonical::bytes(value)).expect("JSON is UTF-8"),
    }
}

fn said(score: &Score) -> (Said, f64) {
    match score.score {
        Some(value) if value.is_finite() => {
            (if score.pass.unwrap_or(value >= 1.0) { Said::Pass } else { Said::Fail }, value)
        }
        _ if score.problem.as_deref().is_some_and(|problem| problem.starts_with("error")) => (Said::Error, 0.0),
        _ => (Said::Unscored, 0.0),
    }
}

/// The usage that a mapping is.
fn usage(value: Option<&Value<'_>>) -> Usage {
    let get = |name: &str| match value.and_then(Value::as_object).and_then(|usage| usage.get(name)) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    Usage {
        input_tokens: get("input_tokens").and_then(|number| number.as_u64()),
        output_tokens: get("output_tokens").and_then(|number| number.as_u64()),
        cost: get("cost").map(|number| number.as_f64()),
    }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
