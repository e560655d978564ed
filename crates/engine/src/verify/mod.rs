//! `verify`: the digests of versions, computed again from what is stored.
//!
//! *Invariant:* reads everything a digest covers and hands out none of it; one problem does not hide the others. A
//! chunk that versions share is read once.

mod chunks;
mod files;

use std::collections::BTreeMap;
use std::io;

use heldset_core::chunk::split_root;
use heldset_core::code::Code;
use heldset_core::digest::Digest;
use heldset_core::visibility::{Audience, SplitLabels, Viewer};
use heldset_store::documents::{DatasetDoc, SplitDoc, VersionDoc, version_key};
use heldset_store::{DatasetKeys, Kind, StoreError};

use crate::Listener;
use crate::commit::core_of;
use crate::refusal::{Outcome, Reason, Refusal};
use crate::resolve;
use crate::rows::SplitRows;
use crate::session::Session;
use chunks::{Chunks, Progress};

/// A version whose digest was computed again.
pub struct Verified {
    /// The dataset.
    pub dataset: String,
    /// The number of the version.
    pub version: u64,
    /// Its digest, as it is registered.
    pub digest: String,
    /// How many records and files it has.
    pub rows: u64,
    /// What is not as it was.
    pub problems: Vec<Problem>,
}

/// Something that is not as it was.
#[derive(Clone, Debug)]
pub struct Problem {
    /// In which split, if the caller may know.
    pub split: Option<String>,
    /// In which chunk.
    pub chunk: Option<String>,
    /// In which object, or entry of the catalogue.
    pub path: Option<String>,
    /// What is wrong.
    pub problem: String,
}

/// Files that stay where they are.
pub trait PinnedFiles {
    /// The size and the SHA-256 of a file's bytes.
    fn digest(&self, path: &str) -> io::Result<(u64, Digest)>;
}

/// What is needed to verify the versions of one dataset.
struct Work<'w> {
    session: &'w Session,
    dataset: DatasetDoc,
    keys: Option<DatasetKeys>,
    pinned: &'w dyn PinnedFiles,
}

/// One split of one version, on its way.
struct Part {
    doc: SplitDoc,
    labels: SplitLabels,
    /// Its chunks, if it is one of records.
    chunks: Vec<(Digest, u64)>,
    problems: Vec<Problem>,
}

/// Verifies one version, or all of them.
pub fn verify(
    session: &Session,
    cite: Option<&str>,
    pinned: &dyn PinnedFiles,
    listener: &mut dyn Listener,
) -> Outcome<Vec<Verified>> {
    must_verify(session)?;
    let _held = session.store.hold()?;
    let mut progress = Progress { listener, bytes: 0, rows: 0 };
    let mut verified = Vec::new();
    if let Some(cite) = cite {
        let resolved = resolve::resolve(&session.store, cite)?;
        let work = Work::new(session, resolved.dataset, pinned)?;
        work.verify(vec![resolved.version], &mut verified, &mut progress)?;
        return Ok(verified);
    }
    for dataset in resolve::datasets(&session.store)? {
        let work = Work::new(session, dataset, pinned)?;
        let versions = work.all_versions(&mut verified)?;
        work.verify(versions, &mut verified, &mut progress)?;
    }
    Ok(verified)
}

/// Those who keep the store and those who evaluate may verify. Nothing is looked up before.
fn must_verify(session: &Session) -> Outcome<()> {
    if session.viewer.manages() || session.viewer == Viewer::One(Audience::Evaluator) {
        return Ok(());
    }
    Err(Refusal::denied(
        Code::E120,
        format!("the audience `{}` may not use `verify`", session.viewer.name()),
        "run it as the owner, without `--as`, or `--as operator` or `--as evaluator`",
    ))
}

impl<'w> Work<'w> {
    fn new(session: &'w Session, dataset: DatasetDoc, pinned: &'w dyn PinnedFiles) -> Outcome<Self> {
        let keys = session.store.keys().load(&dataset.id)?;
        Ok(Work { session, dataset, keys, pinned })
    }

    /// Every version that is there; those that cannot be read are told.
    fn all_versions(&self, verified: &mut Vec<Verified>) -> Outcome<Vec<VersionDoc>> {
        let mut versions = Vec::new();
        for number in 1..=self.dataset.head {
            match self.session.store.document(&version_key(&self.dataset.id, number)) {
                Ok(found) => versions.extend(found),
                Err(error) => verified.push(Verified {
                    dataset: self.dataset.slug.clone(),
                    version: number,
                    digest: String::new(),
                    rows: 0,
                    problems: vec![Problem::of_store(error)?],
                }),
            }
        }
        Ok(versions)
    }

