//! Splits of files: storing them, pinning them where they are, and reading them back checked.
//!
//! *Invariant:* a file is handed out in pieces that are checked as far as the store can, and the reading fails at its
//! end unless all of its bytes are those that were registered. What is pinned is never sealed.

use std::collections::HashMap;
use std::io::{self, Read};

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::digest::{CommitKey, Digest};
use heldset_core::files_split::{FileEntry, root};
use heldset_core::number::Number;
use heldset_core::record::name_problem;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{Label, Policy, SplitLabels, upkeep};
use heldset_store::documents::{FileAt, FileDoc, FilesDoc, ObjectDoc, SourceDoc, SplitDoc, files_key};
use heldset_store::{Sealing, Store, StoreError};
use sha2::{Digest as _, Sha256};

use crate::Listener;
use crate::commit::{SplitBody, SplitDraft};
use crate::import::Target;
use crate::ports::Tree;
use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::rows::Reading;
use crate::session::Session;
use crate::view::{View, VisibleSplit};

/// The most bytes of a file in one object.
const PIECE: usize = 64 << 20;
/// How much is read at once.
const STEP: usize = 1 << 20;

/// Takes the next bytes of a file.
type Take<'t> = &'t mut dyn FnMut(&[u8]) -> Outcome<()>;

/// The files of a split at rest.
pub fn load(store: &Store, dataset: &str, split: &SplitDoc) -> Result<FilesDoc, StoreError> {
    let found = store.files(dataset, &files_key(dataset, &split.name, &split.root))?;
    found.ok_or_else(|| StoreError::missing(format!("catalog: the files of split {}", split.name)))
}

/// Hands out the bytes of a file of a split, and gives their digest. A file that is not what it was is refused at its
/// end: a pinned one changed, a stored one is damaged.
pub fn read(reading: &Reading<'_>, file: &FileDoc, take: &mut dyn FnMut(&[u8]) -> Outcome<()>) -> Outcome<Digest> {
    let Reading { store, keys, dataset, labels, grant } = reading;
    let own = labels.own();
    let opened = store.file(&file.at, dataset, *keys, own).map_err(|error| changed(file, error))?;
    let mut bytes = opened.open(grant).map_err(StoreError::internal)?;
    let (mut hasher, mut size) = (Sha256::new(), 0);
    while let Some(piece) = bytes.next_piece().map_err(|error| changed(file, error))? {
        hasher.update(&piece);
        size += piece.len() as u64;
        take(&piece)?;
    }
    let sha256 = Digest::from_bytes(hasher.finalize().into());
    let mut entry = FileEntry { path: file.path.clone(), size, sha256 };
    if !own.is_open() {
        let keys = keys.ok_or_else(|| StoreError::NoKey { dataset: (*dataset).to_owned() })?;
        entry = entry.sealed(labels.split(), &keys.commit_key());
    }
    if (entry.size, entry.sha256.hex()) != (file.size, file.sha256.clone()) {
        return Err(changed(file, StoreError::damaged(format!("file `{}` of split {}", file.path, labels.split()))));
    }
    Ok(sha256)
}

/// What is wrong with a file that cannot be read back as it was.
fn changed(file: &FileDoc, error: StoreError) -> Box<Refusal> {
    let FileAt::Pinned(path) = &file.at else { return error.into() };
    let why = match &error {
        StoreError::Io { source, .. } => source.to_string(),
        StoreError::ReadOnly { .. } => "permission denied".to_owned(),
        _ => "its bytes are not those that were registered".to_owned(),
    };
    Refusal::integrity(
        Code::E131,
        format!("the pinned file `{path}` changed: {why}"),
        "bring back the file that was registered, or register the changed one as a new version",
    )
}

/// Appends the files of a split as JSON lines.
pub(crate) fn list(session: &Session, view: &View<'_>, split: &VisibleSplit, out: &mut Vec<u8>) -> Outcome<()> {
    for file in load(&session.store, &view.resolved.dataset.id, &split.doc)?.files {
        let mut entry = Object::with_capacity(3);
        entry.set("path", Value::from(file.path));
        entry.set("size", Value::Number(Number::from_u64(file.size)));
        entry.set("sha256", Value::from(format!("sha256:{}", file.sha256)));
        canonical::write_entries(entry.iter(), out);
        out.push(b'\n');
    }
    Ok(())
}

/// How the files of a split are kept.
pub(crate) struct Keeping<'k> {
    /// The split.
    pub(crate) split: &'k str,
    /// Its label.
    pub(crate) label: &'k Label,
    /// The key of commitments.
    pub(crate) key: &'k CommitKey,
    /// Whether they stay where they are.
    pub(crate) pinned: bool,
}

