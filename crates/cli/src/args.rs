//! The command line as types.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use heldset_dialect::write::Target;
use heldset_dialect::{Format, IdRule};

/// Datasets that AI agents are evaluated on: read exactly, pinned by digest, answers sealed.
#[derive(Parser)]
#[command(name = "heldset", version, arg_required_else_help = true)]
#[command(after_help = "Example:\n  heldset init\n  heldset import trips cases.jsonl\n  heldset cat trips --as agent")]
pub(crate) struct Cli {
    /// The store (default: $HELDSET_STORE, else the nearest `.heldset` upwards)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// See and act as this audience does (default: the owner)
    #[arg(long = "as", global = true, value_name = "AUDIENCE")]
    pub(crate) audience: Option<String>,
    /// Print one JSON document and nothing else on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Print no progress and no summary
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more about what is done
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Take a tour, offline, in a few seconds
    #[command(after_help = "Example:\n  heldset demo")]
    Demo(crate::commands::demo::DemoArgs),
    /// Find all faults of files, in every dialect
    #[command(
        after_help = "Example:\n  heldset check cases.jsonl more.csv manifest.yaml\n  cat cases.jsonl | heldset check -"
    )]
    Check(CheckArgs),
    /// Translate a file from one dialect to another, with a report
    #[command(
        after_help = "Example:\n  heldset convert suite.csv --to jsonl\n  heldset convert cases.yaml --to letta-csv -o cases.csv"
    )]
    Convert(ConvertArgs),
    /// Make a store
    #[command(after_help = "Example:\n  heldset init\n  heldset init /data/evals")]
    Init(crate::commands::init::InitArgs),
    /// Register files as a new version of a dataset
    #[command(
        after_help = "Example:\n  heldset import trips cases.jsonl --message \"first cases\"\n  heldset import trips fixes.jsonl --upsert"
    )]
    Import(Box<crate::commands::import::ImportArgs>),
    /// Register a dataset from its declaration
    #[command(after_help = "Example:\n  heldset register dataset.yaml --dry-run")]
    Register(crate::commands::register::RegisterArgs),
    /// List the datasets
    #[command(after_help = "Example:\n  heldset ls")]
    Ls(crate::commands::ls::LsArgs),
    /// Show a version: splits, labels, digests
    #[command(after_help = "Example:\n  heldset show trips\n  heldset show trips@3 --digests")]
    Show(crate::commands::show::ShowArgs),
    /// List the versions of a dataset
    #[command(after_help = "Example:\n  heldset history trips")]
    History(crate::commands::history::HistoryArgs),
    /// Give a version a name
    #[command(after_help = "Example:\n  heldset tag trips@3 baseline")]
    Tag(crate::commands::tag::TagArgs),
    /// Compare two versions, record by record
    #[command(after_help = "Example:\n  heldset diff trips@2 trips@3")]
    Diff(crate::commands::diff::DiffArgs),
    /// Print records as an audience sees them
    #[command(after_help = "Example:\n  heldset cat trips --as agent\n  heldset cat trips@2 --ids tc-001,tc-007")]
    Cat(crate::commands::cat::CatArgs),
    /// Print, change or remove one record
    #[command(
        after_help = "Example:\n  heldset record trips tc-001\n  heldset record trips tc-001@2 --history\n  heldset record edit trips tc-001 --set category='\"hotel\"'\n  heldset record rm trips tc-001"
    )]
    Record(crate::commands::record::RecordArgs),
    /// Write a version to a file in any dialect
    #[command(
        after_help = "Example:\n  heldset export trips@3 --to jsonl -o trips.jsonl\n  heldset export trips --as agent --to letta-csv -o prompts.csv"
    )]
    Export(crate::commands::export::ExportArgs),
    /// Recompute the digests of versions
    #[command(after_help = "Example:\n  heldset verify\n  heldset verify trips@3")]
    Verify(crate::commands::verify::VerifyArgs),
    /// Read every object and every entry of the store
    #[command(after_help = "Example:\n  heldset scrub")]
    Scrub(crate::commands::scrub::ScrubArgs),
    /// Drop what nothing refers to
    #[command(after_help = "Example:\n  heldset gc --dry-run")]
    Gc(crate::commands::gc::GcArgs),
    /// Erase a record from all versions
    #[command(after_help = "Example:\n  heldset erase trips tc-001 --reason \"request 4711\"")]
    Erase(crate::commands::erase::EraseArgs),
    /// Run agents on a dataset, score them, and decide
    #[command(
        after_help = "Example:\n  heldset run plan.yaml --dry-run\n  heldset run plan.yaml\n  heldset run suite.yaml --target echo.yaml"
    )]
    Run(crate::commands::run::RunArgs),
    /// Score the outputs of a run again, without asking the agent
    #[command(after_help = "Example:\n  heldset score r00001-3fa9c2\n  heldset score last --dataset trips@4")]
    Score(crate::commands::score::ScoreArgs),
    /// Show or write the results of a run
    #[command(after_help = "Example:\n  heldset report last\n  heldset report r00001-3fa9c2 --to html -o report.html")]
    Report(crate::commands::report::ReportArgs),
    /// Compare two runs, record by record
    #[command(after_help = "Example:\n  heldset compare r00001-3fa9c2 last")]
    Compare(crate::commands::compare::CompareArgs),
    /// Decide whether a run passes
    #[command(
        after_help = "Example:\n  heldset gate last\n  heldset gate last --rule gate.yaml --baseline r00001-3fa9c2 --junit gate.xml --github"
    )]
    Gate(crate::commands::gate::GateArgs),
    /// List the runs
    #[command(after_help = "Example:\n  heldset runs\n  heldset runs --dataset trips")]
    Runs(crate::commands::runs::RunsArgs),
    /// Tell everything about one record of a run
    #[command(after_help = "Example:\n  heldset why last tc-001\n  heldset why last tc-001 --scenario base --repeat 0")]
    Why(crate::commands::why::WhyArgs),
    /// Make what a run made a version of a dataset
    #[command(after_help = "Example:\n  heldset promote last --to rollouts")]
    Promote(crate::commands::promote::PromoteArgs),
    /// Look for sealed text where agents can reach
    #[command(after_help = "Example:\n  heldset scan ./agent-workdir")]
    Scan(crate::commands::scan::ScanArgs),
    /// List the copies that left the store
    #[command(after_help = "Example:\n  heldset copies trips")]
    Copies(crate::commands::copies::CopiesArgs),
    /// Export or import the keys of the store
    #[command(after_help = "Example:\n  heldset keys export -o keys.json\n  heldset keys import keys.json")]
    Keys(crate::commands::keys::KeysArgs),
    /// List who looked at what, or verify the log
    #[command(after_help = "Example:\n  heldset audit\n  heldset audit verify --checkpoint checkpoint.json")]
    Audit(crate::commands::audit::AuditArgs),
    /// Lay out a version as a read-only folder
    #[command(after_help = "Example:\n  heldset mount trips@3 ./data --as agent")]
    Mount(crate::commands::mount::MountArgs),
    /// Check the store, its keys and the disk
    #[command(after_help = "Example:\n  heldset doctor")]
    Doctor(crate::commands::doctor::DoctorArgs),
    /// Print a suite or experiment as a plan in the native form
    #[command(
        after_help = "Example:\n  heldset migrate suite.yaml\n  heldset migrate suite.yaml --accuracy-unit fraction -o plan.yaml"
    )]
    Migrate(crate::commands::migrate::MigrateArgs),
    /// Describe datasets: create, validate, update, move through their states
    #[command(
        after_help = "Example:\n  heldset dataset create --name \"Support tickets\" --slug support-tickets\n  heldset dataset status support-tickets archived"
    )]
    Dataset(crate::commands::dataset::DatasetArgs),
    /// Register, infer and compare schemas
    #[command(after_help = "Example:\n  heldset schema infer trips\n  heldset schema register trips schema.json")]
    Schema(crate::commands::schema::SchemaArgs),
    /// Keep how outside systems are reached
    #[command(
        after_help = "Example:\n  heldset connector add jira --kind jira --config '{\"url\": \"https://example.atlassian.net\"}'"
    )]
    Connector(crate::commands::connector::ConnectorArgs),
    /// Keep the secrets of connectors
    #[command(after_help = "Example:\n  heldset credential set jira --scope user < secret.json")]
    Credential(crate::commands::credential::CredentialArgs),
    /// Fill a dataset from a live system
    #[command(after_help = "Example:\n  heldset source add tickets source.yaml\n  heldset source sync tickets")]
    Source(crate::commands::source::SourceArgs),
    /// List those who act, and set their teams
    #[command(after_help = "Example:\n  heldset principal ls")]
    Principal(crate::commands::principal::PrincipalArgs),
    /// Ask for records: filter, sort, page
    #[command(
        after_help = "Example:\n  heldset query trips --where 'category = \"hotel\" and score > 0.8' --sort -created_at --limit 50"
    )]
    Query(crate::commands::query::QueryArgs),
    /// Run read-only SQL over datasets
    #[command(after_help = "Example:\n  heldset sql 'select category, count(*) from trips group by category'")]
    Sql(crate::commands::sql::SqlArgs),
    /// Clean, look up and split a dataset into a new one
    #[command(
        after_help = "Example:\n  heldset prepare trips prepare.yaml --to trips-clean\n  heldset prepare trips --trim-whitespace --split train=0.8,test=0.2 --seed 7 -o trips.jsonl"
    )]
    Prepare(Box<crate::commands::prepare::PrepareArgs>),
    /// Show what comes from what
    #[command(after_help = "Example:\n  heldset lineage trips\n  heldset lineage trips --svg -o lineage.svg")]
    Lineage(crate::commands::lineage::LineageArgs),
    /// Tell what a code means and what to do about it
    #[command(after_help = "Example:\n  heldset explain E012")]
    Explain(ExplainArgs),
    /// Print completions for a shell
    #[command(after_help = "Example:\n  heldset completions bash > ~/.local/share/bash-completion/completions/heldset")]
    Completions(CompletionsArgs),
    /// Become an agent, after what it may not reach is taken away
    #[command(hide = true)]
    Launch(crate::commands::launch::LaunchArgs),
}

