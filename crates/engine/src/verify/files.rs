//! A split of files: the root over its list, and the bytes of each file.
//!
//! *Invariant:* a file that is pinned elsewhere is compared with its digest as well.

use heldset_core::digest::{Digest, Hashing};
use heldset_core::files_split::{FileEntry, root};
use heldset_store::StoreError;
use heldset_store::documents::{FileAt, FileDoc, files_key};

use super::chunks::Progress;
use super::{Part, Problem, Work};
use crate::refusal::Outcome;

/// Checks a split of files.
pub(super) fn check(work: &Work<'_>, part: &mut Part, progress: &mut Progress<'_>) -> Outcome<()> {
    let key = files_key(&work.dataset.id, &part.doc.name, &part.doc.root);
    let files = match work.session.store.files(&work.dataset.id, &key) {
        Ok(Some(files)) => files,
        Ok(None) => {
            part.problems.push(Problem::plain("the list of its files is missing"));
            return Ok(());
        }
        Err(error) => {
            part.problems.push(Problem::of_store(error)?);
            return Ok(());
        }
    };
    let entries: Option<Vec<FileEntry>> = files.files.iter().map(entry).collect();
    let found = entries.and_then(|entries| root(&entries).ok());
    if found.map(|root| root.hex()).as_ref() != Some(&part.doc.root) || files.files.len() as u64 != part.doc.rows {
        part.problems.push(Problem::plain("the list of files does not have the root of the split"));
    }
    for file in &files.files {
        part.problems.extend(check_file(work, part, file)?);
        progress.add(file.size, 1);
    }
    Ok(())
}

fn entry(file: &FileDoc) -> Option<FileEntry> {
    Some(FileEntry { path: file.path.clone(), size: file.size, sha256: file.sha256.parse().ok()? })
}

/// Reads a file and compares its digest, or the commitment to it.
fn check_file(work: &Work<'_>, part: &Part, file: &FileDoc) -> Outcome<Option<Problem>> {
    let (size, sha256, at) = match &file.at {
        FileAt::Pinned(path) => match work.pinned.digest(path) {
            Ok((size, sha256)) => (size, sha256, path.clone()),
            Err(_) => {
                return Ok(Some(Problem { path: Some(path.clone()), ..Problem::plain("the pinned file is gone") }));
            }
        },
        FileAt::Objects(objects) => match stored(work, objects) {
            Ok((size, sha256)) => {
                let paths: Vec<String> = objects.iter().map(|object| work.session.store.path_of(object)).collect();
                (size, sha256, paths.join(", "))
            }
            Err(error) => return Problem::of_store(error).map(Some),
        },
    };
    let plain = FileEntry { path: file.path.clone(), size, sha256 };
    let found = match &work.keys {
        Some(keys) if !part.labels.own().is_open() => plain.sealed(&part.doc.name, &keys.commit_key()),
        _ => plain,
    };
    let fits = found.size == file.size && found.sha256.hex() == file.sha256;
    Ok((!fits).then(|| Problem { path: Some(at), ..Problem::plain("the file is not the one that was registered") }))
}

fn stored(work: &Work<'_>, objects: &[heldset_store::documents::ObjectDoc]) -> Result<(u64, Digest), StoreError> {
    let (mut size, mut hashing) = (0, Hashing::default());
    for object in objects {
        let source = work.session.store.source(object, &work.dataset.id, work.keys.as_ref(), true)?;
        hashing.update(&source.fetch(0..source.len())?);
        size += source.len();
    }
    Ok((size, hashing.finish()))
}
