//! `heldset connector`.

use std::io::{self, Write};
use std::path::Path;

use clap::{Args, Subcommand};
use heldset_core::code::Code;
use heldset_core::value::{Object, Value};
use heldset_engine::connector::{Listed, add, ls, rm};
use heldset_engine::resolve::mapping;
use heldset_store::registry::ConnectorDoc;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct ConnectorArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Keep how a system is reached, without its secrets
    #[command(
        after_help = "Example:\n  heldset connector add tickets --kind http --config '{\"url\": \"https://example.org/api\"}'\n  heldset connector add warehouse --kind sql --config @warehouse.yaml"
    )]
    Add {
        /// The name, which sources refer to
        #[arg(value_name = "NAME")]
        name: String,
        /// What it reaches: file, http, jira, sql, bucket, git, huggingface
        #[arg(long, value_name = "KIND")]
        kind: String,
        /// How it is reached, as JSON, or `@FILE` with JSON or YAML
        #[arg(long, value_name = "JSON|@FILE", default_value = "{}")]
        config: String,
    },
    /// List connectors, and for whom credentials are kept
    #[command(after_help = "Example:\n  heldset connector ls")]
    Ls,
    /// Remove a connector that no source uses, with its credentials
    #[command(after_help = "Example:\n  heldset connector rm tickets")]
    Rm {
        /// The id or the name
        #[arg(value_name = "CONNECTOR")]
        connector: String,
    },
}

/// Adds, lists or removes connectors.
pub(crate) fn run(cli: &Cli, args: &ConnectorArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let out = match &args.action {
        Action::Add { name, kind, config } => {
            session.must_manage("connector")?;
            let doc = add(&session, name, kind, &config_of(config)?)?;
            match cli.json {
                true => json::text(&object(&doc)) + "\n",
                false => line(&doc),
            }
        }
        Action::Ls => {
            let listed = ls(&session)?;
            match cli.json {
                true => super::list_text(listed.iter().map(value)),
                false => listed.iter().map(listed_line).collect(),
            }
        }
        Action::Rm { connector } => {
            let doc = rm(&session, connector)?;
            match cli.json {
                true => json::text(&object(&doc)) + "\n",
                false => format!("removed {}", line(&doc)),
            }
        }
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn config_of(text: &str) -> Result<Object<'static>, Failure> {
    let value = match text.strip_prefix('@') {
        Some(path) => super::load_document(Path::new(path))?,
        None => heldset_dialect::read_document(text.as_bytes())
            .map_err(|fault| Failure::configuration("--config", *fault))?,
    };
    match value {
        Value::Object(config) => Ok(config),
        other => {
            let message = format!("the configuration is a mapping, not {}", other.type_name());
            Err(Failure::usage(Code::E067, message, "write `--config '{\"url\": \"…\"}'`, or `--config @FILE`"))
        }
    }
}

fn object(doc: &ConnectorDoc) -> Object<'_> {
    json::object([
        ("id", Value::from(doc.id.as_str())),
        ("name", Value::from(doc.name.as_str())),
        ("kind", Value::from(doc.kind.as_str())),
        ("config", mapping(&doc.config).into()),
        ("created_at", Value::from(doc.created_at.as_str())),
        ("created_by", Value::from(doc.created_by.as_str())),
    ])
}

fn value(listed: &Listed) -> Value<'_> {
    let mut object = object(&listed.connector);
    let scope = |(scope_type, scope_id): &(String, String)| {
        let members = [("scope_type", Value::from(scope_type.clone())), ("scope_id", Value::from(scope_id.clone()))];
        Value::Object(json::object(members))
    };
    object.set("credentials", Value::Array(listed.credentials.iter().map(scope).collect()));
    object.into()
}

fn line(doc: &ConnectorDoc) -> String {
    clean::line(&format!("{}  {}  {}", doc.name, doc.kind, doc.id)) + "\n"
}

fn listed_line(listed: &Listed) -> String {
    let doc = &listed.connector;
    let mut text = format!("{}  {}  {}  {}", doc.name, doc.kind, doc.id, doc.config);
    for (scope_type, scope_id) in &listed.credentials {
        text.push_str(&format!("  [credential: {scope_type} {scope_id}]"));
    }
    clean::line(&text) + "\n"
}
