//! `heldset keys`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use heldset_core::code::Code;
use heldset_core::value::Value;
use heldset_engine::keys::{Exported, export, import, written_down};
use heldset_engine::refusal::Refusal;
use heldset_engine::session::Session;
use heldset_store::KeyFile;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::json;

/// The file keys are written to when none is named.
const FILE: &str = "heldset-keys.json";

#[derive(Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Write the keys to a file that only you can read
    #[command(after_help = "Example:\n  heldset keys export -o /media/safe/keys.json")]
    Export {
        /// Where to write; `-` is standard output
        #[arg(short, long, value_name = "FILE", default_value = FILE)]
        output: PathBuf,
        /// Only the keys of this dataset
        #[arg(long, value_name = "SLUG")]
        dataset: Option<String>,
        /// Replace the file if it is there
        #[arg(long)]
        force: bool,
    },
    /// Bring keys back from such a file
    #[command(after_help = "Example:\n  heldset keys import /media/safe/keys.json")]
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Export or import the keys of the store.
pub(crate) fn run(cli: &Cli, args: &KeysArgs) -> Result<Exit, Failure> {
    let session = place::session(cli)?;
    match &args.action {
        Action::Export { output, dataset, force } => write(cli, &session, output, dataset.as_deref(), *force),
        Action::Import { file } => read(cli, &session, file),
    }
}

fn write(cli: &Cli, session: &Session, path: &Path, slug: Option<&str>, force: bool) -> Result<Exit, Failure> {
    session.must_manage("keys")?;
    let to_stdout = path.as_os_str() == "-";
    if !to_stdout {
        check_target(session, path, force)?;
    }
    let exported = export(session, slug)?;
    let text = exported.file.to_text();
    if to_stdout {
        io::stdout().write_all(&text).map_err(|error| super::broken(&error))?;
    } else {
        write_private(path, &text, force).map_err(|error| Failure::write(path, &error))?;
    }
    written_down(session, &exported)?;
    if to_stdout {
        return Ok(Exit::Fine);
    }
    report_export(cli, path, &exported)
}

fn report_export(cli: &Cli, path: &Path, exported: &Exported) -> Result<Exit, Failure> {
    let slugs = || exported.file.datasets.iter().map(|(_, slug, _)| slug.as_str());
    let out = if cli.json {
        let object = json::object([
            ("file", Value::from(path.display().to_string())),
            ("store", Value::from(exported.file.store.as_str())),
            ("datasets", Value::Array(slugs().map(Value::from).collect())),
            ("missing", Value::Array(exported.missing.iter().map(|slug| Value::from(slug.as_str())).collect())),
            ("signer", Value::Bool(exported.file.audit.is_some())),
        ]);
        format!("{}\n", json::text(&object))
    } else {
        let mut out = String::new();
        if !cli.quiet {
            let count = exported.file.datasets.len();
            out = format!(
                "wrote the keys of {count} datasets to {}: whoever has this file can open what is sealed\n",
                path.display()
            );
        }
        for slug in &exported.missing {
            out.push_str(&format!("the keys of {slug} are not here\n"));
        }
        out
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

/// Refuses a file that is there, and one in the store.
fn check_target(session: &Session, path: &Path, force: bool) -> Result<(), Failure> {
    if !force && path.symlink_metadata().is_ok() {
        let message = format!("`{}` is there already", path.display());
        return Err(Failure::usage(Code::E116, message, "name another file, or replace it with `--force`"));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let inside = session.store.folder().and_then(|folder| folder.path().canonicalize().ok());
    let here = parent.canonicalize().map_err(|error| Failure::write(path, &error))?;
    if inside.is_some_and(|store| here.starts_with(store)) {
        let message = "keys must not lie in the store they open";
        return Err(Failure::usage(Code::E103, message, "name a file elsewhere, best on another disk"));
    }
    Ok(())
}

/// Writes a file that only the owner can read, whole or not at all.
fn write_private(path: &Path, text: &[u8], force: bool) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !force {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        return file.write_all(text).and_then(|()| file.sync_all());
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn read(cli: &Cli, session: &Session, path: &Path) -> Result<Exit, Failure> {
    session.must_manage("keys")?;
    let bytes = std::fs::read(path).map_err(|error| Failure::open(path, &error))?;
    let file = KeyFile::from_text(&bytes, &path.display().to_string()).map_err(Box::<Refusal>::from)?;
    let imported = import(session, &file)?;
    let out = if cli.json {
        let list = |slugs: &'_ [String]| Value::Array(slugs.iter().map(|slug| Value::from(slug.clone())).collect());
        let object = json::object([
            ("added", list(&imported.added)),
            ("kept", list(&imported.kept)),
            ("signer", Value::Bool(imported.signer)),
        ]);
        format!("{}\n", json::text(&object))
    } else {
        let (added, kept) = (imported.added.len(), imported.kept.len());
        format!("{added} datasets have their keys back, {kept} had them\n")
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}
