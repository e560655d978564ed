//! `heldset run`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use heldset_core::code::Code;
use heldset_core::value::{Object, Value};
use heldset_engine::results::too_many_errors;
use heldset_engine::run::{Cache, DryRun, Ran, RunRequest, dry_run, run as run_plan, source_names};
use heldset_engine::session::Session;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::plans::{self, NamedPlan, PlanArgs};
use crate::print::json;
use crate::print::run as printing;

#[derive(Args)]
pub(crate) struct RunArgs {
    /// The plan: an experiment of mas-lab, a suite of Letta, or our own form
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Print what would be run, and what is in the cache
    #[arg(long)]
    dry_run: bool,
    /// What is done about results of earlier runs
    #[arg(long, value_name = "HOW", default_value = "use", value_parser = ["use", "refresh", "off", "require"])]
    cache: String,
    /// Run one part of several: `2/4` is the second of four
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// Run at most so many records
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Refuse to start an agent that could reach sealed data
    #[arg(long)]
    require_isolation: bool,
    #[command(flatten)]
    about: PlanArgs,
}

/// Runs a plan.
pub(crate) fn run(cli: &Cli, args: &RunArgs) -> Result<Exit, Failure> {
    let mut found = plans::load(cli, &args.plan, &args.about)?;
    args.narrow(&mut found)?;
    if !cli.quiet {
        found.notes.iter().for_each(|note| note_line(note));
    }
    let session = plans::session(cli, &found.base)?;
    session.must_own("run")?;
    let cite = plans::dataset(cli, &session, &mut found)?;
    found.hide(&session, &cite)?;
    let environment = environment();
    let request = RunRequest {
        plan: &found.plan,
        cite: &cite,
        base: &found.base,
        hidden: &found.hidden,
        cache: args.cache(),
        outputs_of: None,
        require_isolation: args.require_isolation,
        product: env!("CARGO_PKG_VERSION"),
        environment: &environment,
    };
    if args.dry_run {
        let dry = dry_run(&session, &request, &place::outside(&place::scratch()?))?;
        return print_dry(cli, &found, &dry);
    }
    execute(cli, &session, &request)
}

/// Runs a request to its end, shows how far it is, and prints what it came to.
pub(crate) fn execute(cli: &Cli, session: &Session, request: &RunRequest<'_>) -> Result<Exit, Failure> {
    let quiet = cli.quiet || cli.json && !io::stderr().is_terminal();
    let mut listener = printing::Lines::new(quiet, &printing::command_line(std::env::args_os()));
    crate::whole::clean_up_when_interrupted();
    let scratch = place::scratch()?;
    let ran = run_plan(session, request, &place::outside(&scratch), &mut listener);
    listener.finish();
    let ran = ran?;
    let exit = exit_of(&ran);
    let printed = match cli.json {
        true => writeln!(io::stdout(), "{}", json::text(&answer(&ran))),
        false if cli.quiet => Ok(()),
        false => write!(io::stdout(), "{}", printing::text(&ran)),
    };
    printed.map(|()| exit).map_err(|error| super::broken(&error))
}

impl RunArgs {
    fn cache(&self) -> Cache {
        match self.cache.as_str() {
            "refresh" => Cache::Refresh,
            "off" => Cache::Off,
            "require" => Cache::Require,
            _ => Cache::Use,
        }
    }

    fn narrow(&self, found: &mut NamedPlan) -> Result<(), Failure> {
        if let Some(text) = &self.shard {
            let parts = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
            let fits = |(part, parts): &(u64, u64)| *part >= 1 && part <= parts;
            let shard = parts.filter(fits).ok_or_else(|| {
                let message = format!("`{text}` is no part of a whole");
                Failure::usage(Code::E105, message, "write `2/4` for the second of four parts")
            })?;
            found.plan.select.shard = Some(shard);
        }
        if self.limit == Some(0) {
            return Err(Failure::usage(Code::E105, "a limit of 0 runs nothing", "leave `--limit` out to run all"));
        }
        found.plan.select.limit = self.limit.or(found.plan.select.limit);
        Ok(())
    }
}

impl NamedPlan {
    /// Adds the store, its keys and the files that the data came from to what no agent may reach.
    pub(crate) fn hide(&mut self, session: &Session, cite: &str) -> Result<(), Failure> {
        let here = std::env::current_dir().unwrap_or_default();
        for name in source_names(session, cite)? {
            self.hidden.extend([here.join(&name), self.base.join(&name)]);
        }
        self.hidden.extend(session.store.folder().map(|folder| folder.path().to_owned()));
        self.hidden.push(place::keys_folder()?);
        self.hidden.extend(place::usual_keys());
        self.hidden = self.hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
        Ok(())
    }
}

/// How a run ends: incomplete before failed before inconclusive.
pub(crate) fn exit_of(ran: &Ran) -> Exit {
    let balance = &ran.doc.balance;
    let too_many = too_many_errors(&ran.doc);
    if balance.skipped > 0 || too_many {
        return Exit::Incomplete;
    }
    match ran.summary.verdict.as_ref().map(|verdict| verdict.verdict.name()) {
        Some("fail") => Exit::Different,
        Some("inconclusive") => Exit::Inconclusive,
        _ => Exit::Fine,
    }
}

/// What a program reads.
fn answer(ran: &Ran) -> Object<'static> {
    let doc = &ran.doc;
    let balance = json::object([
        ("planned", json::number(doc.balance.planned)),
        ("scored", json::number(doc.balance.scored)),
        ("unscored", json::number(doc.balance.unscored)),
        ("error", json::number(doc.balance.error)),
        ("skipped", json::number(doc.balance.skipped)),
    ]);
    let verdict = ran.summary.verdict.as_ref().map_or(Value::Null, |verdict| {
        let mut value = verdict.to_value();
        if let Value::Object(verdict) = &mut value {
            verdict.set("digest", doc.digest.clone().into());
        }
        value
    });
    let mut answer = json::object([
        ("run", doc.id.clone().into()),
        ("dataset", doc.dataset.clone().into()),
        ("version", json::number(doc.version)),
        ("digest", doc.digest.clone().into()),
        ("selected", json::number(doc.selected)),
        ("selection", doc.selection.clone().into()),
        ("balance", balance.into()),
        ("cached", json::number(doc.cached)),
        ("scores", ran.summary.scores()),
        ("gate", verdict),
    ]);
    if let Some(replay) = &doc.replay {
        answer.set("replay", replay.clone().into());
    }
    answer
}

fn print_dry(cli: &Cli, found: &NamedPlan, dry: &DryRun) -> Result<Exit, Failure> {
    let printed = match cli.json {
        true => writeln!(io::stdout(), "{}", json::text(&printing::dry_value(&found.plan.name, dry))),
        false => write!(io::stdout(), "{}", printing::dry_text(&found.plan.name, dry)),
    };
    printed.map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

pub(crate) fn note_line(note: &str) {
    // Nobody is left to be told when the terminal is gone.
    drop(writeln!(io::stderr(), "note: {note}"));
}

/// Operating system and processor.
pub(crate) fn environment() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}
