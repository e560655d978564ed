//! `heldset runs`.

use std::io::{self, Write};

use clap::Args;
use heldset_engine::runs::{Listed, runs};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::clean;

#[derive(Args)]
pub(crate) struct RunsArgs {
    /// Only runs on this dataset
    #[arg(long, value_name = "SLUG")]
    dataset: Option<String>,
}

/// Lists runs, oldest first.
pub(crate) fn run(cli: &Cli, args: &RunsArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let listed = runs(&session, args.dataset.as_deref())?;
    let out = match cli.json {
        true => super::list_text(listed.iter().map(Listed::to_value)),
        false => listed.iter().map(line).collect(),
    };
    io::stdout().write_all(out.as_bytes()).map_err(|error| super::broken(&error))?;
    if listed.is_empty() && !cli.json && !cli.quiet {
        let said = writeln!(io::stderr(), "there is no run yet: start one with `heldset run PLAN`");
        said.map_err(|error| super::broken(&error))?;
    }
    Ok(Exit::Fine)
}

fn line(run: &Listed) -> String {
    let mut line = format!(
        "{}  {}  {}@{}  {}  {}",
        run.id,
        clean::line(&run.name),
        run.dataset,
        run.version,
        run.started_at,
        run.state()
    );
    let Some(ended) = &run.ended else { return format!("{line}  planned {}\n", run.planned) };
    let balance = &ended.balance;
    line.push_str(&format!(
        "  planned {} = scored {} + unscored {} + error {} + skipped {}",
        balance.planned, balance.scored, balance.unscored, balance.error, balance.skipped
    ));
    if let Some(rate) = ended.pass_rate {
        line.push_str(&format!("  passed {:.1} %", rate * 100.0));
    }
    if let Some(verdict) = &ended.verdict {
        line.push_str(&format!("  gate {verdict}"));
    }
    line + "\n"
}
