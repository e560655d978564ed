//! The command line as types.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use heldset_dialect::write::Target;
use heldset_dialect::{Format, IdRule};

/// Datasets that AI agents are evaluated on: read exactly, pinned by digest, answers sealed.
#[derive(Parser)]
#[command(name = "heldset", version, arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  heldset check cases.jsonl\n  heldset convert cases.jsonl --to parquet -o cases.parquet"
)]
pub(crate) struct Cli {
    /// Print one JSON document and nothing else on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Print no progress and no summary
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
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
    /// Tell what a code means and what to do about it
    #[command(after_help = "Example:\n  heldset explain E012")]
    Explain(ExplainArgs),
    /// Print completions for a shell
    #[command(after_help = "Example:\n  heldset completions bash > ~/.local/share/bash-completion/completions/heldset")]
    Completions(CompletionsArgs),
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
        let found = Target::ALL.iter().find(|(_, name)| *name == self.to);
        found.map_or(Target::Jsonl, |(target, _)| *target)
    }
}

fn target_names() -> Vec<&'static str> {
    Target::ALL.iter().map(|(_, name)| *name).collect()
}
