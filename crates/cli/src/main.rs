//! The one `main`: commands, configuration, printing.
//!
//! *Invariant:* the only reader of the environment and the only writer to standard output and standard error.

mod args;
mod commands;
mod disk;
mod exit;
mod labels;
mod layout;
mod place;
mod plans;
mod print;
mod shelf;
mod sources;
mod tree;
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
    let audiences = std::env::args_os().take_while(|argument| argument != "--");
    if audiences.filter(|argument| argument == "--as" || argument.to_string_lossy().starts_with("--as=")).count() > 1 {
        return exit::two_audiences(&cli);
    }
    match commands::run(&cli) {
        Ok(code) => code.into(),
        Err(failure) => failure.report(&cli),
    }
}
