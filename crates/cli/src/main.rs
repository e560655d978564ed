//! The one `main`: commands, configuration, printing.
//!
//! *Invariant:* the only reader of the environment and the only writer to standard output and standard error.

mod args;
mod commands;
mod disk;
mod exit;
mod print;
mod whole;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error, wants_json),
    };
    match commands::run(&cli) {
        Ok(code) => code.into(),
        Err(failure) => failure.report(&cli),
    }
}
