//! `run`: agents are run on a version, scored, and the results stored under the digest of the data.
//!
//! *Invariant:* planned = scored + unscored + error + skipped. Each result is durable before it counts; a run that was
//! cut short goes on where it stopped.

mod cache;
mod feed;
mod grading;
mod journaled;
mod preflight;
mod record;
mod records;
mod select;
mod targets;
mod task;

pub use cache::Cache;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::plan::{Plan, Sessions};
use heldset_core::run::RECIPE;
use heldset_core::value::Value;
use heldset_store::documents::{SourceDoc, SourcesDoc};
use heldset_store::run::{BalanceDoc, RunDoc};
use heldset_store::{Journal, StoreError};

use crate::agents::{Agents, Outside};
use crate::gate::baseline_rows;
use crate::refusal::{Outcome, Reason, Refusal};
use crate::resolve::{dataset, parse, resolve, versions};
use crate::results::{self, Row, RowOutcome, RunResults, Writer, all_runs};
use crate::session::Session;
use crate::status;
use crate::summary::{Summary, Tally};
use cache::Known;
use feed::Feed;
use grading::Graders;
use record::{OUTPUTS, Recorded, Recorder, SCORES};
use records::Records;
use select::{Selected, select};
use targets::PreparedTarget;

/// Sessions that may wait to be recorded.
const WAITING: usize = 1024;

/// What is run, and how.
pub struct RunRequest<'r> {
    /// The plan.
    pub plan: &'r Plan,
    /// The dataset and version.
    pub cite: &'r str,
    /// The folder that relative paths of the plan start from.
    pub base: &'r Path,
    /// What an agent's process must not reach, beside the store and its keys.
    pub hidden: &'r [PathBuf],
    /// What is done about results of earlier runs.
    pub cache: Cache,
    /// Use the outputs of this run and no other; nothing is asked of an agent.
    pub outputs_of: Option<&'r str>,
    /// Refuse to run agents that could reach sealed data.
    pub require_isolation: bool,
    /// The version of the product.
    pub product: &'r str,
    /// Operating system and processor.
    pub environment: &'r str,
}

/// Who is told how a run goes.
pub trait RunListener: Send {
    /// Something worth knowing.
    fn warning(&mut self, text: &str);

    /// The run begins, or goes on with so many results.
    fn begun(&mut self, run: &RunDoc, journaled: u64);

    /// How far each scenario is.
    fn progress(&mut self, scenarios: &[ScenarioCount]);
}

/// How far a scenario is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioCount {
    /// Its id.
    pub name: String,
    /// How many sessions it has.
    pub planned: u64,
    /// How many passed.
    pub pass: u64,
    /// How many did not.
    pub fail: u64,
    /// How many failed.
    pub error: u64,
    /// How many could not be scored.
    pub unscored: u64,
    /// How many were not attempted.
    pub skipped: u64,
    /// How many came from the cache.
    pub cached: u64,
}

/// What a run would be.
pub struct DryRun {
    /// The slug of the dataset.
    pub dataset: String,
    /// The number of the version.
    pub version: u64,
    /// Its digest.
    pub digest: String,
    /// The split.
    pub split: String,
    /// How many records are selected.
    pub selected: u64,
    /// How many sessions each scenario has.
    pub scenarios: Vec<(String, u64)>,
    /// How many sessions there are.
    pub planned: u64,
    /// How many of them are in the cache.
    pub cached: u64,
    /// Why others are not.
    pub not_cached: Vec<String>,
    /// Graders by name.
    pub graders: Vec<String>,
    /// What is worth knowing before.
    pub warnings: Vec<String>,
}

/// A run that ended.
pub struct Ran {
    /// What is kept of it.
    pub doc: RunDoc,
    /// What its scores come to.
    pub summary: Summary,
}

/// All that is settled before the first session.
struct Ready<'s> {
    records: Records<'s>,
    selected: Selected,
    sessions: Sessions,
    agents: Box<dyn Agents>,
    targets: Vec<PreparedTarget>,
    graders: Graders,
    known: Known,
    warnings: Vec<String>,
}

