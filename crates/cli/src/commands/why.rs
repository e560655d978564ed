//! `heldset why`.

use std::io::{self, Write};

use clap::Args;
use heldset_engine::why::{WhyRequest, why};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::json;

#[derive(Args)]
pub(crate) struct WhyArgs {
    /// The run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// The record
    #[arg(value_name = "ID")]
    id: String,
    /// Only this scenario
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Only this repetition, from 0
    #[arg(long, value_name = "N")]
    repeat: Option<u64>,
}

/// Tells everything about one record of a run.
pub(crate) fn run(cli: &Cli, args: &WhyArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let scenario = args.scenario.as_deref();
    let request = WhyRequest { run: &args.run, id: &args.id, scenario, repeat: args.repeat };
    let explained = why(&session, &request)?;
    let out = if cli.json { json::value_text(&explained.to_value()) + "\n" } else { explained.text() };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}
