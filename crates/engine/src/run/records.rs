//! The records of a run, twice: as the agent sees them, and as the evaluator does.
//!
//! *Invariant:* what goes to an agent comes from the agent's view alone; the evaluator's view never leaves the engine.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::digest::Digest;
use heldset_core::leaf::Leaves;
use heldset_core::record::Record;
use heldset_core::visibility::{Audience, Place, Viewer};
use heldset_store::{DatasetKeys, StoreError};

use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, Resolved, resolve};
use crate::rows::{Run, SplitRows};
use crate::session::Session;
use crate::view::{Batch, Look, View, VisibleSplit, cited};

/// The records of one split of a version.
pub(crate) struct Records<'s> {
    owner: View<'s>,
    agent: View<'s>,
    owner_split: VisibleSplit,
    agent_split: VisibleSplit,
    rows: SplitRows,
    runs: Vec<Run>,
    /// The number of the first record of each run of rows.
    firsts: Vec<u64>,
    total: u64,
    loaded: RefCell<Option<(usize, Arc<Pair>)>>,
    /// Answers from a split of their own, by id.
    answers: HashMap<String, (Arc<Batch>, usize)>,
    pub(crate) keys: DatasetKeys,
}

/// The same rows, seen twice.
pub(crate) struct Pair {
    agent: Batch,
    owner: Batch,
}

/// One record, seen twice.
#[derive(Clone)]
pub(crate) struct Seen {
    pair: Arc<Pair>,
    row: usize,
    answer: Option<(Arc<Batch>, usize)>,
}

impl<'s> Records<'s> {
    /// Opens the split of a version; both looks are logged.
    pub(crate) fn open(session: &'s Session, cite: &str, split: Option<&str>) -> Outcome<Self> {
        let viewer = Viewer::One(Audience::Agent);
        let owner = View::open(session, &Look { cite, split: None, place: None, purpose: "run" })?;
        let split = chosen(&owner, viewer, split)?;
        let exact = format!("{}@{}", owner.resolved.dataset.slug, owner.resolved.version.number);
        let look = Look { cite: &exact, split: Some(&split), place: Some(Place::AgentSandbox), purpose: "run" };
        let agent = View::seen_by(session, resolve(&session.store, &exact)?, &look, viewer)?;
        let take = |view: &View<'_>| {
            let found = view.splits.iter().find(|visible| visible.doc.name == split);
            found.map(|visible| VisibleSplit { doc: visible.doc.clone(), labels: visible.labels.clone() })
        };
        let missing = || StoreError::internal("a split that was there");
        let (owner_split, agent_split) = (take(&owner).ok_or_else(missing)?, take(&agent).ok_or_else(missing)?);
        let rows = owner.rows(&owner_split)?;
        let runs = rows.runs()?;
        let (mut total, mut firsts) = (0, Vec::with_capacity(runs.len()));
        for run in &runs {
            firsts.push(total);
            total += run.len();
        }
        let keys = resolve::keys_of(&session.store, &owner.resolved.dataset)?;
        let keys = keys.ok_or_else(|| StoreError::NoKey { dataset: owner.resolved.dataset.slug.clone() })?;
        let answers = answers(&owner, &split)?;
        let loaded = RefCell::new(None);
        Ok(Records { owner, agent, owner_split, agent_split, rows, runs, firsts, total, loaded, answers, keys })
    }

    /// The dataset and version.
    pub(crate) fn resolved(&self) -> &Resolved {
        &self.owner.resolved
    }

    /// The name of the split.
    pub(crate) fn split(&self) -> &str {
        &self.owner_split.doc.name
    }

    /// Whether anything in the split is sealed from agents.
    pub(crate) fn has_sealed(&self) -> bool {
        self.owner_split.labels.sealed().next().is_some() || !self.answers.is_empty()
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> u64 {
        self.total
    }

    /// Computes leaves of records.
    pub(crate) fn leaves(&self) -> Leaves {
        Leaves::committed(self.owner_split.labels.clone(), &self.keys.commit_key())
    }

    /// The record with this number; those near each other are read together.
    pub(crate) fn at(&self, number: u64) -> Outcome<Seen> {
        let index = self.firsts.partition_point(|first| *first <= number).saturating_sub(1);
        let known = self.loaded.borrow().as_ref().filter(|(at, _)| *at == index).map(|(_, pair)| Arc::clone(pair));
        let pair = match known {
            Some(pair) => pair,
            None => {
                let pair = Arc::new(self.load(index)?);
                *self.loaded.borrow_mut() = Some((index, Arc::clone(&pair)));
                pair
            }
        };
        let row = (number - self.firsts[index]) as usize;
        let answer = self.answers.get(pair.owner.id(row)).cloned();
        Ok(Seen { pair, row, answer })
    }

    fn load(&self, index: usize) -> Outcome<Pair> {
        let run = self.runs.get(index).ok_or_else(|| StoreError::internal("a record beyond the last"))?;
        let pack = &self.rows.packs[run.pack].1;
        let owner = Batch::of(self.owner.reading(&self.owner_split).groups(pack, &run.rows)?);
        let agent = Batch::of(self.agent.reading(&self.agent_split).groups(pack, &run.rows)?);
        Ok(Pair { agent, owner })
    }
}

