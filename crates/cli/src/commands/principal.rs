//! `heldset principal`.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use heldset_core::value::{Object, Value};
use heldset_engine::principal::{PrincipalRequest, ls, set};
use heldset_store::registry::PrincipalDoc;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct PrincipalArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List everybody who acted here, or was set
    #[command(after_help = "Example:\n  heldset principal ls --json")]
    Ls,
    /// Set the teams and the organisation of somebody, who is written down when new
    #[command(
        after_help = "Example:\n  heldset principal set ada --team evaluation --team safety --organization example"
    )]
    Set {
        /// The name, which the user of the machine goes by
        #[arg(value_name = "NAME")]
        name: String,
        /// A team; those that are given take the place of those before
        #[arg(long = "team", value_name = "TEAM", conflicts_with = "no_teams")]
        teams: Vec<String>,
        /// Take all teams away
        #[arg(long)]
        no_teams: bool,
        /// The organisation; an empty one takes it away
        #[arg(long, value_name = "NAME")]
        organization: Option<String>,
    },
}

/// Lists those who act, or sets one.
pub(crate) fn run(cli: &Cli, args: &PrincipalArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let out = match &args.action {
        Action::Ls => {
            let all = ls(&session)?;
            match cli.json {
                true => super::list_text(all.iter().map(|one| Value::Object(object(one)))),
                false => all.iter().map(|one| line(one) + "\n").collect(),
            }
        }
        Action::Set { name, teams, no_teams, organization } => {
            let teams = (*no_teams || !teams.is_empty()).then(|| teams.clone());
            let request = PrincipalRequest { name, teams, organization: organization.as_deref() };
            let done = set(&session, &request)?;
            (if cli.json { json::text(&object(&done)) } else { line(&done) }) + "\n"
        }
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn object(principal: &PrincipalDoc) -> Object<'_> {
    json::object([
        ("id", Value::from(principal.id.as_str())),
        ("name", Value::from(principal.name.as_str())),
        ("teams", Value::Array(principal.teams.iter().map(|team| Value::from(team.as_str())).collect())),
        ("organization", json::optional(principal.organization.as_deref())),
    ])
}

fn line(principal: &PrincipalDoc) -> String {
    let teams = if principal.teams.is_empty() { "-".to_owned() } else { principal.teams.join(", ") };
    let organization = principal.organization.as_deref().unwrap_or("-");
    let line = format!("{}  {}  teams {teams}  organisation {organization}", principal.name, principal.id);
    clean::line(&line)
}
