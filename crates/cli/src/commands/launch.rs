//! `heldset launch`, hidden: becomes an agent after everything it may not reach is taken away.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Args;
use heldset_core::code::Code;
use heldset_outside::launch;

use crate::exit::{Exit, Failure};

/// What an agent's process ends with when it could not become the agent.
const NOT_STARTED: i32 = 126;

#[derive(Args)]
pub(crate) struct LaunchArgs {
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    argv: Vec<OsString>,
}

/// Becomes the program; comes back only when that was not possible.
pub(crate) fn run(args: &LaunchArgs) -> Result<Exit, Failure> {
    let Some(spec) = std::env::var(launch::VARIABLE).ok() else {
        let message = "`launch` is not for people: `heldset run` starts agents with it";
        return Err(Failure::usage(Code::E105, message, "see `heldset run --help`"));
    };
    let reason = launch::become_agent(&spec, &args.argv);
    // Whoever started it reads this as the agent's own words.
    let _ = writeln!(io::stderr(), "heldset: {reason}");
    std::process::exit(NOT_STARTED)
}
