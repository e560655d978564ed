//! `gate`: what a rule says of a run, for people, programs and continuous integration.
//!
//! *Invariant:* no text of a record, an agent or a grader is in an answer: ids only where they are open, and numbers.
//! The verdict is in the audit log before it is given.

mod github;
mod junit;

use heldset_core::code::Code;
use heldset_core::gate::{Answer, Rule, Verdict};
use heldset_core::path::Path;
use heldset_core::value::Value;
use heldset_store::run::RunDoc;

use crate::copies;
use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::resolve;
use crate::results::{Row, RowOutcome, RunResults, find_run, must_see_scores, too_many_errors};
use crate::session::Session;
use crate::summary::{Tally, balance_value, count, short};

/// What to write where there is no rule.
const SIMPLE: &str = "add to the plan, or write to a file for `--rule`: \
    `gate: {kind: simple, metric_key: exact, aggregation: avg_score, op: gte, value: 0.9}`";
const REGRESSION: &str = "write to a file for `--rule`: `gate: {kind: regression, metric_key: exact, margin: 0.02}`";

/// What is judged, and by what.
pub struct GateRequest<'g> {
    /// The run.
    pub run: &'g str,
    /// The rule, or a mapping with it under `gate`; that of the plan when absent.
    pub rule: Option<&'g Value<'g>>,
    /// The run that a regression is measured against.
    pub baseline: Option<&'g str>,
}

/// What a rule says of a run.
#[derive(Debug)]
pub struct Gated {
    /// The run.
    pub doc: RunDoc,
    /// What the rule says.
    pub verdict: Verdict,
    /// The run it was measured against.
    pub baseline: Option<String>,
    /// Why the run is not complete, if it is not: then the verdict does not count.
    pub incomplete: Option<String>,
    /// Every planned session.
    cases: Vec<Case>,
}

/// A planned session, as far as everybody may know it.
#[derive(Debug)]
struct Case {
    /// The record: its id, or its place when ids are sealed.
    name: String,
    scenario: String,
    repeat: u64,
    outcome: RowOutcome,
    /// A stable word for how the agent failed.
    failure: Option<&'static str>,
    run_ms: f64,
}

/// How a gate ends, in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Planned work was not attempted, or too much of it failed.
    Incomplete,
    /// The rule says no.
    Fail,
    /// The rule cannot say.
    Inconclusive,
    /// The rule says yes.
    Pass,
}

/// Judges a run.
pub fn gate(session: &Session, request: &GateRequest<'_>) -> Outcome<Gated> {
    must_see_scores(session, "gate")?;
    let doc = find_run(session, request.run)?;
    if doc.finished_at.is_none() {
        let message = format!("run `{}` is not finished", doc.id);
        return Err(Refusal::incomplete(Code::E117, message, "run its plan again: it goes on where it stopped"));
    }
    let results = RunResults::of(session, doc, "gate")?;
    let rule = rule_of(&results, request.rule)?;
    check_metrics(&rule, &results.doc)?;
    let (baseline, other) = baseline_rows(session, &rule, request.baseline)?.unzip();
    let named = ids_are_open(session, &results.doc);
    let mut cases = Vec::new();
    let rows = tally(&results, |row| cases.push(Case::of(row, named)))?;
    let verdict = rows.judge(&rule, results.doc.primary.as_deref(), other.as_ref());
    let gated = Gated { incomplete: incomplete(&results.doc), doc: results.doc, verdict, baseline, cases };
    gated.log(session)?;
    Ok(gated)
}

fn check_metrics(rule: &Rule, run: &RunDoc) -> Outcome<()> {
    let known: Vec<&str> = run.graders.iter().map(|(name, _)| name.as_str()).collect();
    let metrics = rule.metrics();
    let Some(unknown) = metrics.iter().find(|metric| !known.contains(metric)) else { return Ok(()) };
    let mut refusal = Refusal::unknown(format!("the run has no metric `{unknown}`"), unknown, known);
    refusal.code = Code::E060;
    Err(refusal)
}

/// Why a run is not complete: planned work was not attempted, or more of it failed than its plan allows.
pub fn incomplete(doc: &RunDoc) -> Option<String> {
    let balance = &doc.balance;
    if !balance.holds() {
        return Some("the balance does not hold".to_owned());
    }
    if balance.planned == 0 {
        return Some("nothing was planned".to_owned());
    }
    if balance.skipped > 0 {
        return Some(format!("{} of {} planned sessions were not attempted", balance.skipped, balance.planned));
    }
    too_many_errors(doc).then(|| {
        let (errors, planned, limit) = (balance.error, balance.planned, &doc.max_errors);
        format!("{errors} of {planned} sessions ended with an error, and `max_errors` is {limit}")
    })
}

/// The rows of the run that a rule is measured against, if it is: the one that is given, or the one that the rule names.
pub(crate) fn baseline_rows(session: &Session, rule: &Rule, given: Option<&str>) -> Outcome<Option<(String, Tally)>> {
    let Some(run) = baseline_of(rule, given)? else { return Ok(None) };
    let results = RunResults::open(session, &run, "gate")?;
    let rows = tally(&results, |_| {})?;
    Ok(Some((results.doc.id, rows)))
}

impl Gated {
    /// How it ends.
    pub fn ending(&self) -> Ending {
        match (&self.incomplete, self.verdict.verdict) {
            (Some(_), _) => Ending::Incomplete,
            (None, Answer::Fail) => Ending::Fail,
            (None, Answer::Inconclusive) => Ending::Inconclusive,
            (None, Answer::Pass) => Ending::Pass,
        }
    }