/// Says what a run would be.
pub fn dry_run(session: &Session, request: &RunRequest<'_>, outside: &dyn Outside) -> Outcome<DryRun> {
    let ready = Ready::new(session, request, outside)?;
    let mut scenarios: Vec<(String, u64)> =
        request.plan.scenarios.iter().map(|scenario| (scenario.id.clone(), 0)).collect();
    let (mut cached, mut not_cached) = (0, Vec::new());
    for (number, place) in (0..).zip(ready.sessions.iter()) {
        scenarios[place.scenario].1 += 1;
        let seen = ready.records.at(ready.selected.rows[place.record])?;
        let slot = task::Slot { number, scenario: place.scenario, repeat: place.repeat };
        let target = &ready.targets[place.scenario];
        let prepared = task::prepare(slot, &seen.for_agent()?, &seen.bare()?, &request.plan.memory_seeds, target);
        cached += u64::from(prepared.is_ok_and(|prepared| ready.known.get(&prepared.key.hex()).is_some()));
    }
    let planned = ready.sessions.len();
    if cached < planned {
        not_cached = ready.reasons(request.cache);
    }
    let resolved = ready.records.resolved();
    Ok(DryRun {
        dataset: resolved.dataset.slug.clone(),
        version: resolved.version.number,
        digest: resolved.version.digest.clone(),
        split: ready.records.split().to_owned(),
        selected: ready.selected.rows.len() as u64,
        scenarios,
        planned,
        cached,
        not_cached,
        graders: ready.graders.iter().map(|grader| grader.name().to_owned()).collect(),
        warnings: ready.warnings,
    })
}

/// The names of the files that a dataset was read from, in all its versions: an agent must not find answers in them.
pub fn source_names(session: &Session, cite: &str) -> Outcome<Vec<String>> {
    session.must_own("run")?;
    status::usable(&dataset(&session.store, &parse(cite)?.slug)?, "run")?;
    let resolved = resolve(&session.store, cite)?;
    let mut names = BTreeSet::new();
    for version in versions(&session.store, &resolved.dataset)? {
        let sources: Vec<SourceDoc> = match version.sources {
            SourcesDoc::Open(sources) => sources,
            SourcesDoc::Sealed(note) => session.store.open_note(&resolved.dataset.id, &note)?,
        };
        names.extend(sources.into_iter().map(|source| source.name));
    }
    Ok(names.into_iter().collect())
}

/// Runs a plan to its end.
pub fn run(
    session: &Session,
    request: &RunRequest<'_>,
    outside: &dyn Outside,
    listener: &mut dyn RunListener,
) -> Outcome<Ran> {
    let mut ready = Ready::new(session, request, outside)?;
    ready.warnings.iter().for_each(|warning| listener.warning(warning));
    ready.check_isolation(request, listener)?;
    let plan = request.plan;
    let baseline = match &plan.gate {
        Some(rule) => baseline_rows(session, rule, None)?.map(|(_, rows)| rows),
        None => None,
    };
    let mut doc = ready.document(session, request)?;
    let dataset = doc.dataset_id.clone();
    let opened = Journal::open(&session.store, &doc.id, &dataset, ready.records.keys.clone(), &[OUTPUTS, SCORES]);
    let (mut journal, frames) = opened.map_err(|error| in_progress(error, &doc.id))?;
    results::begin(session, &doc)?;
    let journaled = journaled::read(&frames[0], &frames[1])?;
    drop(frames);
    listener.begun(&doc, journaled.len() as u64);
    let at_a_time = usize::try_from(plan.max_concurrent).unwrap_or(usize::MAX).max(1);
    let recorder = Recorder {
        journal: &mut journal,
        graders: &ready.graders,
        helpers: outside.helpers(request.base, at_a_time)?,
        writer: Writer::new(&session.store, &dataset, &doc.id, &ready.records.keys)?,
        leaves: ready.records.leaves(),
        when: plan.grade,
        scenarios: ready.counts(plan),
        listener,
    };
    let (send, receive) = sync_channel(WAITING);
    let feed = RefCell::new(Feed {
        session,
        plan,
        records: &ready.records,
        selected: &ready.selected,
        sessions: &ready.sessions,
        targets: &ready.targets,
        known: &ready.known,
        cache: if request.outputs_of.is_some() { Cache::Require } else { request.cache },
        journaled,
        send,
        next: 0,
        held: HashMap::new(),
        problem: None,
        closed: false,
    });
    let agents = &mut ready.agents;
    let id = doc.id.clone();
    let recorded = std::thread::scope(|scope| {
        let recording = scope.spawn(move || recorder.run(&receive));
        agents.drive(&mut || feed.borrow_mut().next(), &mut |ended| feed.borrow_mut().ended(ended));
        let Feed { problem, send, .. } = feed.into_inner();
        drop(send);
        let recorded = recording.join().unwrap_or_else(|_| Err(internal("the recorder stopped")));
        problem.map_or(recorded, Err)
    });
    let planned = ready.sessions.len();
    let ran = recorded.and_then(|recorded| finish(session, plan, &mut doc, recorded, planned, baseline.as_ref()));
    let ran = ran.map_err(|refusal| cut_short(refusal, &id))?;
    journal.remove()?;
    Ok(ran)
}

