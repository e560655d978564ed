//! `heldset source`.

mod look;
mod sync;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Viewer;
use heldset_engine::resolve::mapping;
use heldset_engine::session::Session;
use heldset_engine::source::{Reach, Source, add, ls, rm, update};
use heldset_store::registry::FeedDoc;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct SourceArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Add a source to a dataset, from a declaration in YAML or JSON
    #[command(
        after_help = "Example:\n  heldset source add tickets source.yaml\n\nwith, in source.yaml:\n  connector_instance_id: jira\n  operation_id: list_issues\n  operation_config: {jql: status = Open, maxResults: 100}\n  display_name: Open tickets\n  id_from: key\n  field_mappings: {fields.summary: title, fields.status.name: status}\n  privacy: [{field: title, action: redact, pattern: email}]"
    )]
    Add {
        /// The dataset
        #[arg(value_name = "SLUG")]
        slug: String,
        /// The declaration; `-` is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Change members of a declaration; a null takes one away
    #[command(
        after_help = "Example:\n  echo '{\"keep_unmapped\": true}' | heldset source update tickets 'Open tickets' -"
    )]
    Update {
        /// The dataset
        #[arg(value_name = "SLUG")]
        slug: String,
        /// The id or the name of the source
        #[arg(value_name = "SOURCE")]
        source: String,
        /// The members that change, in YAML or JSON; `-` is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List the sources of a dataset
    #[command(after_help = "Example:\n  heldset source ls tickets")]
    Ls {
        /// The dataset
        #[arg(value_name = "SLUG")]
        slug: String,
    },
    /// Read some rows, to see whether a source works
    #[command(after_help = "Example:\n  heldset source test tickets 'Open tickets'")]
    Test(look::LookArgs),
    /// Show rows as they are and as they become
    #[command(after_help = "Example:\n  heldset source preview tickets --limit 3")]
    Preview(look::LookArgs),
    /// Fill the dataset: what the sources hold becomes a version
    #[command(
        after_help = "Example:\n  heldset source sync tickets\n  heldset source sync tickets 'Open tickets' --restart\n  heldset source sync tickets --stream --cache-pages"
    )]
    Sync(Box<sync::SyncArgs>),
    /// Remove a source; the next sync leaves its rows out
    #[command(after_help = "Example:\n  heldset source rm tickets 'Open tickets'")]
    Rm {
        /// The dataset
        #[arg(value_name = "SLUG")]
        slug: String,
        /// The id or the name of the source
        #[arg(value_name = "SOURCE")]
        source: String,
    },
}

/// Adds, lists, tests, previews, syncs or removes sources.
pub(crate) fn run(cli: &Cli, args: &SourceArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let out = match &args.action {
        Action::Test(args) => return look::test(cli, &session, args),
        Action::Preview(args) => return look::preview(cli, &session, args),
        Action::Sync(args) => return sync::run(cli, &session, args),
        Action::Add { slug, file } => {
            session.must_manage("source")?;
            let declared = document(file)?;
            let source = reaching(|reach| add(&session, reach, slug, &declared))?;
            one(cli, &session, &source)
        }
        Action::Update { slug, source, file } => {
            session.must_manage("source")?;
            let patch = document(file)?;
            let source = reaching(|reach| update(&session, reach, slug, source, &patch))?;
            one(cli, &session, &source)
        }
        Action::Ls { slug } => {
            let sources = ls(&session, slug)?;
            match cli.json {
                true => super::list_text(sources.iter().map(|source| Value::Object(object(&session, source)))),
                false => sources.iter().map(line).collect(),
            }
        }
        Action::Rm { slug, source } => removed(cli, &rm(&session, slug, source)?),
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

/// Does something with those who open sources.
pub(crate) fn reaching<T>(go: impl FnOnce(Reach<'_>) -> heldset_engine::refusal::Outcome<T>) -> Result<T, Failure> {
    let scratch = place::scratch()?;
    let feeds = heldset_outside::source::Sources::new(std::env::var("PATH").unwrap_or_default(), scratch.path());
    let folder = std::env::current_dir().map_err(|error| Failure::open(Path::new("."), &error))?;
    Ok(go(Reach { feeds: &feeds, folder: &folder.display().to_string() })?)
}

/// A declaration, from a file or from standard input.
fn document(file: &Path) -> Result<Value<'static>, Failure> {
    if file != Path::new("-") {
        return super::load_document(file);
    }
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::open(Path::new("standard input"), &error))?;
    heldset_dialect::read_document(&bytes).map_err(|fault| Failure::invalid("standard input", *fault))
}

fn one(cli: &Cli, session: &Session, source: &Source) -> String {
    match cli.json {
        true => json::text(&object(session, source)) + "\n",
        false => line(source),
    }
}

fn object(session: &Session, source: &Source) -> Object<'static> {
    let Source { doc, declared, connector, .. } = source;
    let optional = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    let mut object = json::object([
        ("id", Value::from(doc.id.clone())),
        ("display_name", Value::from(doc.display_name.clone())),
        ("connector_instance_id", Value::from(connector.id.clone())),
        ("connector", Value::from(connector.name.clone())),
        ("kind", Value::from(connector.kind.clone())),
        ("operation_id", Value::from(declared.operation.clone())),
        ("split", Value::from(declared.split.clone())),
        ("created_at", Value::from(doc.created_at.clone())),
        ("created_by", Value::from(doc.created_by.clone())),
        ("synced_at", optional(&doc.synced_at)),
        ("synced_version", doc.synced_version.map_or(Value::Null, json::number)),
    ]);
    // The names of fields are those of the raw rows, too.
    if session.viewer == Viewer::Owner {
        object.set("declared", mapping(&doc.declared).into());
        object.set("last_sync", heldset_engine::source::last_sync(session, source).map_or(Value::Null, Value::Object));
    }
    object
}

fn line(source: &Source) -> String {
    let Source { doc, declared, connector, .. } = source;
    let operation = if declared.operation.is_empty() { String::new() } else { format!(" {}", declared.operation) };
    let synced = match (&doc.synced_at, doc.synced_version) {
        (Some(time), Some(version)) => format!("synced {time} into version {version}"),
        _ => "never synced".to_owned(),
    };
    let text = format!("{}  {}{operation}  {}  {}  {synced}", doc.display_name, connector.name, declared.split, doc.id);
    clean::line(&text) + "\n"
}

fn removed(cli: &Cli, doc: &FeedDoc) -> String {
    match cli.json {
        true => {
            let members =
                [("id", Value::from(doc.id.as_str())), ("display_name", Value::from(doc.display_name.as_str()))];
            json::text(&json::object(members)) + "\n"
        }
        false => clean::line(&format!("removed {}  {}", doc.display_name, doc.id)) + "\n",
    }
}