impl Seen {
    /// The id.
    pub(crate) fn id(&self) -> &str {
        self.pair.owner.id(self.row)
    }

    /// What an agent sees.
    pub(crate) fn for_agent(&self) -> Result<Record<'_>, StoreError> {
        self.pair.agent.record(self.row)
    }

    /// What an evaluator sees, without answers from another split.
    pub(crate) fn bare(&self) -> Result<Record<'_>, StoreError> {
        self.pair.owner.record(self.row)
    }

    /// What an evaluator sees, with the answers.
    pub(crate) fn for_evaluator(&self) -> Result<Record<'_>, StoreError> {
        let mut record = self.bare()?;
        if let Some((answers, row)) = &self.answer {
            for (name, value) in answers.record(*row)?.fields.into_iter() {
                if !record.fields.contains(&name) {
                    record.fields.push_unique(name, value);
                }
            }
        }
        Ok(record)
    }

    /// The leaf, in hex, of the record together with its answer.
    pub(crate) fn leaf(&self, leaves: &mut Leaves) -> Result<String, StoreError> {
        let own: Digest = leaves.leaf(&self.bare()?);
        Ok(own.hex())
    }
}

/// The split that is run: the one that is named, or the only one of records that an agent may see.
fn chosen(owner: &View<'_>, agent: Viewer, named: Option<&str>) -> Outcome<String> {
    let open = |split: &&VisibleSplit| agent.sees(split.labels.own()) && !split.doc.files;
    let names: Vec<&str> = owner.splits.iter().filter(open).map(|split| split.doc.name.as_str()).collect();
    let version = cited(&owner.resolved);
    match (named, &names[..]) {
        (Some(name), names) if names.contains(&name) => Ok(name.to_owned()),
        (Some(name), names) => {
            let message = format!("{version} has no split `{name}` that an agent may see");
            Err(Refusal::unknown(message, name, names.iter().copied()))
        }
        (None, [only]) => Ok((*only).to_owned()),
        (None, names) if names.contains(&"default") => Ok("default".to_owned()),
        (None, []) => {
            let message = format!("{version} has no split of records that an agent may see");
            Err(Refusal::usage(Code::E053, message, "label the prompts `agent_visible`, and only the answers sealed"))
        }
        (None, names) => {
            let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("{version} has several splits with prompts: {}", listed.join(", "));
            Err(Refusal::usage(Code::E051, message, "name one with `split` in the plan"))
        }
    }
}

/// The answers for a split that lie in splits of their own.
fn answers(owner: &View<'_>, prompts: &str) -> Outcome<HashMap<String, (Arc<Batch>, usize)>> {
    let mut answers = HashMap::new();
    for split in owner.splits.iter().filter(|split| !split.doc.files) {
        if owner.resolved.policy.prompts_of(&split.doc.name) != Some(prompts) {
            continue;
        }
        let rows = owner.rows(split)?;
        for run in rows.runs()? {
            let batch = Arc::new(Batch::of(owner.reading(split).groups(&rows.packs[run.pack].1, &run.rows)?));
            for row in 0..batch.len() {
                answers.insert(batch.id(row).to_owned(), (Arc::clone(&batch), row));
            }
        }
    }
    Ok(answers)
}
