//! One file per command: resolve, call one verb, print.

pub(crate) mod audit;
pub(crate) mod cat;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod connector;
pub(crate) mod convert;
pub(crate) mod copies;
pub(crate) mod credential;
pub(crate) mod dataset;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod erase;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod gate;
pub(crate) mod gc;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod launch;
pub(crate) mod lineage;
pub(crate) mod ls;
pub(crate) mod migrate;
pub(crate) mod mount;
pub(crate) mod prepare;
pub(crate) mod principal;
pub(crate) mod promote;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod register;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod score;
pub(crate) mod scrub;
pub(crate) mod show;
pub(crate) mod source;
pub(crate) mod sql;
pub(crate) mod tag;
pub(crate) mod verify;
pub(crate) mod why;

use std::path::Path;

use heldset_core::json;
use heldset_core::schema::Schema;
use heldset_dialect::ReadOptions;

use crate::args::{Cli, Command, ReadArgs};
use crate::exit::{Exit, Failure};

/// Carries out a command.
pub(crate) fn run(cli: &Cli) -> Result<Exit, Failure> {
    use Command::{Erase, Gc, Import, Record, Register, Tag};
    if matches!(&cli.command, Import(_) | Register(_) | Record(_) | Tag(_) | Erase(_) | Gc(_)) {
        crate::whole::say_when_interrupted();
    }
    match &cli.command {
        Command::Check(args) => check::run(cli, args),
        Command::Init(args) => init::run(cli, args),
        Command::Import(args) => import::run(cli, args),
        Command::Register(args) => register::run(cli, args),
        Command::Ls(args) => ls::run(cli, args),
        Command::Show(args) => show::run(cli, args),
        Command::History(args) => history::run(cli, args),
        Command::Tag(args) => tag::run(cli, args),
        Command::Diff(args) => diff::run(cli, args),
        Command::Cat(args) => cat::run(cli, args),
        Command::Record(args) => record::run(cli, args),
        Command::Export(args) => export::run(cli, args),
        Command::Verify(args) => verify::run(cli, args),
        Command::Scrub(args) => scrub::run(cli, args),
        Command::Gc(args) => gc::run(cli, args),
        Command::Erase(args) => erase::run(cli, args),
        Command::Demo(args) => demo::run(cli, args),
        Command::Run(args) => run::run(cli, args),
        Command::Score(args) => score::run(cli, args),
        Command::Promote(args) => promote::run(cli, args),
        Command::Scan(args) => scan::run(cli, args),
        Command::Copies(args) => copies::run(cli, args),
        Command::Keys(args) => keys::run(cli, args),
        Command::Audit(args) => audit::run(cli, args),
        Command::Mount(args) => mount::run(cli, args),
        Command::Doctor(args) => doctor::run(cli, args),
        Command::Report(args) => report::run(cli, args),
        Command::Compare(args) => compare::run(cli, args),
        Command::Gate(args) => gate::run(cli, args),
        Command::Runs(args) => runs::run(cli, args),
        Command::Why(args) => why::run(cli, args),
        Command::Convert(args) => convert::run(cli, args),
        Command::Migrate(args) => migrate::run(cli, args),
        Command::Explain(args) => explain::run(cli, args),
        Command::Completions(args) => completions::run(args),
        Command::Dataset(args) => dataset::run(cli, args),
        Command::Schema(args) => schema::run(cli, args),
        Command::Source(args) => source::run(cli, args),
        Command::Connector(args) => connector::run(cli, args),
        Command::Credential(args) => credential::run(cli, args),
        Command::Principal(args) => principal::run(cli, args),
        Command::Query(args) => query::run(cli, args),
        Command::Sql(args) => sql::run(cli, args),
        Command::Prepare(args) => prepare::run(cli, args),
        Command::Lineage(args) => lineage::run(cli, args),
        Command::Launch(args) => launch::run(args),
    }
}

