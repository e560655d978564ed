//! The chunks of one split, each read and hashed once, by as many threads as there are cores.
//!
//! *Invariant:* damage in one chunk is told of that chunk and of no other that can still be read.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use heldset_core::digest::Digest;
use heldset_core::visibility::{SplitLabels, upkeep};
use heldset_store::documents::PackDoc;
use heldset_store::{DatasetKeys, Kind, Store, StoreError};

use super::Problem;
use crate::Listener;
use crate::recompute::{Recompute, root_of};
use crate::refusal::Outcome;
use crate::rows::{Place, Reading, SplitRows};

/// How far the work is, told to whoever listens.
pub(super) struct Progress<'p> {
    pub(super) listener: &'p mut dyn Listener,
    pub(super) bytes: u64,
    pub(super) rows: u64,
}

/// The chunks of one split that some version has.
pub(super) struct Chunks {
    known: SplitRows,
    labels: Vec<SplitLabels>,
    /// For each chunk its rows and the labels it is read by.
    wanted: HashMap<Digest, (u64, usize)>,
    problems: HashMap<Digest, Problem>,
}

/// Chunks of one pack that have the same labels, in the order of the pack.
struct Job {
    pack: usize,
    labels: usize,
    chunks: Vec<(Digest, Place)>,
}

type Found = Vec<(Digest, Option<StoreError>)>;

impl Progress<'_> {
    pub(super) fn add(&mut self, bytes: u64, rows: u64) {
        self.bytes += bytes;
        self.rows += rows;
        self.listener.progress(self.bytes, self.rows);
    }
}

impl Chunks {
    pub(super) fn new(known: SplitRows) -> Self {
        Chunks { known, labels: Vec::new(), wanted: HashMap::new(), problems: HashMap::new() }
    }

    /// Notes chunks of a version; those that another version has need no second look.
    pub(super) fn want(&mut self, chunks: &[(Digest, u64)], labels: &SplitLabels) {
        let at = self.labels.iter().position(|known| known == labels).unwrap_or_else(|| {
            self.labels.push(labels.clone());
            self.labels.len() - 1
        });
        for (root, rows) in chunks {
            self.wanted.entry(*root).or_insert((*rows, at));
        }
    }

    /// What is wrong with a chunk.
    pub(super) fn problem(&self, root: &Digest) -> Option<Problem> {
        self.problems.get(root).cloned()
    }

    /// Reads and hashes all chunks that were noted.
    pub(super) fn check(
        &mut self,
        store: &Store,
        dataset: &str,
        keys: Option<&DatasetKeys>,
        progress: &mut Progress<'_>,
    ) -> Outcome<()> {
        let jobs = self.jobs();
        let next = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
        let (send, receive) = channel();
        let (this, jobs, next) = (&*self, &jobs, &next);
        let found = std::thread::scope(|scope| {
            for _ in 0..threads {
                let send = send.clone();
                scope.spawn(move || {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let checker = Checker { chunks: this, store, dataset, keys, job };
                        if send.send((checker.check(), checker.size(), checker.rows())).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            let mut all = Vec::new();
            for (found, bytes, rows) in receive {
                progress.add(bytes, rows);
                all.extend(found);
            }
            all
        });
        for (root, error) in found {
            if let Some(error) = error {
                let problem = Problem { chunk: Some(root.hex()), ..Problem::of_store(error)? };
                self.problems.insert(root, problem);
            }
        }
        Ok(())
    }

    /// The chunks by pack; a chunk that is in no pack is a problem at once.
    fn jobs(&mut self) -> Vec<Job> {
        let mut by_pack: BTreeMap<(usize, usize), Vec<(Digest, Place)>> = BTreeMap::new();
        for (root, (rows, labels)) in &self.wanted {
            let place = self.known.place(root).filter(|place| {
                let doc = &self.known.packs[place.pack].1.chunks[place.chunk];
                doc.rows + doc.erased.len() as u64 == *rows
            });
            match place {
                Some(place) => by_pack.entry((place.pack, *labels)).or_default().push((*root, place)),
                None => {
                    let problem = Problem { chunk: Some(root.hex()), ..Problem::plain("its rows are in no pack") };
                    self.problems.insert(*root, problem);
                }
            }
        }
        let job = |((pack, labels), mut chunks): ((usize, usize), Vec<(Digest, Place)>)| {
            chunks.sort_by_key(|(_, place)| (place.first, place.chunk));
            Job { pack, labels, chunks }
        };
        by_pack.into_iter().map(job).collect()
    }
}

/// Checks the chunks of one job.
struct Checker<'c> {
    chunks: &'c Chunks,
    store: &'c Store,
    dataset: &'c str,
    keys: Option<&'c DatasetKeys>,
    job: &'c Job,
}

impl Checker<'_> {
    fn pack(&self) -> &PackDoc {
        &self.chunks.known.packs[self.job.pack].1
    }

    fn size(&self) -> u64 {
        self.pack().objects.iter().map(|object| object.size).sum()
    }

    fn rows(&self) -> u64 {
        self.job.chunks.iter().map(|(_, place)| place.rows).sum()
    }

    /// All chunks together; if that cannot be read, each by itself.
    fn check(&self) -> Found {
        match self.hash(&self.job.chunks) {
            Ok(found) => found,
            Err(StoreError::Missing { what }) => {
                self.job.chunks.iter().map(|(root, _)| (*root, Some(StoreError::missing(&what)))).collect()
            }
            Err(error) if error.kind() != Kind::Integrity => vec![(self.job.chunks[0].0, Some(error))],
            Err(error) => {
                let one = |chunk: &(Digest, Place)| match self.hash(std::slice::from_ref(chunk)) {
                    Ok(mut found) => found.pop().unwrap_or((chunk.0, None)),
                    Err(error) => (chunk.0, Some(error)),
                };
                let mut found: Found = self.job.chunks.iter().map(one).collect();
                if found.iter().all(|(_, error)| error.is_none()) {
                    // The damage lies between the chunks.
                    found[0].1 = Some(error);
                }
                found
            }
        }
    }

    fn hash(&self, chunks: &[(Digest, Place)]) -> Result<Found, StoreError> {
        let (labels, grant, pack) = (&self.chunks.labels[self.job.labels], upkeep(), self.pack());
        let reading = Reading { store: self.store, keys: self.keys, dataset: self.dataset, labels, grant: &grant };
        let mut ranges: Vec<std::ops::Range<u64>> = Vec::new();
        for (_, place) in chunks {
            let range = place.first..place.first + place.rows;
            match ranges.last_mut().filter(|last| last.end == range.start) {
                Some(last) => last.end = range.end,
                None => ranges.push(range),
            }
        }
        let groups = reading.groups(pack, &ranges)?;
        let mut recompute = Recompute::new(labels, self.keys);
        let mut first = 0;
        let mut found = Vec::with_capacity(chunks.len());
        for (root, place) in chunks {
            let leaves = recompute.chunk(&groups, first, &pack.chunks[place.chunk]);
            let fits = leaves.is_some_and(|leaves| root_of(&leaves) == *root);
            found.push((*root, (!fits).then(|| self.other_content())));
            first += usize::try_from(place.rows).unwrap_or(usize::MAX);
        }
        Ok(found)
    }

    /// Objects that are whole and hold something else.
    fn other_content(&self) -> StoreError {
        let paths: Vec<String> = self.pack().objects.iter().map(|object| self.store.path_of(object)).collect();
        StoreError::damaged(paths.join(", "))
    }
}
