//! `heldset credential`.
//!
//! *Invariant:* prints for whom a secret is kept, never what it is, and no part of an input that was not understood.

use std::io::{self, IsTerminal, Read, Write};

use clap::{Args, Subcommand};
use heldset_core::code::Code;
use heldset_core::mapping::Scope;
use heldset_core::value::{Object, Value};
use heldset_engine::credential::{Held, rm, set};

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};

/// What to do about an input that is no secret.
const HELP: &str = "write a JSON mapping of texts on standard input, such as `{\"token\": \"…\"}`, or use `--from-env`";

#[derive(Args)]
pub(crate) struct CredentialArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Keep a secret, sealed: a JSON mapping on standard input, or from the environment
    #[command(
        after_help = "Example:\n  heldset credential set tickets --scope user < secret.json\n  heldset credential set tickets --scope team --scope-id support --from-env token=TICKETS_TOKEN"
    )]
    Set {
        #[command(flatten)]
        whose: WhoseArgs,
        /// A member of the secret and the environment variable that holds it
        #[arg(long = "from-env", value_name = "NAME=VAR")]
        from_env: Vec<String>,
    },
    /// Forget a secret
    #[command(after_help = "Example:\n  heldset credential rm tickets --scope user")]
    Rm {
        #[command(flatten)]
        whose: WhoseArgs,
    },
}

/// Whose a credential is.
#[derive(Args)]
struct WhoseArgs {
    /// The id or the name of the connector
    #[arg(value_name = "CONNECTOR")]
    connector: String,
    /// Who may use it
    #[arg(long, value_name = "SCOPE", value_parser = ["user", "team", "organization"])]
    scope: String,
    /// Which principal, team or organisation (default: your own)
    #[arg(long, value_name = "ID")]
    scope_id: Option<String>,
}

impl WhoseArgs {
    fn scope(&self) -> (Scope, Option<&str>) {
        (Scope::parse(&self.scope).unwrap_or(Scope::User), self.scope_id.as_deref())
    }
}

/// Keeps or forgets the secret of a connector.
pub(crate) fn run(cli: &Cli, args: &CredentialArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    session.must_manage("credential")?;
    let (held, done) = match &args.action {
        Action::Set { whose, from_env } => {
            let secret = secret(from_env)?;
            let held = set(&session, &whose.connector, whose.scope(), &secret)?;
            let done = if held.replaced { "replaced" } else { "set" };
            (held, done)
        }
        Action::Rm { whose } => (rm(&session, &whose.connector, whose.scope())?, "removed"),
    };
    let out = match cli.json {
        true => json::text(&object(&held, done)),
        false => {
            let Held { connector, scope_type, scope_id, .. } = &held;
            clean::line(&format!("the credential of {connector} for {scope_type} {scope_id} is {done}"))
        }
    };
    writeln!(io::stdout(), "{out}").map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn object<'h>(held: &'h Held, done: &'h str) -> Object<'h> {
    json::object([
        ("connector", Value::from(held.connector.as_str())),
        ("scope_type", Value::from(held.scope_type.as_str())),
        ("scope_id", Value::from(held.scope_id.as_str())),
        ("state", Value::from(done)),
    ])
}

fn secret(from_env: &[String]) -> Result<Object<'static>, Failure> {
    if from_env.is_empty() {
        return secret_of_stdin();
    }
    let mut secret = Object::new();
    for pair in from_env {
        let (name, variable) = super::import::pair(pair, "--from-env", "NAME=VAR")?;
        let value = std::env::var(&variable).ok().filter(|value| !value.is_empty()).ok_or_else(|| {
            let message = format!("the environment has no `{variable}`");
            Failure::usage(Code::E105, message, "set it, or write the secret on standard input")
        })?;
        secret.set(name, Value::from(value));
    }
    Ok(secret)
}

fn secret_of_stdin() -> Result<Object<'static>, Failure> {
    let refused = |message: &str| Failure::usage(Code::E105, message, HELP);
    if io::stdin().is_terminal() {
        return Err(refused("the secret is read from standard input, and that is a terminal, which would show it"));
    }
    let mut text = String::new();
    let read = io::stdin().take(1 << 20).read_to_string(&mut text);
    read.map_err(|_| refused("standard input is not text"))?;
    // Nothing of it is quoted: it may be the secret.
    match heldset_core::json::read(&text).map(Value::into_owned) {
        Ok(Value::Object(secret)) => Ok(secret),
        _ => Err(refused("standard input is not a JSON mapping")),
    }
}
