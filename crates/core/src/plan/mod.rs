//! A plan: which records, which targets, how often, scored and judged how. Every dialect of plans becomes this one type.
//!
//! *Invariant:* a plan is complete before the first call: all files it names are read, all names in it are known.

mod checks;
mod limit;
mod native;
mod selection;
mod sessions;
mod slug;

pub use selection::Admitted;
pub use sessions::{Session, Sessions};
pub use slug::file_slug;

use crate::digest::{Digest, tagged_value};
use crate::fault::Problem;
use crate::filter::Filter;
use crate::gate::Rule;
use crate::seed::Seed;
use crate::value::{Object, Value};

/// A plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whose form it was written in: it decides a few defaults.
    pub origin: Origin,
    /// What is run.
    pub dataset: DatasetRef,
    /// Which of its records.
    pub select: Selection,
    /// Who is asked, before the overlays of scenarios.
    pub target: Object<'static>,
    /// At least one.
    pub scenarios: Vec<Scenario>,
    /// What every agent knows before.
    pub memory_seeds: Vec<Seed>,
    /// How often each record is run in each scenario; at least 1.
    pub n_runs: u64,
    /// In which order.
    pub order: Order,
    /// Which records meet which scenarios.
    pub design: Design,
    /// More sessions than this are refused before the first.
    pub max_executions: Option<u64>,
    /// How many sessions at a time.
    pub max_concurrent: u64,
    /// Seconds that a whole session may take.
    pub run_timeout: Option<f64>,
    /// More errors than this make the run incomplete.
    pub max_errors: Limit,
    /// How outputs are scored, by name, in order; the first is what counts where no metric is named. Empty: `contains` where there is an expected output.
    pub graders: Vec<GraderSpec>,
    /// When graders see sealed fields.
    pub grade: GradeWhen,
    /// What decides.
    pub gate: Option<Rule>,
    /// A Python function that is called before the first session: `file.py:function`.
    pub setup_script: Option<String>,
}

/// Whose form a plan was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An experiment of mas-lab.
    Lab,
    /// A suite of Letta.
    Letta,
    /// Our own.
    Native,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatasetRef {
    /// A file, relative to the plan; imported first.
    Path(String),
    /// A dataset in the store, as `slug`, `slug@3`, `slug@tag` or `slug@sha256:…`.
    Cite(String),
}

/// Which records, in which order of narrowing: filter, group, labels, tags, ids, failed, shard, sample, limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The split; the only one with prompts when absent.
    pub split: Option<String>,
    /// What must hold of a record.
    pub filter: Option<Filter>,
    /// `category` or `group` (also in `metadata`) is this.
    pub group: Option<String>,
    /// Labels and their values.
    pub labels: Option<Object<'static>>,
    /// Tags that must all be there.
    pub tags_all: Vec<String>,
    /// Tags of which one must be there.
    pub tags_any: Vec<String>,
    /// Tags that must not be there.
    pub tags_none: Vec<String>,
    /// Ids, as globs with `*` and `?`.
    pub ids: Vec<String>,
    /// Only records that did not pass in this run.
    pub failed_from: Option<String>,
    /// One part of `n`, from 1: record number `k` is in part `k mod n + 1`.
    pub shard: Option<(u64, u64)>,
    /// A random choice.
    pub sample: Option<Sample>,
    /// The first so many.
    pub limit: Option<u64>,
}

/// A random choice that is the same for the same seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How many.
    pub n: u64,
    /// What decides which.
    pub seed: u64,
    /// A field, by dotted path, whose values keep their shares.
    pub stratify_by: Option<String>,
}

/// A variant of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its id.
    pub id: String,
    /// What is merged over the target's configuration, the flavour included.
    pub overlay: Object<'static>,
}

/// In which order sessions are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All records of all scenarios once, then again.
    Coverage,
    /// A record as often as it is run, then the next.
    Depth,
}

/// Which records meet which scenarios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Design {
    /// Each meets each.
    Cartesian,
    /// Those that are listed: a scenario and the globs of its ids.
    Coupled(Vec<(String, Vec<String>)>),
    /// The first scenario meets all records; every other one meets the first record alone, or the other way round.
    OneFactor(Factor),
}

/// What is varied when everything else is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Factor {
    /// All scenarios with one record, the first when none is named.
    Scenarios(Option<String>),
    /// All records with one scenario, the first when none is named.
    Records(Option<String>),
}

/// A number or a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// At most so many.
    Count(u64),
    /// At most this share, from 0 to 1.
    Share(f64),
}

/// When graders see sealed fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradeWhen {
    /// When the output of the record is stored.
    AfterRecord,
    /// When the outputs of all records are.
    AfterRun,
}

/// A grader as it is written: the crate `grade` reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct GraderSpec {
    /// Its name, the key of its scores.
    pub name: String,
    /// Its configuration; files that it names are read into it.
    pub config: Object<'static>,
}

impl Plan {
    /// The plan in its native form, which reads back to the same plan (of native origin: all defaults are written out).
    pub fn to_value(&self) -> Value<'static> {
        native::write(self)
    }

    /// What two plans have in common that ask for the same: the digest of the native form.
    pub fn digest(&self) -> Digest {
        tagged_value("plan", &self.to_value())
    }

    /// What its parts have wrong with one another: repeated or unknown names, secrets in the clear. The paths are
    /// those of the native form.
    pub fn problems(&self) -> Vec<Problem> {
        checks::problems(self)
    }

    /// Every session of the plan over the selected records, in order; refused when there are more than it allows.
    pub fn sessions(&self, ids: &[&str]) -> Result<Sessions, Problem> {
        Sessions::new(self, ids)
    }
}
