//! Unique ids, and rows that wait until it is known which of them is the newest version of its record.
//!
//! *Invariant:* a record stands where its newest version stands, and a newest version that was refused has no
//! stand-in. Rows without a version do not wait, unless others wait before them.

use std::hash::BuildHasherDefault;
use std::io;

use hashbrown::HashMap;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;

use crate::ids::{AlreadyHashed, IdKey, Ids};
use crate::read::Take;
use crate::report::Report;

/// The rows met so far, as far as they matter for those that follow.
pub(crate) struct History<O> {
    /// Rows that did not wait.
    ids: Ids,
    versions: HashMap<IdKey, Vec<Seen>, BuildHasherDefault<AlreadyHashed>>,
    waiting: Vec<Waiting<O>>,
}

/// Where a row is, in words.
pub(crate) struct Spot {
    pub(crate) file: Option<String>,
    pub(crate) line: u64,
}

/// What becomes of a row.
pub(crate) enum Verdict<O> {
    /// It is a record.
    Now(O),
    /// It is a record, or an older version of one.
    Waits,
    /// It is there already; the path says which field shows it.
    Repeated(Problem),
}

struct Seen {
    version: Option<u64>,
    spot: Spot,
}

struct Waiting<O> {
    key: IdKey,
    version: Option<u64>,
    out: O,
}

impl<O> Default for History<O> {
    fn default() -> Self {
        History { ids: Ids::default(), versions: HashMap::default(), waiting: Vec::new() }
    }
}

impl<O> History<O> {
    /// Takes a row that became a record.
    pub(crate) fn add<'f>(
        &mut self,
        key: IdKey,
        version: Option<u64>,
        spot: Spot,
        id_field: impl Fn() -> &'f str,
        out: O,
    ) -> Verdict<O> {
        if version.is_none() && spot.file.is_none() && self.versions.is_empty() {
            return match self.ids.insert(key, spot.line) {
                None => Verdict::Now(out),
                Some(line) => Verdict::Repeated(repeated_id(id_field(), &Spot { file: None, line })),
            };
        }
        if let Some(line) = self.ids.line_of(key) {
            return Verdict::Repeated(repeated_id(id_field(), &Spot { file: None, line }));
        }
        let seen = self.versions.entry(key).or_default();
        let same = |first: &&Seen| first.version == version || first.version.is_none() || version.is_none();
        if let Some(first) = seen.iter().find(same) {
            return Verdict::Repeated(match (first.version, version) {
                (Some(_), Some(version)) => repeated_version(version, &first.spot),
                _ => repeated_id(id_field(), &first.spot),
            });
        }
        seen.push(Seen { version, spot });
        self.waiting.push(Waiting { key, version, out });
        Verdict::Waits
    }

    /// Remembers a row that was refused: no older version takes its place, and its id is taken.
    pub(crate) fn refused<'f>(
        &mut self,
        key: IdKey,
        version: Option<u64>,
        spot: Spot,
        id_field: impl Fn() -> &'f str,
    ) -> Option<Problem> {
        if let Some(version) = version {
            self.versions.entry(key).or_default().push(Seen { version: Some(version), spot });
            return None;
        }
        let line = self.ids.insert(key, spot.line)?;
        Some(repeated_id(id_field(), &Spot { file: None, line }))
    }

    /// Tells the taker of all rows that waited.
    pub(crate) fn close(self, take: &mut dyn Take<O>, report: &mut Report) -> io::Result<()> {
        for Waiting { key, version, out } in self.waiting {
            let newest = self.versions.get(&key).and_then(|seen| seen.iter().filter_map(|seen| seen.version).max());
            match version.filter(|version| Some(*version) < newest) {
                Some(older) => {
                    report.older += 1;
                    take.older(older, out)?;
                }
                None => {
                    report.kept += 1;
                    take.record(out)?;
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Spot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            None => write!(out, "on line {}", self.line),
            Some(file) => write!(out, "in `{file}` on line {}", self.line),
        }
    }
}

fn repeated_id(id_field: &str, first: &Spot) -> Problem {
    Problem::new(Code::E012, Path::key(id_field), format!("duplicate id, first {first}"))
        .help("every record of a split needs an id of its own")
}

fn repeated_version(version: u64, first: &Spot) -> Problem {
    Problem::new(Code::E038, Path::key("version"), format!("version {version} of this id is already {first}"))
        .help("keep one of the two: a version never changes")
}
