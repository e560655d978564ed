//! One file per command: resolve, call one verb, print.

mod check;
mod completions;
mod convert;
mod explain;

use std::path::Path;

use heldset_core::json;
use heldset_core::schema::Schema;
use heldset_dialect::ReadOptions;

use crate::args::{Cli, Command, ReadArgs};
use crate::exit::{Exit, Failure};

/// Carries out a command.
pub(crate) fn run(cli: &Cli) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Check(args) => check::run(cli, args),
        Command::Convert(args) => convert::run(cli, args),
        Command::Explain(args) => explain::run(cli, args),
        Command::Completions(args) => completions::run(args),
    }
}

/// How to read, as the user asked.
fn read_options(args: &ReadArgs) -> Result<ReadOptions, Failure> {
    let schema = args.schema.as_deref().map(load_schema).transpose()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    Ok(ReadOptions { format: args.format(), id: args.id_rule(), schema, threads })
}

fn load_schema(path: &Path) -> Result<Schema, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::open(path, &error))?;
    let name = path.display().to_string();
    let value = json::read(&text).map_err(|error| {
        let problem = heldset_core::fault::Problem::new(
            heldset_core::code::Code::E037,
            error.path.clone(),
            format!("the schema is not JSON: {error}"),
        );
        Failure::invalid(&name, problem.of_file())
    })?;
    Schema::from_value(&value).map_err(|problem| Failure::invalid(&name, problem.of_file()))
}
