//! Files that other people wrote, when they are at hand.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::fs;
use std::path::{Path, PathBuf};

use heldset_dialect::{Files, FilesError, IdRule, Loaded, ReadOptions};
use heldset_testkit::{Reading, read_with};

use crate::lab_write::check_round_trip;

/// The folder of foreign files: named by the environment, or beside the workspace.
pub(crate) fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("HELDSET_COMPAT_DIR").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: there is no folder {} (set HELDSET_COMPAT_DIR)", folder.display());
        return None;
    }
    Some(folder)
}

/// Files on disk, relative to the one that names them.
pub(crate) struct Disk(pub(crate) PathBuf);

impl Files for Disk {
    fn load(&self, from: &str, path: &str) -> Result<Loaded, FilesError> {
        let name = Path::new(from).with_file_name(path);
        let bytes = fs::read(self.0.join(&name)).map_err(|_| FilesError::Missing(path.to_owned()))?;
        Ok(Loaded { name: name.to_string_lossy().into_owned(), bytes })
    }
}

fn read_file(folder: &Path, name: &str) -> Reading {
    let options = ReadOptions { format: None, id: IdRule::Auto, schema: None, threads: 2 };
    read_with(name, &fs::read(folder.join(name)).unwrap(), &options, &Disk(folder.to_owned()))
}

#[test]
fn lab_datasets_of_others_are_read_and_come_back() {
    let Some(folder) = folder() else { return };
    for (name, count) in [
        ("generic/mas-necessity.yaml", 8),
        ("generic/qa-reasoning-queries.yaml", 8),
        ("trip-planner/benchmark.yaml", 250),
        ("trip-planner/benchmark.json", 250),
        ("trip-planner/queries.yaml", 10),
        ("fact-recall-smoke.yaml", 10),
        ("memory-provenance.yaml", 1),
    ] {
        let reading = read_file(&folder.join("lab"), name);
        assert_eq!(reading.faults, [], "{name}");
        assert_eq!((reading.report.kept, reading.report.format.name()), (count, "lab"), "{name}");
        check_round_trip(&reading);
    }
    let turns = read_file(&folder.join("lab"), "memory-provenance.yaml").records[0].fields.get("turns").cloned();
    assert_eq!(turns.and_then(|turns| turns.as_array().map(<[_]>::len)), Some(4));
}

#[test]
fn lab_files_that_are_no_datasets_are_refused() {
    let Some(folder) = folder() else { return };
    for name in ["arborian-network.yaml", "experiment-fact-recall-smoke.yaml"] {
        let reading = read_file(&folder.join("lab"), name);
        assert_eq!(reading.faults.iter().map(|fault| fault.code.name()).collect::<Vec<_>>(), ["E024"], "{name}");
        assert!(reading.records.is_empty());
    }
}
