//! `heldset copies`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::copies::{Copy, copies};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct CopiesArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
}

/// Lists the copies that left the store.
pub(crate) fn run(cli: &Cli, args: &CopiesArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let copies = copies(&session, &args.slug)?;
    let out = match cli.json {
        true => super::list_text(copies.iter().map(value)),
        false => copies.iter().map(|copy| line(&args.slug, copy)).collect(),
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn value(copy: &Copy) -> Value<'_> {
    let doc = &copy.doc;
    json::object([
        ("id", Value::from(copy.id.as_str())),
        ("kind", Value::from(doc.kind.as_str())),
        ("owner", Value::from(doc.owner.as_str())),
        ("audience", Value::from(doc.audience.as_str())),
        ("place", Value::from(doc.place.as_str())),
        ("at", Value::from(doc.at.as_str())),
        ("version", json::number(doc.version)),
        ("labels", Value::Array(doc.labels.iter().map(|label| Value::from(label.as_str())).collect())),
        ("made_at", Value::from(doc.made_at.as_str())),
        ("expires_at", json::optional(doc.expires_at.as_deref())),
        ("state", Value::from(doc.state.as_str())),
    ])
    .into()
}

fn line(slug: &str, copy: &Copy) -> String {
    let doc = &copy.doc;
    let until = doc.expires_at.as_ref().map_or_else(String::new, |time| format!(", until {time}"));
    let text = format!(
        "{slug}@{}  {} for {}  {}  {} by {}{until}  [{}]",
        doc.version, doc.kind, doc.audience, doc.at, doc.made_at, doc.owner, doc.state
    );
    clean::line(&text) + "\n"
}
