//! `heldset init`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::init::{check_config, configure, init};
use heldset_engine::ports::Clock;
use heldset_engine::store_rules::requirements;
use heldset_store::NoProbe;
use heldset_store::registry::ConfigDoc;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place::{self, FOLDER, System};
use crate::print::json;

#[derive(Args)]
pub(crate) struct InitArgs {
    /// The folder that becomes the store (default: ./.heldset)
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The region that the store lies in: data with another `data_residency` is refused
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
    /// What a registration must come with: checksum, manifest, license, provenance, visibility; `none` for nothing
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    require: Option<Vec<String>>,
    /// Change the region and the requirements of a store that is there
    #[arg(long)]
    change: bool,
}

/// Makes a store.
pub(crate) fn run(cli: &Cli, args: &InitArgs) -> Result<Exit, Failure> {
    let folder = args.folder.clone().or_else(|| cli.store.clone()).unwrap_or_else(|| PathBuf::from(FOLDER));
    let config = args.config();
    check_config(&config)?;
    let viewer = place::viewer(cli)?;
    if args.change {
        return changed(cli, args, &config);
    }
    let head = init(&folder, viewer, &System, &System.now(), Arc::new(NoProbe))?;
    if config != ConfigDoc::default() {
        configure(&place::session_at(cli, &folder)?, &config)?;
    }
    let keys = place::keys_folder()?.join(&head.id);
    let printed = if cli.json {
        let object = json::object([
            ("store", Value::from(folder.display().to_string())),
            ("id", Value::from(head.id)),
            ("keys", Value::from(keys.display().to_string())),
            ("region", json::optional(config.region.as_deref())),
            ("require", required(&config)),
        ]);
        writeln!(io::stdout(), "{}", json::text(&object))
    } else if cli.quiet {
        Ok(())
    } else {
        let (folder, keys) = (folder.display(), keys.display());
        writeln!(
            io::stdout(),
            "made the store {folder}\nits keys will lie in {keys}: back them up (`heldset keys export`)"
        )
    };
    printed.map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

impl InitArgs {
    fn config(&self) -> ConfigDoc {
        let require = self.require.clone().map(|mut names| {
            names.retain(|name| !name.is_empty() && name != "none");
            names
        });
        ConfigDoc { region: self.region.clone(), require }
    }
}

/// Changes what holds for a store that is there.
fn changed(cli: &Cli, args: &InitArgs, change: &ConfigDoc) -> Result<Exit, Failure> {
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => place::find(cli)?,
    };
    let config = configure(&place::session_at(cli, &folder)?, change)?;
    let text = match cli.json {
        true => json::text(&json::object([
            ("store", Value::from(folder.display().to_string())),
            ("region", json::optional(config.region.as_deref())),
            ("require", required(&config)),
        ])),
        false => {
            let names: Vec<&str> = requirements(&config).iter().map(|one| one.name()).collect();
            let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            let region = config.region.as_deref().unwrap_or("not stated");
            format!("the region of {} is {region}; a registration requires {names}", folder.display())
        }
    };
    writeln!(io::stdout(), "{text}").map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn required(config: &ConfigDoc) -> Value<'static> {
    Value::Array(requirements(config).iter().map(|one| Value::from(one.name())).collect())
}
