//! Reading files into staged records of one split.
//!
//! *Invariant:* with a fault nothing is registered, unless the caller asked for the valid rows.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::digest::CommitKey;
use heldset_core::fault::{Fault, Problem};
use heldset_core::leaf::Leaves;
use heldset_core::profile::{self, Profile};
use heldset_core::record::Record;
use heldset_core::schema::Schema;
use heldset_core::visibility::{Policy, SplitLabels};
use heldset_dialect::{Each, Format, ReadOptions, Report, Take, read};
use heldset_store::StoreError;
use heldset_store::documents::SourceDoc;
use heldset_store::pack::{Staged, Stager};

use super::labelling::check_answers;
use crate::Listener;
use crate::gather::Stopped;
use crate::ports::Sources;
use crate::refusal::{Outcome, Refusal};
use crate::schema::Checker;

/// How the records of a split are staged.
pub(crate) struct Staging<'s> {
    pub(crate) labels: &'s SplitLabels,
    pub(crate) key: &'s CommitKey,
    pub(crate) policy: &'s Policy,
    pub(crate) profile: Profile,
    /// Whether a row that is a case ends the attempt, because the records were taken for plain.
    pub(crate) watch: bool,
    /// The schema that records are held to.
    pub(crate) schema: Option<&'s Checker>,
}

/// A row that is an older version of a record, with the number of that version.
pub(crate) type Older = (u64, Staged);

/// How a reading ended early.
pub(crate) enum Stop {
    /// The records are cases.
    IsCase,
    /// Something is wrong.
    Refused(Box<Refusal>),
    /// The packs cannot be written.
    Stopped,
}

impl From<Box<Refusal>> for Stop {
    fn from(refusal: Box<Refusal>) -> Self {
        Stop::Refused(refusal)
    }
}

impl From<Stop> for Box<Refusal> {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Refused(refusal) => refusal,
            Stop::IsCase => StoreError::internal("the reading stopped").into(),
            Stop::Stopped => StoreError::internal("the writer of packs stopped").into(),
        }
    }
}

impl From<Stopped> for Stop {
    fn from(_: Stopped) -> Self {
        Stop::Stopped
    }
}

impl Staging<'_> {
    /// Makes records ready.
    pub(crate) fn stager(&self) -> Stager {
        Stager::new(Leaves::committed(self.labels.clone(), self.key))
    }

    /// Reads files to their ends, one after the other; gives the report of each, and the rows that are older versions
    /// of a record.
    pub(crate) fn read(
        &self,
        sources: &dyn Sources,
        options: &ReadOptions,
        listener: &mut dyn Listener,
        take: &mut dyn FnMut(Staged) -> Result<(), Stop>,
    ) -> Result<(Vec<Report>, Vec<Older>), Stop> {
        let mut taking = Taking {
            staging: self,
            take,
            listener,
            stop: None,
            older: Vec::new(),
            shape: None,
            ids: (sources.len() > 1).then(HashSet::new),
            file: String::new(),
            before: (0, 0),
            now: (0, 0),
        };
        let mut reports = Vec::new();
        for index in 0..sources.len() {
            taking.file = sources.name(index);
            let (input, files) = sources.open(index).map_err(|error| unreadable(&taking.file, &error))?;
            match read(input, options, &*files, self, &mut taking) {
                Ok(report) => reports.push(report),
                Err(error) => return Err(taking.stop.unwrap_or_else(|| unreadable(&taking.file, &error).into())),
            }
            taking.before = (taking.before.0 + taking.now.0, taking.before.1 + taking.now.1);
        }
        if self.watch && reports.iter().any(|report| report.format != Format::Records) {
            return Err(Stop::IsCase);
        }
        Ok((reports, taking.older))
    }
}

/// Describes the files that were read, and those read along.
pub(crate) fn describe(sources: &dyn Sources, split: &str, time: &str) -> Outcome<Vec<SourceDoc>> {
    let describe = |index: usize| {
        let name = sources.name(index);
        let (size, sha256) = sources.digest(index).map_err(|error| unreadable(&name, &error))?;
        let (split, time, state) = (split.to_owned(), time.to_owned(), "copied".to_owned());
        Ok(SourceDoc { name, split, size, sha256, time, state })
    };
    (0..sources.len()).map(describe).collect()
}

pub(crate) fn unreadable(file: &str, error: &io::Error) -> Box<Refusal> {
    Refusal::usage(Code::E101, format!("`{file}` cannot be read: {error}"), "check the path and its permissions")
}

impl Each for Staging<'_> {
    type Out = Staged;
    type Scratch = Option<Stager>;

    fn check(&self, record: &Record<'_>, problems: &mut Vec<Problem>) {
        if let Some(schema) = self.schema {
            schema.check(record, problems);
        }
    }

    fn types(&self) -> Option<&Schema> {
        self.schema.map(Checker::schema)
    }

    fn record(&self, scratch: &mut Option<Stager>, record: Record<'_>) -> Staged {
        scratch.get_or_insert_with(|| self.stager()).stage(&record)
    }
}

struct Taking<'t> {
    staging: &'t Staging<'t>,
    take: &'t mut dyn FnMut(Staged) -> Result<(), Stop>,
    listener: &'t mut dyn Listener,
    stop: Option<Stop>,
    older: Vec<Older>,
    /// The fields of the latest record; records with the same need no look.
    shape: Option<Arc<heldset_store::pack::Shape>>,
    /// The ids so far, if there are several files: each file is checked by itself.
    ids: Option<HashSet<Box<str>>>,
    file: String,
    before: (u64, u64),
    now: (u64, u64),
}

impl Taking<'_> {
    fn look(&mut self, staged: &Staged) -> Result<(), Stop> {
        if self.shape.as_ref().is_none_or(|shape| !Arc::ptr_eq(shape, staged.shape())) {
            self.shape = Some(staged.shape().clone());
            if self.staging.watch && profile::detect(staged.shape().names()) == Profile::Case {
                return Err(Stop::IsCase);
            }
            if self.staging.profile == Profile::Plain {
                check_answers(staged.shape().names(), &staged.id, self.staging.policy)?;
            }
        }
        if self.ids.as_mut().is_none_or(|ids| ids.insert(staged.id.clone())) {
            return Ok(());
        }
        Err(Stop::Refused(Refusal::invalid(
            Code::E012,
            format!("duplicate id `{}`: it is in `{}` and in a file before it", staged.id, self.file),
            "ids are unique in a split; import the files into different splits with `--split`",
        )))
    }
}

impl Take<Staged> for Taking<'_> {
    fn record(&mut self, staged: Staged) -> io::Result<()> {
        let done = self.look(&staged).and_then(|()| (self.take)(staged));
        done.map_err(|stop| {
            self.stop = Some(stop);
            io::Error::other("stopped")
        })
    }

    fn older(&mut self, version: u64, staged: Staged) -> io::Result<()> {
        self.older.push((version, staged));
        Ok(())
    }

    fn fault(&mut self, fault: &Fault, _row: Option<&[u8]>) -> io::Result<()> {
        let fault = fault.clone();
        let file = fault.file.clone().unwrap_or_else(|| self.file.clone());
        self.listener.fault(&fault.in_file(Some(&file)))
    }

    fn progress(&mut self, bytes: u64, rows: u64) -> io::Result<()> {
        self.now = (bytes, rows);
        self.listener.progress(self.before.0 + bytes, self.before.1 + rows);
        Ok(())
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Stop::Refused(error.into())
    }
}
