//! What the catalogue holds of runs: one document for each, and one for each pack of its results.
//!
//! *Invariant:* what is computed from sealed fields is kept as a sealed note; no secret is ever in a document.

use serde::{Deserialize, Serialize};

use crate::catalog::Key;
use crate::documents::Document;

/// A run: exactly which data, which targets, which graders, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunDoc {
    /// Its id; ids sort by time.
    pub id: String,
    /// The name of its plan.
    pub name: String,
    /// The slug of the dataset.
    pub dataset: String,
    /// The id of the dataset, which objects are sealed for.
    pub dataset_id: String,
    /// The number of the version.
    pub version: u64,
    /// The digest of the version.
    pub digest: String,
    /// The split.
    pub split: String,
    /// The plan in its native form, sealed: a filter may name answers.
    pub plan: String,
    /// The digest of the plan.
    pub plan_digest: String,
    /// Which numbers of sessions were planned: records, scenarios, repeats.
    pub selected: u64,
    /// The digest of the selected ids, in order.
    pub selection: String,
    /// The targets, one for each scenario.
    pub targets: Vec<RunTargetDoc>,
    /// The configurations and identities of the targets, sealed: an agent's canned answers are nobody's business.
    pub configs: Option<String>,
    /// Graders by name, with the digests of what they are.
    pub graders: Vec<(String, String)>,
    /// The metric that counts when none is named.
    pub primary: Option<String>,
    /// The number of the recipe of its keys.
    pub recipe: u32,
    /// When it began.
    pub started_at: String,
    /// When it ended; absent while it has not.
    pub finished_at: Option<String>,
    /// Who ran it.
    pub who: String,
    /// The version of the product.
    pub product: String,
    /// Operating system and processor.
    pub environment: String,
    /// planned = scored + unscored + error + skipped.
    pub balance: BalanceDoc,
    /// How many results came from the cache.
    pub cached: u64,
    /// The limit of errors, as a share of what was planned or a count: `10%` or `3`.
    pub max_errors: String,
    /// The signed checkpoint of the audit log when it ended, as canonical text.
    pub checkpoint: Option<String>,
    /// The names of the packs of its results, in order.
    pub packs: Vec<String>,
    /// The root of its results.
    pub root: Option<String>,
    /// Statistics and verdict, sealed.
    pub summary: Option<String>,
    /// Whether data that was streamed can be read again: `exact` or `provider_dependent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// A target of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunTargetDoc {
    /// The scenario.
    pub scenario: String,
    /// The kind.
    pub kind: String,
    /// The effective configuration as canonical text, with secrets by name; at rest it is among the sealed ones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub config: String,
    /// What of it is in run keys, as canonical text; at rest it is among the sealed ones.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub identity: String,
    /// The digest of that.
    pub digest: String,
    /// What it said it is.
    pub reported: Option<String>,
    /// `landlock`, `none`, or absent when no process of ours was started.
    pub isolation: Option<String>,
    /// Whether its results may be used by other runs.
    pub reusable: bool,
}

/// Where every planned session ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceDoc {
    /// All of them.
    pub planned: u64,
    /// Those with a score.
    pub scored: u64,
    /// Those that could not be scored.
    pub unscored: u64,
    /// Those that failed.
    pub error: u64,
    /// Those that were not attempted.
    pub skipped: u64,
}

impl BalanceDoc {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.planned == self.scored + self.unscored + self.error + self.skipped
    }
}

impl Document for RunDoc {
    const FORMAT: &'static str = "heldset/run/1";
}

/// The key of a run.
pub fn run_key(id: &str) -> Key {
    Key::new("run", id)
}

/// The key that says that a run cites a version: such a version is never dropped.
pub fn run_cite_key(dataset: &str, version: u64, run: &str) -> Key {
    Key::new("cite", format!("{dataset}\n{version}\nrun {run}"))
}

/// The key of a pack of results.
pub fn run_pack_key(dataset: &str, run: &str, pack: &str) -> Key {
    Key::new("run-pack", format!("{dataset}\n{run}\n{pack}"))
}