impl Keeping<'_> {
    /// Refuses to pin what is sealed: pinned files lie in the clear.
    fn check(&self) -> Outcome<()> {
        if !self.pinned || self.label.is_open() {
            return Ok(());
        }
        Err(pinned_and_sealed(self.split, self.label))
    }

    /// The entries of files, as they enter the root of the split.
    pub(crate) fn entries(&self, tree: &dyn Tree, listener: &mut dyn Listener) -> Outcome<Vec<FileEntry>> {
        self.check()?;
        if tree.is_empty() {
            let message = format!("there is no file for split `{}`", self.split);
            return Err(Refusal::invalid(Code::E023, message, "name a folder with files in it"));
        }
        let mut total = 0;
        let mut entry = |index: usize| {
            let path = tree.path(index).to_owned();
            if let Some(why) = path.split('/').find_map(part_problem) {
                return Err(Refusal::invalid(Code::E013, format!("the path `{path}` {why}"), "rename the file"));
            }
            let (size, sha256) = digest(tree, index).map_err(|error| unreadable(tree, index, &error))?;
            total += size;
            listener.progress(total, index as u64 + 1);
            Ok(self.committed(FileEntry { path, size, sha256 }))
        };
        (0..tree.len()).map(&mut entry).collect()
    }

    fn committed(&self, entry: FileEntry) -> FileEntry {
        if self.label.is_open() { entry } else { entry.sealed(self.split, self.key) }
    }

    /// Stores a file in pieces; it must still be the one that the entry is of.
    fn store(
        &self,
        (store, sealing): (&Store, &Sealing),
        entry: &FileEntry,
        read: &mut dyn FnMut(Take<'_>) -> Outcome<()>,
    ) -> Outcome<FileAt> {
        let (mut hasher, mut size, mut piece, mut objects) = (Sha256::new(), 0, Vec::new(), Vec::new());
        let mut put = |piece: &mut Vec<u8>| -> Outcome<()> {
            objects.push(store.put_object(self.label, std::mem::take(piece), sealing)?);
            Ok(())
        };
        read(&mut |mut bytes| {
            hasher.update(bytes);
            size += bytes.len() as u64;
            while !bytes.is_empty() {
                let (now, later) = bytes.split_at(bytes.len().min(PIECE - piece.len()));
                piece.extend_from_slice(now);
                bytes = later;
                if piece.len() == PIECE {
                    put(&mut piece)?;
                }
            }
            Ok(())
        })?;
        if !piece.is_empty() {
            put(&mut piece)?;
        }
        let sha256 = Digest::from_bytes(hasher.finalize().into());
        if self.committed(FileEntry { path: entry.path.clone(), size, sha256 }) != *entry {
            let message = format!("`{}` changed while it was read", entry.path);
            return Err(Refusal::usage(Code::E101, message, "run it again when nobody writes to it"));
        }
        Ok(FileAt::Objects(objects))
    }
}

/// Makes files ready as a split. What the head has already is not stored again.
pub(crate) fn stage(
    session: &Session,
    target: &mut Target,
    policy: &Policy,
    (split, pinned): (&str, bool),
    tree: &dyn Tree,
    listener: &mut dyn Listener,
) -> Outcome<(SplitDraft, Vec<SourceDoc>)> {
    let labels = policy.in_split(split)?;
    let key = target.commit_key();
    let keeping = Keeping { split, label: labels.own(), key: &key, pinned };
    let entries = keeping.entries(tree, listener)?;
    let root = root_of(&entries)?;
    let known = known(session, target, split, labels.own())?;
    let sealing = target.sealing(session, split);
    let mut files = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let at = match known.get(entry.path.as_str()) {
            _ if pinned => FileAt::Pinned(tree.place(index)),
            Some(file) if file.sha256 == entry.sha256.hex() && file.size == entry.size => file.at.clone(),
            _ => keeping.store((&session.store, &sealing), entry, &mut |take| pour(tree, index, take))?,
        };
        let (path, size, sha256) = (entry.path.clone(), entry.size, entry.sha256.hex());
        files.push(FileDoc { path, size, sha256, at });
    }
    let time = session.clock.now();
    let source = |(index, file): (usize, &FileDoc)| SourceDoc {
        name: tree.place(index),
        split: split.to_owned(),
        size: file.size,
        sha256: file.sha256.clone(),
        time: time.clone(),
        state: if pinned { "pinned" } else { "copied" }.to_owned(),
    };
    let sources = files.iter().enumerate().map(source).collect();
    Ok((drafted(split, root, files), sources))
}

