//! `heldset audit`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use heldset_core::code::Code;
use heldset_core::json as text;
use heldset_core::value::{Object, Value};
use heldset_engine::audit::{Entry, SignedCheckpoint, checkpoint_for, entries, verify};
use heldset_engine::session::Session;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::{clean, json};
use crate::whole::WholeFile;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only entries about this dataset
    #[arg(long, value_name = "SLUG")]
    dataset: Option<String>,
    /// Only so many of the newest entries
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Subcommand)]
enum Action {
    /// Write down, signed, what the log holds now
    #[command(after_help = "Example:\n  heldset audit checkpoint -o checkpoint.json")]
    Checkpoint {
        /// Where to write; standard output when absent
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Prove that no entry was changed, moved or removed
    #[command(after_help = "Example:\n  heldset audit verify --checkpoint checkpoint.json")]
    Verify {
        /// A checkpoint that the log must agree with; can be given again
        #[arg(long = "checkpoint", value_name = "FILE")]
        checkpoints: Vec<PathBuf>,
    },
}

/// List who looked at what, or verify the log.
pub(crate) fn run(cli: &Cli, args: &AuditArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    match &args.action {
        None => list(cli, &session, args),
        Some(Action::Checkpoint { output }) => write_checkpoint(&session, output.as_deref()),
        Some(Action::Verify { checkpoints }) => check(cli, &session, checkpoints),
    }
}

fn list(cli: &Cli, session: &Session, args: &AuditArgs) -> Result<Exit, Failure> {
    let entries = entries(session, args.dataset.as_deref(), args.limit)?;
    let out = match cli.json {
        true => super::list_text(entries.iter().map(value)),
        false => entries.iter().map(line).collect(),
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn line(Entry { number, entry }: &Entry) -> String {
    let about = match entry.version.is_empty() {
        true => entry.dataset.clone(),
        false => format!("{} {}", entry.dataset, entry.version),
    };
    let refused = if entry.allowed { "" } else { "  refused" };
    let rows = if entry.rows > 0 { format!("  {} rows", entry.rows) } else { String::new() };
    let note = entry.note.as_deref().map_or_else(String::new, |note| format!("  {}", clean::line(note)));
    let (time, purpose, who, audience) = (&entry.time, &entry.purpose, clean::line(&entry.who), &entry.audience);
    format!("{number}  {time}  {purpose}  {who} as {audience}  {about}{rows}{refused}{note}\n")
}

fn value(Entry { number, entry }: &Entry) -> Value<'_> {
    let texts = |texts: &'_ [String]| Value::Array(texts.iter().map(|text| Value::from(text.clone())).collect());
    Value::Object(json::object([
        ("number", json::number(*number)),
        ("time", Value::from(entry.time.as_str())),
        ("who", Value::from(entry.who.as_str())),
        ("audience", Value::from(entry.audience.as_str())),
        ("place", Value::from(entry.place.as_str())),
        ("purpose", Value::from(entry.purpose.as_str())),
        ("dataset", json::optional(Some(entry.dataset.as_str()).filter(|slug| !slug.is_empty()))),
        ("version", json::optional(Some(entry.version.as_str()).filter(|digest| !digest.is_empty()))),
        ("splits", texts(&entry.splits)),
        ("labels", texts(&entry.labels)),
        ("rows", json::number(entry.rows)),
        ("allowed", Value::Bool(entry.allowed)),
        ("note", json::optional(entry.note.as_deref())),
    ]))
}

fn write_checkpoint(session: &Session, output: Option<&Path>) -> Result<Exit, Failure> {
    let checkpoint = checkpoint_for(session)?;
    let out = format!("{}\n", json::value_text(&checkpoint.to_value()));
    let Some(path) = output.filter(|path| path.as_os_str() != "-") else {
        return io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error));
    };
    let mut file = WholeFile::create(path)?;
    file.write_all(out.as_bytes()).map_err(|error| Failure::write(path, &error))?;
    file.keep().map(|()| Exit::Fine)
}

fn check(cli: &Cli, session: &Session, paths: &[PathBuf]) -> Result<Exit, Failure> {
    let mut checkpoints = Vec::new();
    for path in paths {
        checkpoints.push((path.display().to_string(), load(path)?));
    }
    let checked = verify(session, &checkpoints)?;
    let fine = checked.problems.is_empty();
    let out = if cli.json {
        let problems = checked.problems.iter().map(|problem| Value::from(problem.as_str())).collect();
        let object: Object<'_> = json::object([
            ("ok", Value::Bool(fine)),
            ("entries", json::number(checked.entries)),
            ("root", Value::from(checked.root.as_str())),
            ("checkpoints", json::number(paths.len() as u64)),
            ("problems", Value::Array(problems)),
        ]);
        format!("{}\n", json::text(&object))
    } else if fine {
        let agrees =
            if paths.is_empty() { String::new() } else { format!(", agrees with {} checkpoints", paths.len()) };
        format!("{} entries, root sha256:{}{agrees}: ok\n", checked.entries, checked.root)
    } else {
        checked.problems.iter().map(|problem| format!("{}\n", clean::line(problem))).collect()
    };
    io::stdout().write_all(out.as_bytes()).map_err(|error| super::broken(&error))?;
    Ok(if fine { Exit::Fine } else { Exit::Integrity })
}

fn load(path: &Path) -> Result<SignedCheckpoint, Failure> {
    let bytes = std::fs::read_to_string(path).map_err(|error| Failure::open(path, &error))?;
    let wrong = |why: String| {
        let message = format!("`{}` is not a checkpoint: {why}", path.display());
        Failure::usage(Code::E105, message, "name a file that `heldset audit checkpoint` wrote")
    };
    let value = text::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    SignedCheckpoint::from_value(&value).map_err(|error| wrong(error.to_string()))
}