/// How files are read.
#[derive(Args)]
pub(crate) struct ReadArgs {
    /// The dialect of the files; `auto` finds it by their content
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = ["auto", "lab", "letta", "agenthealth", "records"])]
    pub(crate) format: String,
    /// The field that holds each record's id, or `row` to number the rows
    #[arg(long, value_name = "FIELD|row")]
    pub(crate) id: Option<String>,
    /// A schema that declares the types of CSV columns (default: FILE.schema.json beside the file)
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Follow paths in the dataset that lead out of its folder
    #[arg(long)]
    pub(crate) allow_outside: bool,
    /// Read as a released loader does, for parity checks
    #[arg(long, value_name = "LOADER", value_parser = ["letta/0.26"])]
    pub(crate) compat: Option<String>,
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// Files to check; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Args)]
pub(crate) struct ConvertArgs {
    /// The file to translate; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_parser = target_names())]
    pub(crate) to: String,
    /// Where to write; standard output when absent
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Write also what the target cannot carry exactly
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Write the valid records although others are refused
    #[arg(long)]
    pub(crate) keep_valid: bool,
    /// Write refused rows aside, as they stand in the file
    #[arg(long, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,
    /// Guard CSV cells that a spreadsheet would take for formulas
    #[arg(long)]
    pub(crate) for_spreadsheet: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// The code, such as E012
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

impl ReadArgs {
    /// The dialect that was asked for.
    pub(crate) fn format(&self) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == self.format)
    }

    /// Where ids come from.
    pub(crate) fn id_rule(&self) -> IdRule {
        match self.id.as_deref() {
            None => IdRule::Auto,
            Some("row") => IdRule::Row,
            Some(field) => IdRule::Field(field.to_owned()),
        }
    }
}

impl ConvertArgs {
    /// The target that was asked for.
    pub(crate) fn target(&self) -> Target {
        target(&self.to)
    }
}

/// The target of that name.
pub(crate) fn target(name: &str) -> Target {
    let found = Target::ALL.iter().find(|(_, known)| *known == name);
    found.map_or(Target::Jsonl, |(target, _)| *target)
}

pub(crate) fn target_names() -> Vec<&'static str> {
    Target::ALL.iter().map(|(_, name)| *name).collect()
}