/// A split of files of the head under another label.
pub(crate) fn relabelled(
    session: &Session,
    target: &mut Target,
    split: &SplitDoc,
    old: &SplitLabels,
    new: &SplitLabels,
) -> Outcome<SplitDraft> {
    let mut files = load(&session.store, &target.dataset.id, split)?.files;
    let sealing = target.sealing(session, &split.name);
    let (key, grant, label) = (target.commit_key(), upkeep(), new.own());
    let reading = Reading {
        store: &session.store,
        keys: Some(&target.keys),
        dataset: &target.dataset.id,
        labels: old,
        grant: &grant,
    };
    let keeping = Keeping { split: &split.name, label, key: &key, pinned: false };
    if old.own() != label {
        for file in &mut files {
            let relabelled = |object: &ObjectDoc| ObjectDoc { label: label.name().to_owned(), ..object.clone() };
            match &file.at {
                FileAt::Pinned(_) if !label.is_open() => return Err(pinned_and_sealed(&split.name, label)),
                FileAt::Pinned(_) => {}
                FileAt::Objects(objects) if label.is_open() && old.own().is_open() => {
                    file.at = FileAt::Objects(objects.iter().map(relabelled).collect());
                }
                FileAt::Objects(_) => {
                    let sha256 = read(&reading, file, &mut |_| Ok(()))?;
                    let entry = keeping.committed(FileEntry { path: file.path.clone(), size: file.size, sha256 });
                    let pour = &mut |take: Take<'_>| read(&reading, file, take).map(drop);
                    let at = keeping.store((&session.store, &sealing), &entry, pour)?;
                    *file = FileDoc { sha256: entry.sha256.hex(), at, ..file.clone() };
                }
            }
        }
    }
    let entries = files.iter().map(entry_of).collect::<Result<Vec<_>, _>>()?;
    Ok(drafted(&split.name, root_of(&entries)?, files))
}

/// The entry of a file at rest.
pub fn entry_of(file: &FileDoc) -> Result<FileEntry, StoreError> {
    let sha256 = file.sha256.parse().map_err(|_| StoreError::damaged("catalog: the digest of a file"))?;
    Ok(FileEntry { path: file.path.clone(), size: file.size, sha256 })
}

/// The root of a split of these files.
pub(crate) fn root_of(entries: &[FileEntry]) -> Outcome<Digest> {
    root(entries).map_err(|error| {
        Refusal::invalid(Code::E012, error.to_string(), "paths are unique in a split; import one of them elsewhere")
    })
}

fn drafted(split: &str, root: Digest, mut files: Vec<FileDoc>) -> SplitDraft {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let rows = files.len() as u64;
    let body = SplitBody::Files(FilesDoc { files, paths: None });
    SplitDraft { name: split.to_owned(), rows, root, body, base: None }
}

/// The files of the head's split that are stored under this label, by path.
fn known(session: &Session, target: &Target, split: &str, label: &Label) -> Outcome<HashMap<String, FileDoc>> {
    let doc = target.head.as_ref().and_then(|(version, _)| resolve::split(version, split));
    let Some(doc) = doc.filter(|doc| doc.files && doc.label == label.name()) else { return Ok(HashMap::new()) };
    let files = load(&session.store, &target.dataset.id, doc)?.files.into_iter();
    let stored = files.filter(|file| matches!(file.at, FileAt::Objects(_)));
    Ok(stored.map(|file| (file.path.clone(), file)).collect())
}

fn pinned_and_sealed(split: &str, label: &Label) -> Box<Refusal> {
    Refusal::usage(
        Code::E103,
        format!("split `{split}` is `{}`, and mounted files lie in the clear", label.name()),
        "leave `--mode mounted` out, so that they are copied into the store and sealed there",
    )
}

fn part_problem(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("has an empty part"),
        "." | ".." => Some("leads elsewhere"),
        part => name_problem(part),
    }
}

fn pour(tree: &dyn Tree, index: usize, take: Take<'_>) -> Outcome<()> {
    let unreadable = |error: io::Error| unreadable(tree, index, &error);
    let (mut file, mut buffer) = (tree.open(index).map_err(unreadable)?, vec![0; STEP]);
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(()),
            count => take(&buffer[..count])?,
        }
    }
}

fn digest(tree: &dyn Tree, index: usize) -> io::Result<(u64, Digest)> {
    let (mut file, mut buffer, mut hasher, mut size) = (tree.open(index)?, vec![0; STEP], Sha256::new(), 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((size, Digest::from_bytes(hasher.finalize().into()))),
            count => {
                hasher.update(&buffer[..count]);
                size += count as u64;
            }
        }
    }
}

fn unreadable(tree: &dyn Tree, index: usize, error: &io::Error) -> Box<Refusal> {
    crate::import::unreadable(&tree.place(index), error)
}
