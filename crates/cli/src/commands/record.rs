//! `heldset record`.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use heldset_core::merkle::Inclusion;
use heldset_core::value::{Object, Value};
use heldset_engine::commit::Committed;
use heldset_engine::record::{
    EditRequest, Found, Proven, RecordRequest, RecordVersion, RemoveRequest, edit, history, prove, record, remove,
};
use heldset_engine::session::Session;

use super::import::pair;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, disable_help_subcommand = true)]
pub(crate) struct RecordArgs {
    #[command(subcommand)]
    change: Option<Change>,
    /// The dataset and version, such as `trips@3`
    #[arg(value_name = "SLUG[@V]", required = true)]
    cite: Option<String>,
    /// The record, and maybe which of its own versions, such as `tc-001@2`
    #[arg(value_name = "ID[@N]", required = true)]
    id: Option<String>,
    /// In this split (default: the first that has the record)
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// List the record's own versions
    #[arg(long, conflicts_with = "proof")]
    history: bool,
    /// Print a proof that the record is in the version
    #[arg(long)]
    proof: bool,
    #[command(flatten)]
    to: super::PlaceArgs,
}

#[derive(Subcommand)]
enum Change {
    /// Change fields of a record; makes a version
    #[command(
        after_help = "Example:\n  heldset record edit trips tc-001 --set category=hotel --set 'tags=[\"new\"]' --unset notes"
    )]
    Edit(EditArgs),
    /// Take records out; makes a version
    #[command(after_help = "Example:\n  heldset record rm trips tc-001 tc-007 -m \"unclear\"")]
    Rm(RmArgs),
}

#[derive(Args)]
struct EditArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
    /// The record
    #[arg(value_name = "ID")]
    id: String,
    /// A field and its value: JSON, or text when it is not JSON
    #[arg(long, value_name = "FIELD=JSON", required_unless_present = "unset")]
    set: Vec<String>,
    /// A field to take out
    #[arg(long, value_name = "FIELD")]
    unset: Vec<String>,
    #[command(flatten)]
    about: AboutArgs,
}

#[derive(Args)]
struct RmArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
    /// The records
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    about: AboutArgs,
}

