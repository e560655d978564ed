//! `heldset tag`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::tag::tag;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::json;

#[derive(Args)]
pub(crate) struct TagArgs {
    /// The version, such as `trips@3`
    #[arg(value_name = "SLUG@V")]
    cite: String,
    /// The name; not all digits
    #[arg(value_name = "NAME")]
    name: String,
}

/// Gives a version a name.
pub(crate) fn run(cli: &Cli, args: &TagArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let tagged = tag(&session, &args.cite, &args.name)?;
    let (slug, version) = (&tagged.resolved.dataset.slug, &tagged.resolved.version);
    let out = if cli.json {
        let members = json::object([
            ("dataset", Value::from(slug.as_str())),
            ("tag", Value::from(args.name.as_str())),
            ("version", json::number(version.number)),
            ("digest", Value::from(version.digest.as_str())),
            ("before", tagged.before.map_or(Value::Null, json::number)),
        ]);
        json::text(&members)
    } else {
        let moved = tagged.before.filter(|before| *before != version.number);
        let moved = moved.map_or_else(String::new, |before| format!(" (was {slug}@{before})"));
        format!("{slug}@{} is {slug}@{} {}{moved}", args.name, version.number, version.digest)
    };
    writeln!(io::stdout(), "{out}").map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}
