//! `heldset gate`.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use heldset_core::gate::Verdict;
use heldset_engine::gate::{Ending, GateRequest, Gated, gate};
use heldset_engine::session::Session;

use super::export::absolute;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};
use crate::whole::{self, WholeFile};

#[derive(Args)]
pub(crate) struct GateArgs {
    /// The run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// The rule, in YAML or JSON (default: the gate of the run's plan)
    #[arg(long, value_name = "FILE")]
    rule: Option<PathBuf>,
    /// The run that a regression is measured against
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Write the outcomes and the verdict as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print annotations for GitHub, and append to the summary of the step
    #[arg(long)]
    github: bool,
}

/// Says whether a run passes.
pub(crate) fn run(cli: &Cli, args: &GateArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let rule = args.rule.as_deref().map(super::load_document).transpose()?;
    let request = GateRequest { run: &args.run, rule: rule.as_ref(), baseline: args.baseline.as_deref() };
    let gated = gate(&session, &request)?;
    if let Some(path) = &args.junit {
        write_junit(&session, &gated, path)?;
    }
    print(cli, args, &gated).map_err(|error| super::broken(&error))?;
    if args.github {
        append_summary(&gated)?;
    }
    Ok(match gated.ending() {
        Ending::Incomplete => Exit::Incomplete,
        Ending::Fail => Exit::Different,
        Ending::Inconclusive => Exit::Inconclusive,
        Ending::Pass => Exit::Fine,
    })
}

fn print(cli: &Cli, args: &GateArgs, gated: &Gated) -> io::Result<()> {
    match (cli.json, args.github) {
        (true, github) => {
            // Standard output holds one document; GitHub reads standard error too.
            if github {
                write!(io::stderr(), "{}", gated.annotations())?;
            }
            writeln!(io::stdout(), "{}", json::value_text(&gated.to_value()))
        }
        (false, true) => write!(io::stdout(), "{}{}", gated.annotations(), text(gated)),
        (false, false) => write!(io::stdout(), "{}", text(gated)),
    }
}

fn text(gated: &Gated) -> String {
    let (doc, verdict) = (&gated.doc, &gated.verdict);
    let mut out = format!("{}: {}\n", verdict.verdict.name(), clean::line(&verdict.reason));
    conditions(verdict, 1, &mut out);
    if let Some(why) = &gated.incomplete {
        out.push_str(&format!("incomplete: {why}\n"));
    }
    let interval = verdict.interval.map(|(low, high)| format!(" [{low:.4}, {high:.4}]")).unwrap_or_default();
    let value = verdict.value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    out.push_str(&format!("value {value}{interval}, n {}, {}\n", verdict.n, verdict.method));
    if let Some(baseline) = &gated.baseline {
        out.push_str(&format!("against run {baseline}\n"));
    }
    out.push_str(&format!("run {} on {}@{} {}\n", doc.id, doc.dataset, doc.version, doc.digest));
    out
}

fn conditions(verdict: &Verdict, depth: usize, out: &mut String) {
    for child in &verdict.children {
        let label = child.label.as_ref().map(|(label, value)| match value {
            Some(value) => format!("{}={}: ", clean::line(label), clean::line(value)),
            None => format!("without {}: ", clean::line(label)),
        });
        let (indent, answer) = ("  ".repeat(depth), child.verdict.name());
        out.push_str(&format!("{indent}{answer}: {}{}\n", label.unwrap_or_default(), clean::line(&child.reason)));
        conditions(child, depth + 1, out);
    }
}

fn write_junit(session: &Session, gated: &Gated, path: &Path) -> Result<(), Failure> {
    whole::clean_up_when_interrupted();
    let text = gated.junit()?;
    let mut file = WholeFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::write(path, &error))?;
    gated.keep(session, &absolute(path))?;
    file.keep()
}

/// Appends to the file that GitHub names for it; elsewhere there is none.
fn append_summary(gated: &Gated) -> Result<(), Failure> {
    let Some(path) = env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return Ok(());
    };
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(gated.step_summary().as_bytes()));
    written.map_err(|error| Failure::write(&path, &error))
}
