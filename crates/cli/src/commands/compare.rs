//! `heldset compare`.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::Args;
use heldset_engine::compare::{CompareRequest, Comparison, MetricDifference, Moved, compare};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

/// How many records are listed.
const LISTED: usize = 20;

#[derive(Args)]
pub(crate) struct CompareArgs {
    /// The one run: its id, the beginning of it, or `last`
    #[arg(value_name = "A")]
    a: String,
    /// The other run
    #[arg(value_name = "B")]
    b: String,
}

/// Compares two runs, record by record.
pub(crate) fn run(cli: &Cli, args: &CompareArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let found = compare(&session, &CompareRequest { a: &args.a, b: &args.b })?;
    let out = if cli.json { json::value_text(&found.to_value()) + "\n" } else { text(&found) };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn text(found: &Comparison) -> String {
    // Writing to a String cannot fail.
    let mut out = String::new();
    for (letter, run) in [("A", &found.a), ("B", &found.b)] {
        let (name, cite) = (clean::line(&run.name), format!("{}@{}", run.dataset, run.version));
        let _infallible = writeln!(out, "{letter}  run {} ({name}) on {cite} {}", run.id, run.digest);
    }
    let left_out = &found.left_out;
    let (only_a, only_b) = (left_out.only_a, left_out.only_b);
    let _infallible = writeln!(
        out,
        "{} pairs; {} left out: {only_a} only in A, {only_b} only in B, {} not scored by both, {} with other content\n",
        found.pairs,
        left_out.total(),
        left_out.unscored,
        left_out.content_differs.len()
    );
    found.metrics.iter().for_each(|metric| out.push_str(&line(metric)));
    for name in &found.other_graders {
        let name = clean::line(name);
        let _infallible = writeln!(out, "warning: `{name}` is not the same grader in both runs");
    }
    for name in &found.other_metrics {
        let _infallible = writeln!(out, "only one run has `{}`", clean::line(name));
    }
    listed(&mut out, "regressed", &found.regressed.iter().map(moved).collect::<Vec<_>>());
    listed(&mut out, "improved", &found.improved.iter().map(moved).collect::<Vec<_>>());
    listed(&mut out, "content differs", &left_out.content_differs.iter().map(|id| clean::line(id)).collect::<Vec<_>>());
    out
}

fn line(metric: &MetricDifference) -> String {
    let interval = metric.interval.map_or("no interval".to_owned(), |(low, high)| format!("[{low:+.4}, {high:+.4}]"));
    let p = metric.p.map_or("–".to_owned(), |p| format!("{p:.4}"));
    format!(
        "{}  {:.4} → {:.4}  {:+.4} {interval}  p {p}  ({} pairs, {})\n",
        clean::line(&metric.name),
        metric.a,
        metric.b,
        metric.difference,
        metric.pairs,
        metric.method
    )
}

fn moved(moved: &Moved) -> String {
    let scenario = moved.scenario.as_deref().map(|name| format!(" ({})", clean::line(name))).unwrap_or_default();
    format!("{}{scenario}  {:.4} → {:.4}", clean::line(&moved.id), moved.a, moved.b)
}

fn listed(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    // Writing to a String cannot fail.
    let _infallible = writeln!(out, "\n{title}: {}", lines.len());
    for line in lines.iter().take(LISTED) {
        let _infallible = writeln!(out, "  {line}");
    }
    if lines.len() > LISTED {
        let _infallible = writeln!(out, "  … and {} more", lines.len() - LISTED);
    }
}
