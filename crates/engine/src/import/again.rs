//! Reading a file of which stretches are known: only the others become records anew.
//!
//! *Invariant:* gives up, and leaves the file to a full reading, as soon as anything is not as expected: a fault, an
//! id that a known part has too.

use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom};

use heldset_core::code::Code;
use heldset_core::digest::Digest;
use heldset_core::fault::Fault;
use heldset_core::visibility::upkeep;
use heldset_dialect::{Body, Files, Format, Input, ReadOptions, Report};
use heldset_store::pack::{Staged, find_rows, id_hash};
use heldset_store::{DatasetKeys, Store, StoreError};

use super::lines::Stretch;
use super::stage::{Staging, Stop};
use crate::Listener;
use crate::gather::Gather;
use crate::ports::Sources;
use crate::refusal::Refusal;
use crate::rows::{Reading, SplitRows};

/// A file of which stretches are known.
pub(super) struct Again<'a> {
    pub(super) store: &'a Store,
    pub(super) keys: &'a DatasetKeys,
    pub(super) dataset: &'a str,
    pub(super) staging: &'a Staging<'a>,
    pub(super) known: &'a SplitRows,
    pub(super) sources: &'a dyn Sources,
    pub(super) options: &'a ReadOptions,
    /// The leaves of records that were erased.
    pub(super) erased: HashSet<Digest>,
}

impl Again<'_> {
    /// Gathers the records of the file; nothing if it must be read as a whole.
    pub(super) fn read(
        &self,
        stretches: &[Stretch],
        format: Format,
        gather: &mut Gather<'_, '_>,
        listener: &mut dyn Listener,
    ) -> Result<Option<Report>, Stop> {
        let options = ReadOptions { format: Some(format), ..self.options.clone() };
        let mut total = Report::new(format);
        let (mut ids, mut taken) = (HashSet::new(), HashSet::new());
        let mut repeated = false;
        for stretch in stretches {
            if let Stretch::Known { chunk, .. } = stretch
                && self.known.place(&chunk.root).is_some()
                && !self.known.is_erased(&chunk.root)
                && gather.push_chunk(chunk.root, u64::from(chunk.rows))
            {
                taken.insert(chunk.root);
                total.read += u64::from(chunk.rows);
                total.kept += u64::from(chunk.rows);
                continue;
            }
            let (start, end) = stretch.range();
            let slice = Slice { sources: self.sources, start, length: end - start };
            let mut silent = Silent { faults: 0 };
            let (reports, _) = self.staging.read(&slice, &options, &mut silent, &mut |staged| {
                repeated |= !ids.insert(staged.id.clone());
                self.check_erased(&staged)?;
                Ok(gather.push(staged)?)
            })?;
            if silent.faults > 0 || repeated {
                return Ok(None);
            }
            reports.iter().for_each(|report| add(&mut total, report));
            listener.progress(end, total.read);
        }
        Ok((!self.has_any(&ids, &taken)?).then_some(total))
    }

    /// Refuses a record that was erased from the dataset.
    pub(super) fn check_erased(&self, staged: &Staged) -> Result<(), Stop> {
        if !self.erased.contains(&staged.leaf) {
            return Ok(());
        }
        Err(Stop::Refused(Refusal::invalid(
            Code::E045,
            format!("record `{}` was erased from this dataset", staged.id),
            "take it out of the file: what was erased does not come back",
        )))
    }

    /// Whether one of the ids is in one of the chunks that were taken as they are.
    fn has_any(&self, ids: &HashSet<Box<str>>, taken: &HashSet<Digest>) -> Result<bool, StoreError> {
        let hashes: Vec<(u32, &str)> = ids.iter().map(|id| (id_hash(id), &**id)).collect();
        let grant = upkeep();
        let (store, keys) = (self.store, Some(self.keys));
        let reading = Reading { store, keys, dataset: self.dataset, labels: self.staging.labels, grant: &grant };
        for (index, (_, pack)) in self.known.packs.iter().enumerate() {
            let holds = |chunk: &heldset_store::documents::ChunkDoc| {
                chunk.root.parse().is_ok_and(|root: Digest| taken.contains(&root))
            };
            if !pack.chunks.iter().any(holds) {
                continue;
            }
            let source = self.store.source(&pack.ids, self.dataset, Some(self.keys), true)?;
            for (hash, id) in &hashes {
                for row in find_rows(&source, *hash)? {
                    let range = u64::from(row)..u64::from(row) + 1;
                    let chunk = self.known.chunk_at(index, range.start);
                    if chunk.is_some_and(|(chunk, _)| holds(&pack.chunks[chunk]))
                        && reading.own_group(pack, std::slice::from_ref(&range), true)?.id(0) == Some(*id)
                    {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}

fn add(total: &mut Report, report: &Report) {
    total.read += report.read;
    total.kept += report.kept;
    total.ids_given += report.ids_given;
    for (names, count) in &report.mapped {
        *total.mapped.entry(names.clone()).or_default() += count;
    }
    for (name, count) in &report.as_is {
        *total.as_is.entry(name.clone()).or_default() += count;
    }
    total.dataset = report.dataset.clone();
    total.files.extend(report.files.clone());
}

/// A part of a file, as a file.
struct Slice<'s> {
    sources: &'s dyn Sources,
    start: u64,
    length: u64,
}

impl Sources for Slice<'_> {
    fn len(&self) -> usize {
        1
    }

    fn name(&self, _index: usize) -> String {
        self.sources.name(0)
    }

    fn open(&self, _index: usize) -> io::Result<(Input, Box<dyn Files + '_>)> {
        let (Input { name, body }, files) = self.sources.open(0)?;
        let Body::Seekable(mut file) = body else { return Err(io::ErrorKind::Unsupported.into()) };
        file.seek(SeekFrom::Start(self.start))?;
        Ok((Input { name, body: Body::Stream(Box::new(file.take(self.length))) }, files))
    }

    fn digest(&self, _index: usize) -> io::Result<(u64, String)> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

struct Silent {
    faults: u64,
}

impl Listener for Silent {
    fn fault(&mut self, _fault: &Fault) -> io::Result<()> {
        self.faults += 1;
        Ok(())
    }

    fn progress(&mut self, _bytes: u64, _rows: u64) {}
}
