//! `heldset lineage`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use heldset_core::code::Code;
use heldset_core::lineage::{events, to_svg, to_text, to_value};
use heldset_core::value::{Object, Value};
use heldset_engine::lineage::{Impact, Lineage, Touched, TouchedCopy, impact, lineage};

use super::convert::written;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

/// Who makes the events of OpenLineage.
const PRODUCER: &str = concat!("urn:heldset:", env!("CARGO_PKG_VERSION"));

#[derive(Args)]
pub(crate) struct LineageArgs {
    /// The dataset, or one version of it, such as `trips@3`
    #[arg(value_name = "SLUG[@V]")]
    cite: String,
    /// Go no further than so many steps
    #[arg(long, value_name = "N")]
    depth: Option<u64>,
    /// Draw it as SVG
    #[arg(long, conflicts_with = "openlineage")]
    svg: bool,
    /// Print events of OpenLineage, one line for each time that something was made
    #[arg(long)]
    openlineage: bool,
    /// Where to write; standard output when absent
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What such a change touches: deletion, license, policy, schema, consent, split, deduplication
    #[arg(long, value_name = "CHANGE", conflicts_with_all = ["svg", "openlineage", "depth"])]
    impact: Option<String>,
    /// Only what still has this field
    #[arg(long, value_name = "FIELD", requires = "impact")]
    field: Option<String>,
}

/// Shows what comes from what.
pub(crate) fn run(cli: &Cli, args: &LineageArgs) -> Result<Exit, Failure> {
    if cli.json && (args.svg || args.openlineage) {
        let message = "`--json` is a form of its own beside `--svg` and `--openlineage`";
        return Err(Failure::usage(Code::E103, message, "name one of them; events of OpenLineage are JSON lines"));
    }
    let session = place::session(cli)?;
    let text = match &args.impact {
        Some(name) => {
            session.must_manage("lineage --impact")?;
            let change = Impact::named(name)?;
            let touched = impact(&session, &args.cite, args.field.as_deref())?;
            impact_text(cli, args, change, &touched)
        }
        None => {
            let found = lineage(&session, &args.cite, args.depth)?;
            let namespace = format!("heldset://{}", session.store.id());
            lineage_text(cli, args, &found, &namespace)
        }
    };
    match &args.output {
        Some(path) => {
            let (file, ()) = written(path, |out| out.write_all(text.as_bytes()))?;
            file.keep().map(|()| Exit::Fine)
        }
        None => io::stdout().write_all(text.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error)),
    }
}

fn lineage_text(cli: &Cli, args: &LineageArgs, found: &Lineage, namespace: &str) -> String {
    if args.openlineage {
        let lines = events(&found.graph, namespace, PRODUCER);
        return lines.iter().map(|event| json::value_text(event) + "\n").collect();
    }
    let heading = match (args.cite.contains('@'), found.version) {
        (true, Some(version)) => format!("{}@{version}", found.slug),
        _ => found.slug.clone(),
    };
    if args.svg {
        return to_svg(&found.graph, &format!("Lineage of {heading}"), &found.starts);
    }
    if cli.json {
        let (upstream, downstream) = to_value(&found.graph, &found.starts, args.depth);
        let object = json::object([
            ("dataset", Value::from(found.slug.clone())),
            ("name", Value::from(found.name.clone())),
            ("version", found.version.map_or(Value::Null, json::number)),
            ("digest", found.digest.clone().map_or(Value::Null, Value::from)),
            ("upstream", upstream),
            ("downstream", downstream),
        ]);
        return json::text(&object) + "\n";
    }
    let named = if found.name == found.slug { heading } else { format!("{heading} ({})", found.name) };
    let text = to_text(&found.graph, &named, &found.starts, args.depth);
    text.lines().map(|line| clean::line(line) + "\n").collect()
}

fn impact_text(cli: &Cli, args: &LineageArgs, change: Impact, touched: &Touched) -> String {
    let (name, help) = change.words();
    if cli.json {
        let mut object = touched_object(touched);
        object.set("change", Value::from(name));
        object.set("of", Value::from(args.cite.clone()));
        object.set("field", args.field.clone().map_or(Value::Null, Value::from));
        object.set("help", Value::from(help));
        return json::text(&object) + "\n";
    }
    let field = args.field.as_ref().map_or_else(String::new, |field| format!(" of `{}`", clean::line(field)));
    let mut out = format!("a {name} change{field} in {} touches {}\n", args.cite, touched.words());
    for (slug, number, relationship) in &touched.datasets {
        out.push_str(&format!("  dataset {slug}@{number} [{relationship}]\n"));
    }
    for run in &touched.runs {
        out.push_str(&format!("  run {run}\n"));
    }
    for TouchedCopy { dataset, doc, .. } in &touched.copies {
        let (at, owner) = (clean::line(&doc.at), clean::line(&doc.owner));
        out.push_str(&format!("  {} of {dataset}@{} at {at}, of {owner}\n", doc.kind, doc.version));
    }
    if !touched.is_empty() {
        out.push_str(&format!("to do: {help}\n"));
    }
    out
}

/// What a change touches, for programs.
pub(super) fn touched_object(touched: &Touched) -> Object<'static> {
    let dataset = |(slug, number, relationship): &(String, u64, String)| {
        Value::Object(json::object([
            ("slug", Value::from(slug.clone())),
            ("version", json::number(*number)),
            ("relationship_type", Value::from(relationship.clone())),
        ]))
    };
    let copy = |copy: &TouchedCopy| {
        Value::Object(json::object([
            ("copy", Value::from(copy.id.clone())),
            ("dataset", Value::from(copy.dataset.clone())),
            ("version", json::number(copy.doc.version)),
            ("kind", Value::from(copy.doc.kind.clone())),
            ("owner", Value::from(copy.doc.owner.clone())),
            ("at", Value::from(copy.doc.at.clone())),
            ("state", Value::from(copy.doc.state.clone())),
        ]))
    };
    json::object([
        ("datasets", Value::Array(touched.datasets.iter().map(dataset).collect())),
        ("runs", Value::Array(touched.runs.iter().cloned().map(Value::from).collect())),
        ("copies", Value::Array(touched.copies.iter().map(copy).collect())),
    ])
}
