//! Why a result came from the cache or did not: its run key, part by part, against that of the nearest earlier result.
//!
//! *Invariant:* an earlier result is one of a finished run that began before; keys are compared before their parts.

use std::collections::HashMap;

use heldset_core::value::{Object, Value};
use heldset_store::run::RunDoc;

use crate::refusal::Outcome;
use crate::resolve::mapping;
use crate::results::{Row, RowOutcome, RunResults, all_runs};
use crate::session::Session;
use crate::summary::members;
use crate::view::{Look, View};

/// How many earlier runs are read at most.
const LOOKED_AT: usize = 50;
/// What of a record is in a run key.
const GIVEN: [&str; 9] =
    ["input", "turns", "context", "tools", "agent_args", "memory_seeds", "tool_fixtures", "checkpoint", "extra_vars"];

/// Whether a result came from the cache, or why not.
#[derive(Clone, Debug, PartialEq)]
pub enum CacheReason {
    /// It did, from this run.
    Cached(String),
    /// No earlier run has the record.
    NoEarlier,
    /// What the target does may change without its configuration: nothing of it is used again.
    NotReusable(String),
    /// The agent failed in the earlier run.
    EarlierFailed(String),
    /// An earlier run has the same key: this one was told not to use it, or ran beside it.
    NotUsed(String),
    /// The keys differ: the nearest earlier run, and what is not the same.
    Differs(String, Vec<KeyPart>),
}

/// A part of a run key that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// A key of the target's configuration, or a file that it names, under `files`.
    Target(String),
    /// A field of the record.
    Field(String),
    /// The content of the record; which part cannot be told any more.
    Content,
    /// The seeds of the plan.
    Seeds,
    /// The repetition.
    Repeat,
    /// The recipe of keys.
    Recipe,
    /// Nothing that is stored.
    Unknown,
}

/// Why each of these rows came from the cache or did not.
pub(super) fn reasons(session: &Session, results: &RunResults<'_>, rows: &[Row]) -> Outcome<Vec<CacheReason>> {
    let fresh = rows.iter().any(|row| row.cached.is_none());
    let earlier = if fresh { earlier(session, results, &rows[0].record_id)? } else { Vec::new() };
    let mut plans = HashMap::new();
    rows.iter().map(|row| reason(session, results, row, &earlier, &mut plans)).collect()
}

/// A run before this one, and its rows of the record.
type Earlier = (RunDoc, Vec<Row>);

/// The runs before that have the record, newest first.
fn earlier(session: &Session, results: &RunResults<'_>, id: &str) -> Outcome<Vec<Earlier>> {
    let doc = &results.doc;
    let mut runs = all_runs(session)?;
    let before = |run: &RunDoc| (&run.started_at, &run.id) < (&doc.started_at, &doc.id);
    runs.retain(|run| run.finished_at.is_some() && run.id != doc.id && run.dataset_id == doc.dataset_id && before(run));
    let mut found = Vec::new();
    for run in runs.into_iter().rev().take(LOOKED_AT) {
        let mut rows = Vec::new();
        let results = RunResults::of(session, run, "why")?;
        results.each(|row| {
            if row.record_id == id {
                rows.push(row);
            }
            Ok(())
        })?;
        if !rows.is_empty() {
            found.push((results.doc, rows));
        }
    }
    Ok(found)
}

fn reason(
    session: &Session,
    results: &RunResults<'_>,
    row: &Row,
    earlier: &[Earlier],
    seeds: &mut HashMap<String, Option<Value<'static>>>,
) -> Outcome<CacheReason> {
    if let Some(run) = &row.cached {
        return Ok(CacheReason::Cached(run.clone()));
    }
    let own = results.doc.targets.iter().find(|target| target.scenario == row.scenario);
    if let Some(target) = own.filter(|target| !target.reusable) {
        return Ok(CacheReason::NotReusable(target.kind.clone()));
    }
    let same =
        earlier.iter().find_map(|(run, rows)| Some((run, rows.iter().find(|other| other.run_key == row.run_key)?)));
    if let Some((run, other)) = same {
        let failed = other.failure.is_some() || other.outcome == RowOutcome::Skipped;
        let id = run.id.clone();
        return Ok(if failed { CacheReason::EarlierFailed(id) } else { CacheReason::NotUsed(id) });
    }
    let Some((run, rows)) = earlier.first() else { return Ok(CacheReason::NoEarlier) };
    let nearness = |other: &&Row| (other.scenario == row.scenario, other.repeat == row.repeat);
    let Some(other) = rows.iter().max_by_key(nearness) else { return Ok(CacheReason::NoEarlier) };
    let mut parts = targets(&results.doc, row, run, other);
    if other.leaf != row.leaf {
        parts.extend(fields(session, &results.doc, run, &row.record_id));
    }
    if plan_seeds(session, seeds, &results.doc)? != plan_seeds(session, seeds, run)? {
        parts.push(KeyPart::Seeds);
    }
    if other.repeat != row.repeat {
        parts.push(KeyPart::Repeat);
    }
    if results.doc.recipe != run.recipe {
        parts.push(KeyPart::Recipe);
    }
    if parts.is_empty() {
        parts.push(KeyPart::Unknown);
    }
    Ok(CacheReason::Differs(run.id.clone(), parts))
}

