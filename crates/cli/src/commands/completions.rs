//! `heldset completions`.

use std::io;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::{Exit, Failure};

/// Prints completions for a shell.
pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    clap_complete::generate(args.shell, &mut Cli::command(), "heldset", &mut io::stdout());
    Ok(Exit::Fine)
}
