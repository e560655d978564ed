//! `heldset scan`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use heldset_core::value::{Object, Value};
use heldset_engine::scan::{Finding, Scan, SecretKind, remember, scan};
use heldset_engine::session::Session;
use walkdir::WalkDir;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::progress::Progress;
use crate::print::{clean, json};

#[derive(Args)]
pub(crate) struct ScanArgs {
    /// Files and folders to search
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Looks for sealed text where agents can reach.
pub(crate) fn run(cli: &Cli, args: &ScanArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    let mut scan = scan(&session)?;
    let own = session.store.folder().and_then(|folder| folder.path().canonicalize().ok());
    let mut progress = Progress::of("scan", None, cli.quiet || cli.json);
    let mut bytes = 0;
    for path in &args.paths {
        path.symlink_metadata().map_err(|error| Failure::open(path, &error))?;
        // The store itself is sealed, and is searched by nobody.
        let entries = WalkDir::new(path).sort_by_file_name().into_iter();
        let entries = entries.filter_entry(|entry| {
            !entry.file_type().is_dir() || own.is_none() || entry.path().canonicalize().ok() != own
        });
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let shown = error.path().unwrap_or(path).display().to_string();
                    scan.unread.push((shown, error.to_string()));
                    continue;
                }
            };
            let file = real(entry.path(), entry.path_is_symlink(), entry.depth());
            if let Some(file) = file {
                bytes += file.metadata().map_or(0, |about| about.len());
                let open = || Ok(Box::new(File::open(&file)?) as Box<dyn Read>);
                scan.look(&entry.path().display().to_string(), &open);
                progress.at(bytes, scan.files);
            }
        }
    }
    progress.finish();
    remember_all(&session, args, &scan)?;
    let text = if cli.json { json::text(&object(&scan)) + "\n" } else { text(cli, &scan) };
    io::stdout().write_all(text.as_bytes()).map_err(|error| super::broken(&error))?;
    Ok(if scan.findings.is_empty() { Exit::Fine } else { Exit::Different })
}

/// What was found stays open until a scan of the same place finds nothing.
fn remember_all(session: &Session, args: &ScanArgs, scan: &Scan) -> Result<(), Failure> {
    for path in &args.paths {
        let place = path.canonicalize().unwrap_or_else(|_| path.clone());
        remember(session, scan, &path.display().to_string(), &place.display().to_string())?;
    }
    Ok(())
}

/// The file to read: links are followed to files, not to folders; what is no file is passed over.
fn real(path: &Path, is_link: bool, depth: usize) -> Option<PathBuf> {
    let about = if is_link || depth == 0 { path.metadata() } else { path.symlink_metadata() };
    about.ok().filter(std::fs::Metadata::is_file).map(|_| path.to_owned())
}

fn kind_name(kind: SecretKind) -> &'static str {
    match kind {
        SecretKind::Text => "text",
        SecretKind::File => "file",
        SecretKind::Canary => "canary",
    }
}

fn object(scan: &Scan) -> Object<'_> {
    let finding = |found: &Finding| {
        Value::Object(json::object([
            ("path", Value::from(found.path.clone())),
            ("offset", json::number(found.offset)),
            ("times", json::number(found.times)),
            ("kind", Value::from(kind_name(found.kind))),
            ("dataset", Value::from(found.dataset.clone())),
            ("split", Value::from(found.split.clone())),
            ("record", found.record.clone().map_or(Value::Null, Value::from)),
            ("field", found.field.clone().map_or(Value::Null, Value::from)),
            ("more", json::number(found.more)),
        ]))
    };
    let unread = |(path, why): &(String, String)| {
        let (path, why) = (Value::from(path.clone()), Value::from(why.clone()));
        Value::Object(json::object([("path", path), ("why", why)]))
    };
    json::object([
        ("findings", Value::Array(scan.findings.iter().map(finding).collect())),
        ("files", json::number(scan.files)),
        ("searched_for", json::number(scan.secrets() as u64)),
        ("unread", Value::Array(scan.unread.iter().map(unread).collect())),
    ])
}

fn text(cli: &Cli, scan: &Scan) -> String {
    for (path, why) in &scan.unread {
        let line = clean::line(&format!("warning: `{path}` could not be searched as a whole: {why}"));
        // A closed stderr is no reason to keep the findings back.
        drop(writeln!(io::stderr(), "{line}"));
    }
    if !cli.quiet {
        let summary = format!("{} files searched, {} findings", scan.files, scan.findings.len());
        drop(writeln!(io::stderr(), "{summary}"));
    }
    scan.findings.iter().map(line).collect()
}

fn line(found: &Finding) -> String {
    let what = match found.kind {
        SecretKind::Text => format!(
            "the {} of record {}",
            found.field.as_deref().unwrap_or("text"),
            found.record.as_deref().unwrap_or("(not for you)")
        ),
        SecretKind::File => format!("the file {}", found.record.as_deref().unwrap_or("(not for you)")),
        SecretKind::Canary => "the canary".to_owned(),
    };
    let more = if found.more > 0 { format!(" and {} more", found.more) } else { String::new() };
    let times = if found.times > 1 { format!(", {} times", found.times) } else { String::new() };
    let text =
        format!("{}:{}: {what}{more} in {}, split {}{times}", found.path, found.offset, found.dataset, found.split);
    clean::line(&text) + "\n"
}
