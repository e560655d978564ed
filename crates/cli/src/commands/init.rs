//! `heldset init`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::init::init;
use heldset_engine::ports::Clock;
use heldset_store::NoProbe;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place::{self, FOLDER, System};
use crate::print::json;

#[derive(Args)]
pub(crate) struct InitArgs {
    /// The folder that becomes the store (default: ./.heldset)
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Makes a store.
pub(crate) fn run(cli: &Cli, args: &InitArgs) -> Result<Exit, Failure> {
    let folder = args.folder.clone().or_else(|| cli.store.clone()).unwrap_or_else(|| PathBuf::from(FOLDER));
    let viewer = place::viewer(cli)?;
    let head = init(&folder, viewer, &System, &System.now(), Arc::new(NoProbe))?;
    let keys = place::keys_folder()?.join(&head.id);
    let printed = if cli.json {
        let object = json::object([
            ("store", Value::from(folder.display().to_string())),
            ("id", Value::from(head.id)),
            ("keys", Value::from(keys.display().to_string())),
        ]);
        writeln!(io::stdout(), "{}", json::text(&object))
    } else if cli.quiet {
        Ok(())
    } else {
        let (folder, keys) = (folder.display(), keys.display());
        writeln!(
            io::stdout(),
            "made the store {folder}\nits keys will lie in {keys}: back them up (`heldset keys export`)"
        )
    };
    printed.map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}
