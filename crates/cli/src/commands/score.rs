//! `heldset score`.

use std::path::{Path, PathBuf};

use clap::Args;
use heldset_engine::run::{Cache, RunRequest};
use heldset_engine::score::plan_of;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::plans::{self, PlanArgs};

#[derive(Args)]
pub(crate) struct ScoreArgs {
    /// The run whose outputs are scored again
    #[arg(value_name = "RUN")]
    run: String,
    /// Score with the graders and the gate of this plan (default: the run's own)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Score against this version, such as one with corrected answers (default: the run's own)
    #[arg(long, value_name = "SLUG@V")]
    dataset: Option<String>,
    #[command(flatten)]
    about: PlanArgs,
}

/// Scores the outputs of a run again.
pub(crate) fn run(cli: &Cli, args: &ScoreArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let (own, version) = plan_of(&session, &args.run)?;
    let mut plan = plans::from_value(&own)?;
    let mut base = PathBuf::from(".");
    if let Some(path) = &args.plan {
        let named = plans::load(cli, path, &args.about)?;
        (plan.graders, plan.gate, plan.grade) = (named.plan.graders, named.plan.gate, named.plan.grade);
        base = named.base;
    }
    let environment = super::run::environment();
    let request = RunRequest {
        plan: &plan,
        cite: args.dataset.as_deref().unwrap_or(&version),
        base: Path::new(&base),
        hidden: &[],
        cache: Cache::Require,
        outputs_of: Some(&args.run),
        require_isolation: false,
        product: env!("CARGO_PKG_VERSION"),
        environment: &environment,
    };
    super::run::execute(cli, &session, &request)
}