/// How to read, as the user asked.
fn read_options(args: &ReadArgs) -> Result<ReadOptions, Failure> {
    let schema = args.schema.as_deref().map(load_schema).transpose()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    Ok(ReadOptions { format: args.format(), id: args.id_rule(), schema, threads })
}

fn load_schema(path: &Path) -> Result<Schema, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::open(path, &error))?;
    let name = path.display().to_string();
    let value = json::read(&text).map_err(|error| {
        let problem = heldset_core::fault::Problem::new(
            heldset_core::code::Code::E037,
            error.path.clone(),
            format!("the schema is not JSON: {error}"),
        );
        Failure::invalid(&name, problem.of_file())
    })?;
    Schema::from_value(&value).map_err(|problem| Failure::invalid(&name, problem.of_file()))
}

/// Standard output is gone.
pub(crate) fn broken(error: &std::io::Error) -> Failure {
    Failure::write(Path::new("standard output"), error)
}

/// Says what a changed policy, license, schema or set of splits touches of what came from earlier versions.
pub(crate) fn tell_touched(
    cli: &Cli,
    session: &heldset_engine::session::Session,
    committed: &heldset_engine::commit::Committed,
) -> Result<(), Failure> {
    let Some(changed) = heldset_engine::lineage::changed(session, committed)? else { return Ok(()) };
    if !cli.quiet && !cli.json {
        let (slug, kinds) = (&committed.dataset.slug, changed.kinds.join(" and "));
        let first = changed.kinds.first().copied().unwrap_or("policy");
        let words = changed.touched.words();
        eprintln_closed_is_fine(&format!(
            "note: the {kinds} of {slug} changed; {words} come from earlier versions: `heldset lineage {slug} --impact {first}`"
        ));
    }
    Ok(())
}

/// Says whom a change of what is said of a dataset touches.
pub(crate) fn tell_touched_by(
    cli: &Cli,
    session: &heldset_engine::session::Session,
    slug: &str,
    kind: &str,
) -> Result<(), Failure> {
    let touched = heldset_engine::lineage::touched(session, slug, None)?;
    if !touched.is_empty() && !cli.quiet && !cli.json {
        let words = touched.words();
        eprintln_closed_is_fine(&format!("note: {words} come from {slug}: `heldset lineage {slug} --impact {kind}`"));
    }
    Ok(())
}

/// Writes a line to stderr; a closed one is no reason to stop.
fn eprintln_closed_is_fine(text: &str) {
    use std::io::Write as _;
    drop(writeln!(std::io::stderr(), "{text}"));
}

/// A document that the user wrote, in YAML or JSON.
pub(crate) fn load_document(path: &Path) -> Result<heldset_core::value::Value<'static>, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::open(path, &error))?;
    let name = path.display().to_string();
    heldset_dialect::read_document(&bytes).map_err(|fault| Failure::invalid(&name, *fault))
}

/// Where rows go.
#[derive(clap::Args)]
pub(crate) struct PlaceArgs {
    /// The kind of place the rows go to (default: the usual one of the audience)
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
}

impl PlaceArgs {
    /// The place that was named.
    pub(crate) fn place(&self) -> Result<Option<heldset_core::visibility::Place>, Failure> {
        use heldset_core::visibility::Place;
        let Some(name) = self.place.as_deref() else { return Ok(None) };
        let known = Place::ALL.iter().map(|place| place.name());
        let unknown = || heldset_engine::refusal::Refusal::unknown(format!("there is no place `{name}`"), name, known);
        Ok(Some(Place::parse(name).ok_or_else(unknown)?))
    }
}

/// A JSON list as one line.
pub(crate) fn list_text<'v>(values: impl Iterator<Item = heldset_core::value::Value<'v>>) -> String {
    let texts: Vec<String> = values.map(|value| crate::print::json::value_text(&value)).collect();
    format!("[{}]\n", texts.join(","))
}