    /// The verdict with the data behind it.
    pub fn to_value(&self) -> Value<'static> {
        let Value::Object(mut value) = self.verdict.to_value() else { return Value::Null };
        let doc = &self.doc;
        value.set("digest", doc.digest.clone().into());
        value.set("dataset", doc.dataset.clone().into());
        value.set("version", count(doc.version));
        value.set("run", doc.id.clone().into());
        value.set("plan_digest", doc.plan_digest.clone().into());
        value.set("baseline", self.baseline.clone().map_or(Value::Null, Value::from));
        value.set("balance", balance_value(&doc.balance));
        value.set("incomplete", self.incomplete.clone().map_or(Value::Null, Value::from));
        value.into()
    }

    /// Puts it on record that the outcomes leave the store in a file.
    pub fn keep(&self, session: &Session, at: &str) -> Outcome<()> {
        copies::keep_results(session, &self.doc, "gate", session.viewer.place(), at).map(|_| ())
    }

    /// The verdict in one line, without values of labels: those are sealed.
    fn line(&self) -> String {
        let verdict = &self.verdict;
        let mut line = format!("gate {}", self.answer());
        match (verdict.value, names_labels(verdict)) {
            (_, false) => line.push_str(&format!(": {}", verdict.reason)),
            (Some(value), true) => line.push_str(&format!(": {}, n {}, {}", short(value), verdict.n, verdict.method)),
            (None, true) => line.push_str(&format!(": n {}, {}", verdict.n, verdict.method)),
        }
        if let Some(why) = &self.incomplete {
            line.push_str(&format!("; {why}"));
        }
        line
    }

    fn answer(&self) -> &'static str {
        if self.incomplete.is_some() { "incomplete" } else { self.verdict.verdict.name() }
    }

    /// The data behind the verdict, by name.
    fn facts(&self) -> [(&'static str, String); 7] {
        let doc = &self.doc;
        [
            ("dataset", doc.dataset.clone()),
            ("version", doc.version.to_string()),
            ("digest", doc.digest.clone()),
            ("run", doc.id.clone()),
            ("plan_digest", doc.plan_digest.clone()),
            ("balance", crate::results::balance_words(doc)),
            ("verdict", self.answer().to_owned()),
        ]
    }

    fn log(&self, session: &Session) -> Outcome<()> {
        let note = format!("run {}: {}", self.doc.id, self.answer());
        let mut entry = log::upkeep_entry(session, "gate", &self.doc.dataset, note);
        entry.version.clone_from(&self.doc.digest);
        entry.rows = self.doc.balance.planned;
        Ok(log::append(session, &entry, true)?)
    }
}

impl Case {
    fn of(row: &Row, named: bool) -> Case {
        const KINDS: [&str; 8] =
            ["timeout", "crashed", "protocol", "connection", "status", "refused", "agent", "setup"];
        let failure = row.failure.as_deref().unwrap_or_default();
        Case {
            name: if named { row.record_id.clone() } else { format!("row {}", row.number) },
            scenario: row.scenario.clone(),
            repeat: row.repeat,
            outcome: row.outcome,
            failure: KINDS.into_iter().find(|kind| failure.starts_with(kind)),
            run_ms: row.run_ms,
        }
    }
}

fn tally(results: &RunResults<'_>, mut also: impl FnMut(&Row)) -> Outcome<Tally> {
    let mut tally = Tally::new();
    results.each(|row| {
        tally.add(&row);
        also(&row);
        Ok(())
    })?;
    Ok(tally)
}

fn rule_of(results: &RunResults<'_>, given: Option<&Value<'_>>) -> Outcome<Rule> {
    let inner = |value: &Value<'_>| {
        let inner = value.as_object().and_then(|object| object.get("gate"));
        inner.unwrap_or(value).clone().into_owned()
    };
    let value = match given {
        Some(value) => Some(inner(value)),
        None => results.plan()?.as_object().and_then(|plan| plan.get("gate").cloned()),
    };
    let value = value.filter(|value| !value.is_null()).ok_or_else(|| {
        let message = format!("run `{}` has no gate in its plan, and none is given", results.doc.id);
        Refusal::usage(Code::E105, message, SIMPLE)
    })?;
    Rule::from_value(&value, &Path::root()).map_err(|problem| {
        Refusal::usage(problem.code, problem.message.clone(), problem.help.clone().unwrap_or_else(|| SIMPLE.to_owned()))
    })
}

/// The run that the rule is measured against, if it is.
fn baseline_of(rule: &Rule, given: Option<&str>) -> Outcome<Option<String>> {
    match (rule.baseline(), given) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            Err(Refusal::usage(Code::E105, "a baseline is given, and the rule compares with none", REGRESSION))
        }
        (Some(_), Some(run)) => Ok(Some(run.to_owned())),
        (Some(Some(run)), None) => Ok(Some(run.to_owned())),
        (Some(None), None) => {
            let message = "the rule compares with another run, and none is named";
            Err(Refusal::usage(Code::E105, message, "name it with `--baseline RUN`"))
        }
    }
}

/// Whether everybody may know the ids of the split.
fn ids_are_open(session: &Session, doc: &RunDoc) -> bool {
    let resolved = resolve(&session.store, &format!("{}@{}", doc.dataset, doc.version)).ok();
    let labels = resolved.and_then(|resolved| resolved.policy.in_split(&doc.split).ok());
    labels.is_some_and(|labels| labels.own().is_open())
}

/// Whether the words of a verdict may name values of labels.
fn names_labels(verdict: &Verdict) -> bool {
    verdict.label.is_some() || verdict.children.iter().any(names_labels)
}

#[cfg(test)]
mod tests;