/// Closes a run: the balance, the statistics, the checkpoint of the log.
fn finish(
    session: &Session,
    plan: &Plan,
    doc: &mut RunDoc,
    recorded: Recorded<'_>,
    planned: u64,
    baseline: Option<&Tally>,
) -> Outcome<Ran> {
    let Recorded { writer, tally, balance, cached, reported } = recorded;
    if balance.planned != planned || !balance.holds() {
        return Err(internal(&format!("{} of {planned} sessions were recorded", balance.planned)));
    }
    let written = writer.finish()?;
    let summary = tally.finish(doc.primary.as_deref(), plan.gate.as_ref(), baseline);
    (doc.balance, doc.cached) = (balance, cached);
    for (target, reported) in doc.targets.iter_mut().zip(reported) {
        target.reported = reported;
    }
    doc.finished_at = Some(session.clock.now());
    doc.summary = Some(results::sealed(&session.store, &doc.dataset_id, &summary.to_value())?);
    let checkpoint = crate::audit::checkpoint(session)?;
    doc.checkpoint = Some(text(&checkpoint.to_value()));
    results::finish(session, doc, written)?;
    Ok(Ran { doc: doc.clone(), summary })
}

impl<'s> Ready<'s> {
    fn new(session: &'s Session, request: &RunRequest<'_>, outside: &dyn Outside) -> Outcome<Self> {
        session.must_own("run")?;
        let plan = request.plan;
        let graders = Graders::of(plan)?;
        let records = Records::open(session, request.cite, plan.select.split.as_deref())?;
        let mut selected = select(session, &records, &plan.select)?;
        let ids: Vec<&str> = selected.ids.iter().map(String::as_str).collect();
        let sessions = plan.sessions(&ids).map_err(planless)?;
        drop(ids);
        // A million of them would be kept for nothing: sessions find their records by number.
        selected.ids = Vec::new();
        if sessions.is_empty() {
            let message = "the design of the plan pairs no record with a scenario, so nothing is planned";
            return Err(Refusal::usage(
                Code::E053,
                message,
                "look at `couplings` and the pinned record of `execution.design`",
            ));
        }
        let (agents, targets) = match request.outputs_of {
            Some(run) => targets::remember(&RunResults::open(session, run, "score")?.doc)?,
            None => targets::prepare(plan, request, outside)?,
        };
        check_scenarios(plan, &targets)?;
        let mut warnings = preflight::check(plan, &records, (&selected, &sessions), &targets, &graders)?;
        warnings.extend(status::usable(&records.resolved().dataset, "run")?.map(|fault| fault.message));
        let known = match (request.outputs_of, request.cache) {
            (Some(run), _) => Known::of_run(session, run)?,
            (None, Cache::Use | Cache::Require) => Known::load(session, &targets)?,
            (None, Cache::Refresh | Cache::Off) => Known::default(),
        };
        Ok(Ready { records, selected, sessions, agents, targets, graders, known, warnings })
    }

    /// The document of a run that goes on, or of a new one.
    fn document(&self, session: &Session, request: &RunRequest<'_>) -> Outcome<RunDoc> {
        let plan = request.plan;
        let resolved = self.records.resolved();
        let digest = plan.digest().to_string();
        let runs = all_runs(session)?;
        let same = |run: &&RunDoc| {
            let data = (&run.digest, &run.dataset_id) == (&resolved.version.digest, &resolved.dataset.id);
            run.finished_at.is_none() && run.plan_digest == digest && data
        };
        if let Some(unfinished) = runs.iter().rev().find(same) {
            return Ok(unfinished.clone());
        }
        let mut targets: Vec<_> = self.targets.iter().map(PreparedTarget::to_doc).collect();
        targets.iter_mut().for_each(|target| target.reusable &= request.cache != Cache::Off);
        let graders = self.graders.digests();
        Ok(RunDoc {
            id: new_id(session, &runs),
            name: plan.name.clone(),
            dataset: resolved.dataset.slug.clone(),
            dataset_id: resolved.dataset.id.clone(),
            version: resolved.version.number,
            digest: resolved.version.digest.clone(),
            split: self.records.split().to_owned(),
            plan: results::sealed(&session.store, &resolved.dataset.id, &plan.to_value())?,
            plan_digest: digest,
            selected: self.selected.rows.len() as u64,
            selection: self.selected.digest.to_string(),
            configs: Some(results::sealed_configs(&session.store, &resolved.dataset.id, &targets)?),
            targets,
            primary: graders.first().map(|(name, _)| name.clone()),
            graders,
            recipe: RECIPE,
            started_at: session.clock.now(),
            finished_at: None,
            who: session.user.clone(),
            product: request.product.to_owned(),
            environment: request.environment.to_owned(),
            balance: BalanceDoc { planned: self.sessions.len(), ..BalanceDoc::default() },
            cached: 0,
            max_errors: plan.max_errors.to_string(),
            checkpoint: None,
            packs: Vec::new(),
            root: None,
            summary: None,
            replay: crate::source::replay_of(&resolved.version).map(str::to_owned),
        })
    }

