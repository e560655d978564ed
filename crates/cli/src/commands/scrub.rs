//! `heldset scrub`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::scrub::{Damage, scrub};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::progress::{Bar, Progress};
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct ScrubArgs {}

/// Read every object and every entry of the store.
pub(crate) fn run(cli: &Cli, _args: &ScrubArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let mut listener = Bar(Progress::of("scrub", None, cli.quiet));
    let scrubbed = scrub(&session, &mut listener);
    listener.0.finish();
    let scrubbed = scrubbed?;
    let problem = |damage: &Damage| {
        let (path, problem) = (damage.path.clone(), damage.problem.clone());
        Value::Object(json::object([("path", Value::from(path)), ("problem", Value::from(problem))]))
    };
    let out = if cli.json {
        let object = json::object([
            ("objects", json::number(scrubbed.objects)),
            ("bytes", json::number(scrubbed.bytes)),
            ("problems", Value::Array(scrubbed.problems.iter().map(problem).collect())),
            ("orphans", json::number(scrubbed.orphans)),
        ]);
        format!("{}\n", json::text(&object))
    } else {
        let lines = scrubbed.problems.iter();
        let mut out: String =
            lines.map(|damage| format!("{}: {}\n", clean::line(&damage.path), clean::line(&damage.problem))).collect();
        if !cli.quiet {
            let orphans = match scrubbed.orphans {
                0 => String::new(),
                count => format!(", {count} that nothing refers to (see `heldset gc`)"),
            };
            let (objects, bytes, problems) = (scrubbed.objects, scrubbed.bytes, scrubbed.problems.len());
            out.push_str(&format!("{objects} objects, {bytes} bytes, {problems} problems{orphans}\n"));
        }
        out
    };
    io::stdout().write_all(out.as_bytes()).map_err(|error| super::broken(&error))?;
    Ok(if scrubbed.problems.is_empty() { Exit::Fine } else { Exit::Integrity })
}
