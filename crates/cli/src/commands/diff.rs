//! `heldset diff`.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::Args;
use heldset_core::value::{Object, Value};
use heldset_engine::diff::{Changed, DiffRequest, Difference, FieldChange, Listed, SchemaChange, diff};
use heldset_engine::resolve::Resolved;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

/// How much of a value is shown to people, in characters.
const SHOWN: usize = 60;

#[derive(Args)]
pub(crate) struct DiffArgs {
    /// The one version, such as `trips@2`
    #[arg(value_name = "A")]
    a: String,
    /// The other version, of the same dataset or of another
    #[arg(value_name = "B")]
    b: String,
    /// Only this split
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    #[command(flatten)]
    to: super::PlaceArgs,
}

/// Compares two versions, record by record.
pub(crate) fn run(cli: &Cli, args: &DiffArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let place = args.to.place()?;
    let split = args.split.as_deref();
    let found = diff(&session, &DiffRequest { a: &args.a, b: &args.b, split, place, values: !cli.json })?;
    let out = if cli.json { json::text(&object(&found)) + "\n" } else { text(&found) };
    io::stdout().write_all(out.as_bytes()).map_err(|error| super::broken(&error))?;
    if !cli.json && !cli.quiet {
        writeln!(io::stderr(), "{}", summary(&found)).map_err(|error| super::broken(&error))?;
    }
    Ok(if found.is_empty() { Exit::Fine } else { Exit::Different })
}

fn object(found: &Difference) -> Object<'_> {
    let ids = |listed: &'_ [Listed]| Value::Array(listed.iter().map(|one| Value::from(one.id.clone())).collect());
    let changed = |changed: &Changed| {
        Value::Object(json::object([
            ("id", Value::from(changed.id.clone())),
            ("split", Value::from(changed.split.to_string())),
            ("fields", Value::Array(changed.fields.iter().map(|field| Value::from(field.name.clone())).collect())),
        ]))
    };
    let moved = found.moved.iter().map(|moved| {
        Value::Object(json::object([
            ("id", Value::from(moved.id.as_str())),
            ("from", Value::from(&*moved.from)),
            ("to", Value::from(&*moved.to)),
        ]))
    });
    json::object([
        ("a", version(&found.a).into()),
        ("b", version(&found.b).into()),
        ("added", ids(&found.added)),
        ("removed", ids(&found.removed)),
        ("changed", Value::Array(found.changed.iter().map(changed).collect())),
        ("moved", Value::Array(moved.collect())),
        ("schema", Value::from(found.schema.name())),
        ("runs", Value::Array(found.runs.iter().map(|run| Value::from(run.as_str())).collect())),
    ])
}

fn version(resolved: &Resolved) -> Object<'_> {
    json::object([
        ("dataset", Value::from(resolved.dataset.slug.as_str())),
        ("version", json::number(resolved.version.number)),
        ("digest", Value::from(resolved.version.digest.as_str())),
    ])
}

fn text(found: &Difference) -> String {
    // Writing to a String cannot fail.
    let mut out = String::new();
    for one in &found.removed {
        let _infallible = writeln!(out, "- {}", named(&one.id, &one.split));
    }
    for one in &found.added {
        let _infallible = writeln!(out, "+ {}", named(&one.id, &one.split));
    }
    for moved in &found.moved {
        let (id, from, to) = (clean::line(&moved.id), clean::line(&moved.from), clean::line(&moved.to));
        let _infallible = writeln!(out, "→ {id}  {from} → {to}");
    }
    for changed in &found.changed {
        let _infallible = writeln!(out, "~ {}", named(&changed.id, &changed.split));
        out.extend(changed.fields.iter().map(field));
    }
    if found.schema != SchemaChange::Same {
        let _infallible = writeln!(out, "~ schema: {}", found.schema.name());
    }
    if !found.runs.is_empty() && !found.is_empty() {
        let _infallible = writeln!(out, "runs affected: {}", found.runs.join(", "));
    }
    out
}

/// A record, with its split unless it is the usual one.
fn named(id: &str, split: &str) -> String {
    match split {
        "default" => clean::line(id),
        split => format!("{}  ({})", clean::line(id), clean::line(split)),
    }
}

fn field(field: &FieldChange) -> String {
    let shown = |value: &Option<String>| value.as_deref().map_or_else(|| "(absent)".to_owned(), short);
    format!("    {}: {} → {}\n", clean::line(&field.name), shown(&field.before), shown(&field.after))
}

fn short(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", clean::line(&value[..end])),
        None => clean::line(value),
    }
}

fn summary(found: &Difference) -> String {
    let cite = |resolved: &Resolved| format!("{}@{}", resolved.dataset.slug, resolved.version.number);
    let (a, b) = (cite(&found.a), cite(&found.b));
    if found.is_empty() {
        return format!("{a} and {b} hold the same records");
    }
    let (added, removed) = (found.added.len(), found.removed.len());
    let (changed, moved) = (found.changed.len(), found.moved.len());
    format!("{a} → {b}: {added} added, {removed} removed, {changed} changed, {moved} moved")
}
