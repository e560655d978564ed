//! `heldset promote`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::promote::{PromoteRequest, promote, promote_files};

use super::import::ImportListener;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::json;
use crate::tree::DiskTree;

#[derive(Args)]
pub(crate) struct PromoteArgs {
    /// The run
    #[arg(value_name = "RUN")]
    run: String,
    /// The dataset that gets the new version
    #[arg(long, value_name = "SLUG")]
    to: String,
    /// Promote what the agent answered (the default)
    #[arg(long, conflicts_with = "artifacts")]
    outputs: bool,
    /// Promote files that the run left, such as `./games/*.jsonl`
    #[arg(long, value_name = "FILE", num_args = 1..)]
    artifacts: Vec<PathBuf>,
    /// The split
    #[arg(long, value_name = "NAME", default_value = "default")]
    split: String,
    /// What is new
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Why agents may see it; without a reason it stays `internal`, as results are
    #[arg(long, value_name = "REASON")]
    declassify: Option<String>,
}

/// Makes what a run made a version.
pub(crate) fn run(cli: &Cli, args: &PromoteArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let request = PromoteRequest {
        run: &args.run,
        to: &args.to,
        split: &args.split,
        message: args.message.clone(),
        declassify: args.declassify.clone(),
    };
    let mut listener = ImportListener::new(cli);
    let imported = match args.artifacts.is_empty() {
        true => promote(&session, &request, &mut listener),
        false => promote_files(&session, &request, &DiskTree::of(&meant(&args.artifacts)?)?, &mut listener),
    }?;
    let Some(committed) = imported.committed else {
        return Err(Failure::faulty("what the run made has faults, so nothing is registered"));
    };
    let (slug, number, digest) = (committed.dataset.slug, committed.version.number, committed.version.digest);
    let printed = match cli.json {
        true => {
            let object = json::object([
                ("dataset", slug.into()),
                ("version", json::number(number)),
                ("digest", digest.into()),
                ("created", Value::Bool(committed.created)),
            ]);
            writeln!(io::stdout(), "{}", json::text(&object))
        }
        false if committed.created => writeln!(io::stdout(), "made {slug}@{number} {digest}"),
        false => writeln!(io::stdout(), "{slug}@{number} {digest} holds this already"),
    };
    printed.map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

/// The files that patterns mean, when the shell has not said it already.
fn meant(patterns: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for pattern in patterns {
        let found = crate::shelf::named(pattern).map_err(|error| Failure::open(pattern, &error))?;
        files.extend(found);
    }
    Ok(files)
}
