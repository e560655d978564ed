//! Which files each declared split is read from, and whether they are the declared ones.
//!
//! *Invariant:* a pattern that means no file is refused; nothing is left out in silence.

use heldset_core::code::Code;
use heldset_core::declaration::{Declaration, SplitDeclaration};
use heldset_core::manifest::Mode;
use heldset_store::documents::SourceDoc;

use super::stream;
use crate::import::unreadable;
use crate::ports::{Found, Shelf};
use crate::refusal::{Outcome, Refusal};

/// The split of a declaration that names none.
const DEFAULT: &str = "default";
/// What files of records end in, compressed or not.
const RECORDS: &[&str] = &["jsonl", "json", "csv", "tsv", "yaml", "yml", "parquet", "arrow", "ndjson"];
const COMPRESSED: &[&str] = &["gz", "zst"];

/// How a declared split is read.
pub(super) struct Plan<'p> {
    /// What is declared of it.
    pub(super) split: std::borrow::Cow<'p, SplitDeclaration>,
    /// The files and folders, by name.
    pub(super) names: Vec<String>,
    /// Whether it is a split of files.
    pub(super) files: bool,
    /// Whether its files stay where they are.
    pub(super) pinned: bool,
}

/// How each declared split is read.
pub(super) fn plans<'p>(declaration: &'p Declaration, shelf: &dyn Shelf) -> Outcome<Vec<Plan<'p>>> {
    check_local(declaration)?;
    let plan = |split: std::borrow::Cow<'p, SplitDeclaration>| {
        let mut found: Vec<Found> = Vec::new();
        for pattern in patterns(declaration, &split) {
            let met = shelf.find(&pattern).map_err(|error| unreadable(&pattern, &error))?;
            if met.is_empty() && split.path.is_empty() && stream::is_stream(declaration) {
                return Err(stream::absent(declaration, &pattern, "there is no such file"));
            }
            if met.is_empty() {
                let message = format!("split `{}`: `{pattern}` is no file in `{}`", split.name, shelf.place());
                let help = "paths are relative to the source folder, or to the declaration where there is none";
                return Err(Refusal::usage(Code::E101, message, help));
            }
            for one in met {
                if !found.contains(&one) {
                    found.push(one);
                }
            }
        }
        let pinned = split.mode.unwrap_or(declaration.mode) == Mode::Mounted;
        let by_name = || pinned || found.iter().any(|one| one.folder || !is_records(&one.name));
        let files = split.files.unwrap_or_else(by_name);
        if pinned && !files {
            let message = format!("split `{}` is mounted and has records, which are copied into the store", split.name);
            return Err(Refusal::usage(Code::E103, message, "leave out `files: false`, or the mode"));
        }
        Ok(Plan { split, names: found.into_iter().map(|one| one.name).collect(), files, pinned })
    };
    if declaration.splits.is_empty() {
        let split = SplitDeclaration { name: DEFAULT.to_owned(), ..SplitDeclaration::default() };
        return Ok(vec![plan(std::borrow::Cow::Owned(split))?]);
    }
    declaration.splits.iter().map(std::borrow::Cow::Borrowed).map(plan).collect()
}

/// Refuses what is read over a network; of a stream, the records that were consumed must be here.
fn check_local(declaration: &Declaration) -> Outcome<()> {
    if stream::is_stream(declaration) {
        return stream::check(declaration);
    }
    let mut paths = declaration.splits.iter().flat_map(|split| patterns(declaration, split));
    let Some(path) = paths.find(|path| path.contains("://")) else { return Ok(()) };
    let help = format!(
        "fill the dataset with `heldset source add {}` and `source sync`, or bring the files here and name their paths",
        declaration.slug
    );
    Err(Refusal::usage(
        Code::E103,
        format!("`{path}` is read through a connector, and a declaration reads files"),
        help,
    ))
}

/// The patterns of a split; the source itself where there is none.
fn patterns(declaration: &Declaration, split: &SplitDeclaration) -> Vec<String> {
    let replayed = declaration.stream.replay_manifest.as_ref().filter(|_| stream::is_stream(declaration));
    if let (Some(manifest), true) = (replayed, split.path.is_empty()) {
        return vec![manifest.trim_start_matches("file://").to_owned()];
    }
    match (&declaration.source, split.path.is_empty()) {
        (Some(source), true) if source.uri.contains("://") => vec![source.uri.clone()],
        (_, true) => vec![String::new()],
        _ => split.path.clone(),
    }
}

fn is_records(name: &str) -> bool {
    let mut parts: Vec<String> = name.rsplit('.').map(str::to_ascii_lowercase).collect();
    if parts.first().is_some_and(|last| COMPRESSED.contains(&last.as_str())) {
        parts.remove(0);
    }
    parts.len() > 1 && RECORDS.contains(&parts[0].as_str())
}

/// Refuses files that are not the declared ones.
pub(super) fn check_sums(declaration: &Declaration, shelf: &dyn Shelf) -> Outcome<()> {
    for (name, expected) in &declaration.checksum {
        let found = shelf.sha256(name).map_err(|error| unreadable(name, &error))?;
        check_sum(name, &expected.hex(), &found)?;
    }
    Ok(())
}

/// Refuses files that changed since their checksums were compared.
pub(super) fn check_read(declaration: &Declaration, names: &[String], sources: &[SourceDoc]) -> Outcome<()> {
    for (name, source) in names.iter().zip(sources) {
        if let Some(expected) = declaration.checksum.get(name) {
            check_sum(name, &expected.hex(), &source.sha256)?;
        }
    }
    Ok(())
}

fn check_sum(name: &str, expected: &str, found: &str) -> Outcome<()> {
    if expected == found {
        return Ok(());
    }
    Err(Refusal::integrity(
        Code::E042,
        format!("`{name}` is not the declared file: expected sha256:{expected}, found sha256:{found}"),
        "bring the declared file, or declare the new one; nothing was registered",
    ))
}
