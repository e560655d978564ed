//! `heldset source sync`.

use std::io::{self, Write};

use clap::Args;
use heldset_core::value::Value;
use heldset_engine::session::Session;
use heldset_engine::source::{SourceReport, SyncMode, SyncRequest, Synced, sync};

use super::reaching;
use crate::args::Cli;
use crate::commands::import::ImportListener;
use crate::exit::{Exit, Failure};
use crate::labels::LabelArgs;
use crate::print::{clean, json};

#[derive(Args)]
pub(super) struct SyncArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
    /// Ids or names of sources; all of them when absent
    #[arg(value_name = "SOURCE")]
    sources: Vec<String>,
    /// Begin anew, instead of going on where a sync was cut short
    #[arg(long, conflicts_with = "replay")]
    restart: bool,
    /// Register what is valid although rows, objects or later pages failed
    #[arg(long)]
    keep_valid: bool,
    /// Record the digest of every page, as a stream
    #[arg(long, conflicts_with = "replay")]
    stream: bool,
    /// Keep the pages, sealed, so that the stream can be replayed
    #[arg(long, requires = "stream")]
    cache_pages: bool,
    /// Read the pages that were kept, and dial nowhere
    #[arg(long)]
    replay: bool,
    /// What the version is about
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    #[command(flatten)]
    labels: LabelArgs,
}

impl SyncArgs {
    fn mode(&self) -> SyncMode {
        match (self.replay, self.stream) {
            (true, _) => SyncMode::Replay,
            (false, true) => SyncMode::Stream { cache: self.cache_pages },
            (false, false) => SyncMode::Copy,
        }
    }

    /// The command that goes on with what this one read. It does not begin anew.
    fn again(&self) -> String {
        let flags = [
            ("--keep-valid", self.keep_valid),
            ("--stream", self.stream),
            ("--cache-pages", self.cache_pages),
            ("--replay", self.replay),
        ];
        let flags = flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.to_owned());
        let message = self.message.iter().flat_map(|text| ["-m".to_owned(), quoted(text)]);
        let words = self.sources.iter().map(|name| quoted(name)).chain(flags).chain(message);
        words.fold(format!("heldset source sync {}", quoted(&self.slug)), |all, word| format!("{all} {word}"))
    }
}

/// Syncs sources.
pub(super) fn run(cli: &Cli, session: &Session, args: &SyncArgs) -> Result<Exit, Failure> {
    session.must_manage("source")?;
    let labelling = args.labels.labelling()?;
    let request = SyncRequest {
        slug: &args.slug,
        sources: &args.sources,
        restart: args.restart,
        keep_valid: args.keep_valid,
        mode: args.mode(),
        labelling: &labelling,
        message: args.message.clone(),
        threads: std::thread::available_parallelism().map_or(1, usize::from).min(8),
    };
    crate::whole::clean_up_when_interrupted();
    let again = clean::line(&args.again());
    crate::whole::last_words(format!("interrupted: what was read is kept; `{again}` goes on"));
    let mut listener = ImportListener::new(cli);
    listener.start(cli, &args.slug, None);
    let done = reaching(|reach| sync(session, reach, &request, &mut listener));
    listener.finish();
    print(cli, args, &done?, &listener).map_err(|error| crate::commands::broken(&error))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+,=".contains(&byte);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn print(cli: &Cli, args: &SyncArgs, synced: &Synced, listener: &ImportListener) -> io::Result<Exit> {
    let exit = if synced.refused { Exit::Invalid } else { Exit::Fine };
    if cli.json {
        writeln!(io::stdout(), "{}", json::text(&object(args, synced, listener)))?;
        return Ok(exit);
    }
    if !cli.quiet {
        for report in &synced.sources {
            writeln!(io::stderr(), "{}", line(report))?;
            for (what, list) in [("skipped", &report.skipped), ("failed", &report.failed)] {
                for (name, why) in list {
                    writeln!(io::stderr(), "  {what}: {}", clean::line(&format!("{name} ({why})")))?;
                }
            }
        }
    }
    if synced.refused {
        let help = "mend them at the source and sync again, or leave them out with `--keep-valid`";
        writeln!(io::stderr(), "nothing was registered because of the faults above: {help}")?;
    }
    for done in &synced.committed {
        let (slug, number, digest) = (&args.slug, done.version.number, &done.version.digest);
        let same = if done.created { "" } else { " (same content, no new version)" };
        writeln!(io::stdout(), "{slug}@{number} {digest}{same}")?;
    }
    Ok(exit)
}

fn line(report: &SourceReport) -> String {
    let resumed = match report.resumed {
        0 => String::new(),
        pages => format!(", {pages} of them read before"),
    };
    let counted = |count: u64, what: &str| if count == 0 { String::new() } else { format!(", {count} {what}") };
    let text = format!(
        "{}: {} rows from {} page{}{resumed}{}{}{}",
        report.name,
        report.rows,
        report.pages,
        if report.pages == 1 { "" } else { "s" },
        counted(report.refused, "refused"),
        counted(report.skipped.len() as u64, "skipped"),
        counted(report.failed.len() as u64, "failed"),
    );
    clean::line(&text)
}

fn object<'o>(args: &'o SyncArgs, synced: &'o Synced, listener: &ImportListener) -> heldset_core::value::Object<'o> {
    let last = synced.committed.last();
    let sum = |of: fn(&SourceReport) -> u64| json::number(synced.sources.iter().map(of).sum());
    let report = json::object([
        ("read", sum(|report| report.read)),
        ("kept", sum(|report| report.rows)),
        ("refused", sum(|report| report.refused)),
        ("skipped", sum(|report| report.skipped.len() as u64)),
        ("failed", sum(|report| report.failed.len() as u64)),
        ("dropped", json::number(0)),
    ]);
    let replay = last.and_then(|done| heldset_engine::source::replay_of(&done.version));
    json::object([
        ("dataset", Value::from(args.slug.as_str())),
        ("version", last.map_or(Value::Null, |done| json::number(done.version.number))),
        ("digest", json::optional(last.map(|done| done.version.digest.as_str()))),
        ("mode", json::optional(last.map(|done| done.version.mode.as_str()))),
        ("created", Value::Bool(synced.committed.iter().any(|done| done.created))),
        ("replay", json::optional(replay)),
        ("sources", Value::Array(synced.sources.iter().map(|report| Value::Object(report.to_object())).collect())),
        ("report", report.into()),
        ("faults", Value::Array(listener.faults.clone())),
    ])
}
