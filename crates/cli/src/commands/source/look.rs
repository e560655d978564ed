//! `heldset source test` and `heldset source preview`.

use std::io::{self, Write};
use std::time::Instant;

use clap::Args;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};
use heldset_engine::refusal::Refusal;
use heldset_engine::session::Session;
use heldset_engine::source::{Previewed, Tested, preview as preview_sources, test as test_sources};

use super::reaching;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::print::{self, Severity, clean, json};

/// So many rows a test reads when nothing is said.
const TESTED: u64 = 1000;
/// So many rows a preview shows when nothing is said.
const SHOWN: u64 = 5;

#[derive(Args)]
pub(super) struct LookArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
    /// The id or the name of a source; all of them when absent
    #[arg(value_name = "SOURCE")]
    sources: Vec<String>,
    /// The most rows that are read of each source (default: 1000 for a test, 5 for a preview)
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// Tests sources.
pub(super) fn test(cli: &Cli, session: &Session, args: &LookArgs) -> Result<Exit, Failure> {
    let began = Instant::now();
    let tested =
        reaching(|reach| test_sources(session, reach, &args.slug, &args.sources, args.limit.unwrap_or(TESTED)))?;
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tested.iter().for_each(|tested| warn(cli, &tested.source_name, &tested.warnings));
    let out = match cli.json {
        true => json::text(&test_object(&tested, took)) + "\n",
        false => tested.iter().map(test_text).collect(),
    };
    let works = tested.iter().all(|tested| tested.error.is_none());
    let exit = if works { Exit::Fine } else { Exit::Incomplete };
    io::stdout().write_all(out.as_bytes()).map(|()| exit).map_err(|error| crate::commands::broken(&error))
}

/// Previews sources.
pub(super) fn preview(cli: &Cli, session: &Session, args: &LookArgs) -> Result<Exit, Failure> {
    let previewed =
        reaching(|reach| preview_sources(session, reach, &args.slug, &args.sources, args.limit.unwrap_or(SHOWN)))?;
    previewed.iter().for_each(|previewed| warn(cli, &previewed.source_name, &previewed.warnings));
    let out = match cli.json {
        true => {
            let sources = Value::Array(previewed.iter().map(preview_value).collect());
            json::text(&json::object([("sources", sources)])) + "\n"
        }
        false => previewed.iter().map(preview_text).collect(),
    };
    let works = previewed.iter().all(|previewed| previewed.error.is_none());
    let exit = if works { Exit::Fine } else { Exit::Incomplete };
    io::stdout().write_all(out.as_bytes()).map(|()| exit).map_err(|error| crate::commands::broken(&error))
}

/// Tells of paths and filters that did nothing.
fn warn(cli: &Cli, source: &str, warnings: &[Problem]) {
    if cli.json || cli.quiet {
        return;
    }
    let styled = print::styled(cli.color, &io::stderr());
    for problem in warnings {
        let fault = problem.clone().of_file();
        // A closed stderr is no reason to stop.
        drop(writeln!(io::stderr(), "{}\n", print::fault::text(source, &fault, Severity::of(&fault), styled)));
    }
}

fn test_object(tested: &[Tested], took: u64) -> Object<'static> {
    let sources: Vec<Value<'static>> = tested.iter().map(|tested| Value::Object(test_one(tested))).collect();
    let mut object = match tested {
        [one] => test_one(one),
        many => json::object([
            ("success", Value::Bool(many.iter().all(|tested| tested.error.is_none()))),
            ("record_count", json::number(many.iter().map(|tested| tested.record_count).sum())),
            ("sample_rows", Value::Array(many.iter().flat_map(|tested| rows(&tested.sample_rows)).collect())),
            ("error", error_value(many.iter().find_map(|tested| tested.error.as_deref()))),
        ]),
    };
    object.set("execution_time_ms", json::number(took));
    object.set("sources", Value::Array(sources));
    object
}

fn test_one(tested: &Tested) -> Object<'static> {
    json::object([
        ("success", Value::Bool(tested.error.is_none())),
        ("source_id", Value::from(tested.source_id.clone())),
        ("source_name", Value::from(tested.source_name.clone())),
        ("record_count", json::number(tested.record_count)),
        ("complete", Value::Bool(tested.complete)),
        ("sample_rows", Value::Array(rows(&tested.sample_rows))),
        ("error", error_value(tested.error.as_deref())),
        ("warnings", warnings(&tested.warnings)),
    ])
}

fn preview_value(previewed: &Previewed) -> Value<'static> {
    let applied = previewed.transformations_applied.iter().map(|text| Value::from(text.clone())).collect();
    json::object([
        ("source_id", Value::from(previewed.source_id.clone())),
        ("source_name", Value::from(previewed.source_name.clone())),
        ("source_data", Value::Array(previewed.source_data.clone())),
        ("transformed_data", Value::Array(rows(&previewed.transformed_data))),
        ("transformations_applied", Value::Array(applied)),
        ("error", error_value(previewed.error.as_deref())),
        ("warnings", warnings(&previewed.warnings)),
    ])
    .into()
}

fn rows(rows: &[Object<'static>]) -> Vec<Value<'static>> {
    rows.iter().cloned().map(Value::Object).collect()
}

fn warnings(problems: &[Problem]) -> Value<'static> {
    let value = |problem: &Problem| json::fault_value(&problem.clone().of_file(), Severity::Hint);
    Value::Array(problems.iter().map(value).collect())
}

fn error_value(error: Option<&Refusal>) -> Value<'static> {
    error.map_or(Value::Null, |error| Value::from(error_text(error)))
}

fn error_text(error: &Refusal) -> String {
    format!("{}: {}", error.code.name(), error.message)
}

fn test_text(tested: &Tested) -> String {
    let name = clean::line(&tested.source_name);
    if let Some(error) = &tested.error {
        let problem = Problem::new(error.code, Path::root(), error.message.clone()).help(error.help.clone());
        return format!(
            "{name}: does not work\n{}\n",
            print::fault::text(&name, &problem.of_file(), Severity::Error, false)
        );
    }
    let more = if tested.complete { "" } else { ", and there are more" };
    let mut out = format!("{name}: works, {} rows{more}\n", tested.record_count);
    for row in &tested.sample_rows {
        out.push_str(&format!("  {}\n", clean::line(&json::text(row))));
    }
    out
}

fn preview_text(previewed: &Previewed) -> String {
    let mut out = format!("{}\n", clean::line(&previewed.source_name));
    for text in &previewed.transformations_applied {
        out.push_str(&format!("  {}\n", clean::line(text)));
    }
    if let Some(error) = &previewed.error {
        out.push_str(&format!("  does not work: {}\n", clean::line(&error_text(error))));
    }
    for row in &previewed.source_data {
        out.push_str(&format!("  - {}\n", clean::line(&json::value_text(row))));
    }
    for row in &previewed.transformed_data {
        out.push_str(&format!("  + {}\n", clean::line(&json::text(row))));
    }
    out
}