    fn verify(
        &self,
        versions: Vec<VersionDoc>,
        verified: &mut Vec<Verified>,
        progress: &mut Progress<'_>,
    ) -> Outcome<()> {
        let mut parts = Vec::new();
        let mut chunks: BTreeMap<String, Chunks> = BTreeMap::new();
        for version in versions {
            let (splits, problems) = self.parts(&version, progress)?;
            for part in splits.iter().filter(|part| !part.doc.files) {
                let name = &part.doc.name;
                if !chunks.contains_key(name) {
                    let known = SplitRows::known(&self.session.store, &self.dataset.id, name)?;
                    chunks.insert(name.clone(), Chunks::new(known));
                }
                if let Some(chunks) = chunks.get_mut(name) {
                    chunks.want(&part.chunks, &part.labels);
                }
            }
            parts.push((version, splits, problems));
        }
        for chunks in chunks.values_mut() {
            chunks.check(&self.session.store, &self.dataset.id, self.keys.as_ref(), progress)?;
        }
        for (version, splits, mut problems) in parts {
            for part in splits {
                problems.extend(self.problems_of(part, &chunks));
            }
            verified.push(Verified {
                dataset: self.dataset.slug.clone(),
                version: version.number,
                digest: version.digest.clone(),
                rows: version.splits.iter().map(|split| split.rows).sum(),
                problems,
            });
        }
        Ok(())
    }

    /// The splits of a version, and what is wrong with its document.
    fn parts(&self, version: &VersionDoc, progress: &mut Progress<'_>) -> Outcome<(Vec<Part>, Vec<Problem>)> {
        let policy = match resolve::policy_of(version) {
            Ok(policy) => policy,
            Err(refusal) => return Ok((Vec::new(), vec![Problem::of(refusal)?])),
        };
        let mut problems = self.version_problems(version)?;
        let mut parts = Vec::new();
        for split in &version.splits {
            let Ok(labels) = policy.in_split(&split.name) else {
                problems.push(Problem::plain("the policy does not label one of the splits"));
                continue;
            };
            let sealed = labels.sealed().next().is_some() || !labels.own().is_open();
            if sealed && self.keys.is_none() {
                return Err(StoreError::NoKey { dataset: self.dataset.slug.clone() }.into());
            }
            let mut part = Part { doc: split.clone(), labels, chunks: Vec::new(), problems: Vec::new() };
            if split.files {
                files::check(self, &mut part, progress)?;
            } else {
                self.find_chunks(&mut part)?;
            }
            parts.push(part);
        }
        Ok((parts, problems))
    }

    /// Computes the digest over what the version says of itself.
    fn version_problems(&self, version: &VersionDoc) -> Outcome<Vec<Problem>> {
        let found = match core_of(&self.dataset.slug, version) {
            Ok(core) => core.digest().to_string(),
            Err(refusal) => return Ok(vec![Problem::of(refusal)?]),
        };
        let wrong = (found != version.digest).then(|| Problem {
            path: Some(format!("catalog: {}", shown(&version_key(&self.dataset.id, version.number).to_string()))),
            ..Problem::plain(&format!("what the version says of itself has the digest {found}"))
        });
        Ok(wrong.into_iter().collect())
    }

    /// Reads the list of chunks of a split and compares its root.
    fn find_chunks(&self, part: &mut Part) -> Outcome<()> {
        match SplitRows::chunks_of(&self.session.store, &self.dataset.id, &part.doc) {
            Err(error) => part.problems.push(Problem::of_store(error)?),
            Ok(chunks) => {
                let rows: u64 = chunks.iter().map(|(_, rows)| rows).sum();
                if split_root(chunks.iter().map(|(root, _)| *root)).hex() != part.doc.root || rows != part.doc.rows {
                    part.problems.push(Problem::plain("the list of chunks does not have the root of the split"));
                }
                part.chunks = chunks;
            }
        }
        Ok(())
    }

    /// All problems of a split; its name is told to those who may know it.
    fn problems_of(&self, part: Part, chunks: &BTreeMap<String, Chunks>) -> Vec<Problem> {
        let mut problems = part.problems;
        if let Some(chunks) = chunks.get(&part.doc.name) {
            problems.extend(part.chunks.iter().filter_map(|(root, _)| chunks.problem(root)));
        }
        let name = self.session.viewer.sees(part.labels.own()).then_some(part.doc.name);
        problems.into_iter().map(|problem| Problem { split: name.clone(), ..problem }).collect()
    }
}

impl Problem {
    fn plain(problem: &str) -> Self {
        Problem { split: None, chunk: None, path: None, problem: problem.to_owned() }
    }

    /// What an error of the store says of the data; what is no damage ends the work.
    fn of_store(error: StoreError) -> Outcome<Self> {
        if error.kind() != Kind::Integrity {
            return Err(error.into());
        }
        let problem = if matches!(error, StoreError::Missing { .. }) { "it is missing" } else { "it is damaged" };
        let (StoreError::Damaged { what } | StoreError::Missing { what }) = error else {
            return Ok(Problem::plain(problem));
        };
        Ok(Problem { path: Some(shown(&what)), ..Problem::plain(problem) })
    }

    fn of(refusal: Box<Refusal>) -> Outcome<Self> {
        match refusal.reason {
            Reason::Integrity => Ok(Problem::plain(&refusal.message)),
            _ => Err(refusal),
        }
    }
}

/// A key of the catalogue in one line.
pub(crate) fn shown(key: &str) -> String {
    key.replace('\n', "/")
}
