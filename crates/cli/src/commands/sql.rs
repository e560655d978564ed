//! `heldset sql`.

use std::io::{self, Read, Write};
use std::time::Instant;

use clap::Args;
use heldset_core::value::{Object, Value};
use heldset_engine::query::Memory;
use heldset_engine::sql::{SqlAnswer, sql};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct SqlArgs {
    /// The statement; `-` reads it from standard input
    #[arg(value_name = "STATEMENT")]
    statement: String,
}

/// Runs a statement that reads.
pub(crate) fn run(cli: &Cli, args: &SqlArgs) -> Result<Exit, Failure> {
    let mut text = args.statement.clone();
    if text == "-" {
        text.clear();
        let unread = |error| Failure::open(std::path::Path::new("standard input"), &error);
        io::stdin().read_to_string(&mut text).map_err(unread)?;
    }
    let session = place::session(cli)?;
    let start = Instant::now();
    let answer = sql(&session, &Memory::new(super::query::MEMORY), &text)?;
    super::query::warn(cli, &answer.warnings);
    let out = match cli.json {
        true => json::text(&document(&answer, start)),
        false => table(&answer),
    };
    writeln!(io::stdout(), "{out}").map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn document(answer: &SqlAnswer, start: Instant) -> Object<'static> {
    let columns: Vec<String> = answer.columns().map(str::to_owned).collect();
    let row = |values: Vec<Value<'static>>| Value::Array(values);
    let rows: Vec<Value<'static>> = answer.rows().map(row).collect();
    let over = answer.over.iter().map(|(name, version, digest)| {
        Value::Object(json::object([
            ("table", Value::from(name.clone())),
            ("version", version.map_or(Value::Null, json::number)),
            ("digest", digest.clone().map_or(Value::Null, Value::from)),
        ]))
    });
    let over = over.collect();
    json::object([
        ("columns", Value::Array(columns.into_iter().map(Value::from).collect())),
        ("returned", json::number(rows.len() as u64)),
        ("rows", Value::Array(rows)),
        ("execution_time_ms", super::query::millis(start)),
        ("tables", Value::Array(over)),
    ])
}

/// The rows in columns that line up; numbers to the right.
fn table(answer: &SqlAnswer) -> String {
    let text = |value: &Value<'_>| match value {
        Value::Null => String::new(),
        Value::String(text) => clean::line(text),
        value => clean::line(&json::value_text(value)),
    };
    let head: Vec<String> = answer.columns().map(clean::line).collect();
    let rows: Vec<Vec<(String, bool)>> = answer
        .rows()
        .map(|row| row.iter().map(|value| (text(value), matches!(value, Value::Number(_)))).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].0.chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = (&str, bool)>| {
        let cells = cells.zip(&widths).map(
            |((text, right), width)| {
                if right { format!("{text:>width$}") } else { format!("{text:<width$}") }
            },
        );
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&mut head.iter().map(|name| (name.as_str(), false)))];
    lines.push(widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  "));
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(|(text, right)| (text.as_str(), *right)))));
    lines.join("\n")
}
