//! `heldset ls`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::registry::Status;
use heldset_core::value::Value;
use heldset_engine::ls::{Listed, ls};
use heldset_engine::status;

use super::dataset::WantedArgs;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    wanted: WantedArgs,
}

/// Lists the datasets.
pub(crate) fn run(cli: &Cli, args: &LsArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let wanted = args.wanted.wanted()?;
    let mut listed = ls(&session)?;
    listed.retain(|listed| wanted.matches(&listed.dataset));
    let mut out = String::new();
    if cli.json {
        out = super::list_text(listed.iter().map(value));
    } else {
        for Listed { dataset, rows, mode, .. } in &listed {
            let (slug, head, name) = (&dataset.slug, dataset.head, clean::line(&dataset.name));
            let state = match status::of(dataset) {
                Status::Active => String::new(),
                other => format!("  [{}]", other.name()),
            };
            match head {
                0 => out.push_str(&format!("{slug}  no version yet  {name}{state}\n")),
                _ => out.push_str(&format!("{slug}@{head}  {rows} rows  {mode}  {name}{state}\n")),
            }
        }
    }
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn value(listed: &Listed) -> Value<'_> {
    let Listed { dataset, digest, mode, rows, updated_at } = listed;
    let members = json::object([
        ("dataset", Value::from(dataset.slug.as_str())),
        ("name", Value::from(dataset.name.as_str())),
        ("description", json::optional(dataset.description.as_deref())),
        ("version", json::number(dataset.head)),
        ("digest", Value::from(digest.as_str())),
        ("mode", Value::from(mode.as_str())),
        ("rows", json::number(*rows)),
        ("status", Value::from(status::of(dataset).name())),
        ("certification_level", Value::from(status::level_of(dataset).name())),
        ("license", json::optional(dataset.license.as_deref())),
        ("tags", Value::Array(dataset.tags.iter().map(|tag| Value::from(tag.as_str())).collect())),
        ("created_at", Value::from(dataset.created_at.as_str())),
        ("updated_at", Value::from(updated_at.as_str())),
    ]);
    Value::Object(members)
}
