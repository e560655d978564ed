//! `heldset completions`.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::exit::{Exit, Failure};

/// Prints completions for a shell.
pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "heldset", &mut text);
    let printed = io::stdout().write_all(&text);
    printed.map_err(|error| Failure::write(Path::new("standard output"), &error))?;
    Ok(Exit::Fine)
}