#[derive(Args)]
struct AboutArgs {
    /// In this split (default: the first that has the record)
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// What the version is about
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

/// Prints, changes or removes records.
pub(crate) fn run(cli: &Cli, args: &RecordArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let out = match &args.change {
        Some(Change::Edit(args)) => registered(cli, &edit_record(&session, args)?),
        Some(Change::Rm(args)) => registered(cli, &rm_record(&session, args)?),
        None => show(cli, args, &session)?,
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn show(cli: &Cli, args: &RecordArgs, session: &Session) -> Result<String, Failure> {
    let (cite, id) = (args.cite.as_deref().unwrap_or_default(), args.id.as_deref().unwrap_or_default());
    let request = RecordRequest { cite, id, split: args.split.as_deref(), place: args.to.place()? };
    if args.proof {
        return Ok(json::text(&proof_object(&prove(session, &request)?)) + "\n");
    }
    if args.history {
        let versions = history(session, &request)?;
        return Ok(match cli.json {
            true => super::list_text(versions.iter().map(version_value)),
            false => versions.iter().map(version_line).collect(),
        });
    }
    let told = !cli.quiet && !cli.json;
    let found = record(session, &request, told)?;
    if told {
        writeln!(io::stderr(), "{}", told_line(&found)).map_err(|error| super::broken(&error))?;
    }
    Ok(String::from_utf8_lossy(&found.json).into_owned() + "\n")
}

fn told_line(found: &Found) -> String {
    let (slug, number) = (&found.resolved.dataset.slug, found.resolved.version.number);
    let mut line = format!("{slug}@{number}  split {}  {}", clean::line(&found.split), clean::line(&found.id));
    if let Some(own) = &found.own {
        line.push_str(&format!("@{}", own.number));
        if let Some(leaf) = own.leaf {
            line.push_str(&format!("  leaf {leaf}"));
        }
    }
    line
}

fn version_value(own: &RecordVersion) -> Value<'_> {
    let mut members = json::object([("record_version", json::number(own.number))]);
    if let Some(leaf) = own.leaf {
        members.set("leaf", Value::from(leaf.to_string()));
    }
    members.set("versions", Value::Array(own.versions.iter().copied().map(json::number).collect()));
    members.set("first_version", json::number(own.versions[0]));
    members.set("created_at", Value::from(own.created_at.as_str()));
    Value::Object(members)
}

fn version_line(own: &RecordVersion) -> String {
    let arrow = if own.number == 1 { "  " } else { "→ " };
    let versions: Vec<String> = own.versions.iter().map(u64::to_string).collect();
    let leaf = own.leaf.map_or_else(String::new, |leaf| format!("  {leaf}"));
    format!("{arrow}v{}  {}{leaf}  in version {}\n", own.number, own.created_at, versions.join(", "))
}

fn proof_object(proven: &Proven) -> Object<'_> {
    let (dataset, version) = (&proven.resolved.dataset, &proven.resolved.version);
    let groups = proven.groups.iter().map(|(label, digest)| (label.as_str().into(), Value::from(digest.hex())));
    let proof = json::object([
        ("in_chunk", way(&proven.proof.in_chunk)),
        ("chunk_rows", json::number(proven.proof.chunk_rows)),
        ("in_split", way(&proven.proof.in_split)),
        ("chunks", json::number(proven.proof.chunks)),
    ]);
    json::object([
        ("dataset", Value::from(dataset.slug.as_str())),
        ("version", json::number(version.number)),
        ("digest", Value::from(version.digest.as_str())),
        ("split", Value::from(proven.split.as_str())),
        ("id", Value::from(proven.id.as_str())),
        ("leaf", Value::from(proven.leaf.to_string())),
        ("groups", Value::Object(groups.collect())),
        ("proof", proof.into()),
        ("root", Value::from(proven.root.to_string())),
    ])
}

fn way(inclusion: &Inclusion) -> Value<'static> {
    let path = inclusion.path.iter().map(|digest| Value::from(digest.hex())).collect();
    json::object([("index", json::number(inclusion.index)), ("path", Value::Array(path))]).into()
}

fn edit_record(session: &Session, args: &EditArgs) -> Result<Committed, Failure> {
    let value = |text: &String| {
        let (field, value) = pair(text, "--set", "FIELD=JSON")?;
        let value = match heldset_core::json::read(&value) {
            Ok(value) => value.into_owned(),
            Err(_) => Value::from(value),
        };
        Ok((field, value))
    };
    let set = args.set.iter().map(value).collect::<Result<Vec<_>, Failure>>()?;
    let request = EditRequest {
        slug: &args.slug,
        id: &args.id,
        split: args.about.split.as_deref(),
        set: &set,
        unset: &args.unset,
        message: args.about.message.as_deref(),
    };
    Ok(edit(session, &request)?)
}

fn rm_record(session: &Session, args: &RmArgs) -> Result<Committed, Failure> {
    let (split, message) = (args.about.split.as_deref(), args.about.message.as_deref());
    Ok(remove(session, &RemoveRequest { slug: &args.slug, ids: &args.ids, split, message })?)
}

/// The version that a change made.
fn registered(cli: &Cli, committed: &Committed) -> String {
    let (slug, version) = (committed.dataset.slug.as_str(), &committed.version);
    if cli.json {
        let members = json::object([
            ("dataset", Value::from(slug)),
            ("version", json::number(version.number)),
            ("digest", Value::from(version.digest.as_str())),
            ("created", Value::Bool(committed.created)),
        ]);
        return json::text(&members) + "\n";
    }
    let same = if committed.created { "" } else { " (same content, no new version)" };
    format!("{slug}@{} {}{same}\n", version.number, version.digest)
}
