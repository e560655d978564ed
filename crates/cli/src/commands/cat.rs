//! `heldset cat`.

use std::io::{self, Write};

use clap::Args;
use heldset_engine::cat::{CatRequest, cat};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;

#[derive(Args)]
pub(crate) struct CatArgs {
    /// The dataset and version, such as `trips@3`
    #[arg(value_name = "SLUG[@V]")]
    cite: String,
    /// Only this split
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Only these records, in this order
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    ids: Vec<String>,
    #[command(flatten)]
    to: super::PlaceArgs,
}

/// Prints records as an audience sees them.
pub(crate) fn run(cli: &Cli, args: &CatArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let place = args.to.place()?;
    let request = CatRequest { cite: &args.cite, split: args.split.as_deref(), ids: &args.ids, place };
    let mut out = io::stdout().lock();
    cat(&session, &request, &mut out)?;
    out.flush().map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}