/// What differs between the targets of two rows, key by key.
fn targets(doc: &RunDoc, row: &Row, run: &RunDoc, other: &Row) -> Vec<KeyPart> {
    let of = |run: &RunDoc, scenario: &str| run.targets.iter().find(|target| target.scenario == scenario).cloned();
    let (Some(ours), Some(theirs)) = (of(doc, &row.scenario), of(run, &other.scenario)) else { return Vec::new() };
    if ours.digest == theirs.digest {
        return Vec::new();
    }
    let mut names = Vec::new();
    differing("", &mapping(&ours.identity), &mapping(&theirs.identity), &mut names);
    names.into_iter().map(KeyPart::Target).collect()
}

/// The dotted names of what two mappings do not have in common.
fn differing(under: &str, a: &Object<'_>, b: &Object<'_>, names: &mut Vec<String>) {
    let mut keys: Vec<&str> = a.iter().chain(b.iter()).map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let name = if under.is_empty() { key.to_owned() } else { format!("{under}.{key}") };
        match (a.get(key), b.get(key)) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => differing(&name, a, b, names),
            (a, b) if a != b => names.push(name),
            _ => {}
        }
    }
}

/// The fields of a record that an agent is given and that differ between the versions of two runs.
fn fields(session: &Session, ours: &RunDoc, theirs: &RunDoc, id: &str) -> Vec<KeyPart> {
    let record = |doc: &RunDoc| {
        let cite = format!("{}@{}", doc.dataset, doc.version);
        let look = Look { cite: &cite, split: Some(&doc.split), place: None, purpose: "why" };
        let view = View::open(session, &look).ok()?;
        let batch = view.splits.iter().find_map(|split| view.find(split, id).ok()?)?;
        let given = GIVEN.map(|name| {
            batch.record(0).ok().and_then(|record| record.fields.get(name).cloned().map(Value::into_owned))
        });
        Some(given)
    };
    let (Some(ours), Some(theirs)) = (record(ours), record(theirs)) else { return vec![KeyPart::Content] };
    let differs = (0..GIVEN.len()).filter(|index| ours[*index] != theirs[*index]);
    differs.map(|index| KeyPart::Field(GIVEN[index].to_owned())).collect()
}

/// The seeds of the plan of a run.
fn plan_seeds(
    session: &Session,
    known: &mut HashMap<String, Option<Value<'static>>>,
    run: &RunDoc,
) -> Outcome<Option<Value<'static>>> {
    if let Some(seeds) = known.get(&run.id) {
        return Ok(seeds.clone());
    }
    let plan = RunResults::of(session, run.clone(), "why")?.plan()?;
    let seeds = plan.as_object().and_then(|plan| plan.get("memory_seeds")).cloned();
    let seeds = seeds.filter(|seeds| seeds.as_array().is_none_or(|seeds| !seeds.is_empty()));
    known.insert(run.id.clone(), seeds.clone());
    Ok(seeds)
}

impl KeyPart {
    /// What it is, in words.
    pub fn words(&self) -> String {
        match self {
            KeyPart::Target(name) => format!("target differs in `{name}`"),
            KeyPart::Field(name) => format!("`{name}` of the record differs"),
            KeyPart::Content => "the content of the record differs".to_owned(),
            KeyPart::Seeds => "the `memory_seeds` of the plan differ".to_owned(),
            KeyPart::Repeat => "it is another repeat".to_owned(),
            KeyPart::Recipe => "keys are made by another recipe".to_owned(),
            KeyPart::Unknown => "something that is not stored differs".to_owned(),
        }
    }
}

impl CacheReason {
    /// The reason in one line.
    pub fn words(&self) -> String {
        match self {
            CacheReason::Cached(run) => format!("from the cache: the result of run {run}"),
            CacheReason::NoEarlier => "run anew: no earlier result".to_owned(),
            CacheReason::NotReusable(kind) => {
                format!("run anew: a target of kind `{kind}` is not used again without `revision`")
            }
            CacheReason::EarlierFailed(run) => format!("run anew: the earlier result of run {run} was an error"),
            CacheReason::NotUsed(run) => format!("run anew, although run {run} has the same key"),
            CacheReason::Differs(run, parts) => {
                let parts: Vec<String> = parts.iter().map(KeyPart::words).collect();
                format!("run anew: since run {run}, {}", parts.join("; "))
            }
        }
    }

    /// The reason.
    pub fn to_value(&self) -> Value<'static> {
        let (run, differs): (Option<&String>, &[KeyPart]) = match self {
            CacheReason::NoEarlier | CacheReason::NotReusable(_) => (None, &[]),
            CacheReason::Cached(run) | CacheReason::EarlierFailed(run) | CacheReason::NotUsed(run) => (Some(run), &[]),
            CacheReason::Differs(run, parts) => (Some(run), parts),
        };
        members([
            ("cached", matches!(self, CacheReason::Cached(_)).into()),
            ("run", run.cloned().map_or(Value::Null, Value::from)),
            ("reason", self.words().into()),
            ("differs", Value::Array(differs.iter().map(|part| Value::from(part.words())).collect())),
        ])
    }
}