    fn check_isolation(&self, request: &RunRequest<'_>, listener: &mut dyn RunListener) -> Outcome<()> {
        let open = self.targets.iter().any(|target| target.facts.isolation == Some("none"));
        if !open || request.outputs_of.is_some() {
            return Ok(());
        }
        if request.require_isolation {
            let message = "this machine cannot keep an agent's process away from the store";
            let help = "run on a kernel with Landlock (5.13 and later), or without `--require-isolation`";
            return Err(Refusal::denied(Code::E123, message, help));
        }
        if self.records.has_sealed() {
            listener.warning(
                "ISOLATION IS OFF: this kernel has no Landlock, so the agent's process could read the store, its keys and the plan",
            );
        }
        Ok(())
    }

    fn counts(&self, plan: &Plan) -> Vec<ScenarioCount> {
        let name = |id: &String| ScenarioCount { name: id.clone(), ..ScenarioCount::default() };
        let mut counts: Vec<ScenarioCount> = plan.scenarios.iter().map(|scenario| name(&scenario.id)).collect();
        self.sessions.iter().for_each(|place| counts[place.scenario].planned += 1);
        counts
    }

    /// Why sessions are not in the cache.
    fn reasons(&self, cache: Cache) -> Vec<String> {
        if matches!(cache, Cache::Refresh | Cache::Off) {
            return vec!["the cache is not looked at".to_owned()];
        }
        let mut reasons: Vec<String> = Vec::new();
        for target in self.targets.iter().filter(|target| !target.is_reusable()) {
            let kind = &target.facts.kind;
            let reason =
                format!("`{kind}` may answer otherwise tomorrow: give the target a `revision` to use results again");
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if reasons.is_empty() {
            reasons.push(match self.known.len() {
                0 => "no finished run has the same target".to_owned(),
                _ => "these inputs were not run, or failed, with the same target".to_owned(),
            });
        }
        reasons
    }
}

impl ScenarioCount {
    /// How many sessions ended.
    pub fn done(&self) -> u64 {
        self.pass + self.fail + self.error + self.unscored + self.skipped
    }

    fn add(&mut self, row: &Row) {
        *match row.outcome {
            RowOutcome::Pass => &mut self.pass,
            RowOutcome::Fail => &mut self.fail,
            RowOutcome::Error => &mut self.error,
            RowOutcome::Unscored => &mut self.unscored,
            RowOutcome::Skipped => &mut self.skipped,
        } += 1;
        self.cached += u64::from(row.cached.is_some());
    }
}

fn check_scenarios(plan: &Plan, targets: &[PreparedTarget]) -> Outcome<()> {
    if plan.scenarios.len() == targets.len() {
        return Ok(());
    }
    let message = format!("the plan has {} scenarios, and the run had {}", plan.scenarios.len(), targets.len());
    Err(Refusal::usage(Code::E103, message, "score with the scenarios of the run"))
}

/// An id that sorts after those of all runs so far.
fn new_id(session: &Session, runs: &[RunDoc]) -> String {
    let number_of = |run: &RunDoc| run.id.get(1..)?.split('-').next()?.parse::<u64>().ok();
    let last = runs.iter().filter_map(number_of).max().unwrap_or(0);
    format!("r{:05}-{}", last + 1, &session.new_id()[..6])
}

/// A run that could not be ended: what is durable stays, and it can go on.
fn cut_short(mut refusal: Box<Refusal>, run: &str) -> Box<Refusal> {
    if refusal.reason == Reason::Usage {
        refusal.reason = Reason::Incomplete;
    }
    refusal.help = format!("{}; run the plan again, and run `{run}` goes on with what is saved", refusal.help);
    refusal
}

fn in_progress(error: StoreError, run: &str) -> Box<Refusal> {
    match error {
        StoreError::Locked => {
            let message = format!("run `{run}` of the same plan and version is in progress");
            Refusal::usage(Code::E119, message, "wait until it ends; its results can then be used again")
        }
        error => error.into(),
    }
}

fn planless(problem: Problem) -> Box<Refusal> {
    let help = problem.help.unwrap_or_else(|| format!("see `heldset explain {}`", problem.code.name()));
    Refusal::usage(problem.code, problem.message, help)
}

fn text(value: &Value<'_>) -> String {
    String::from_utf8(heldset_core::canonical::bytes(value)).expect("canonical bytes are UTF-8")
}

fn internal(what: &str) -> Box<Refusal> {
    StoreError::internal(what).into()
}
