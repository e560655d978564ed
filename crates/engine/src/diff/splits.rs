//! One split of two versions: which rows only one of them has, and which differ.
//!
//! *Invariant:* memory is bounded by the ids of the chunks that are not in both, not by their fields.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use heldset_core::canonical;
use heldset_core::digest::{Digest, sha256};
use heldset_store::StoreError;

use super::detail::{At, Pair, details};
use super::{Changed, FieldChange};
use crate::refusal::Outcome;
use crate::rows::SplitRows;
use crate::session::Session;
use crate::view::{Batch, View, VisibleSplit};

/// A split of two versions, compared.
pub(super) struct Compared<'v, 's> {
    pub(super) name: Arc<str>,
    left: Option<Half<'v, 's>>,
    right: Option<Half<'v, 's>>,
    /// What only the other has.
    pub(super) added: Vec<Found>,
    /// What only the one has.
    pub(super) removed: Vec<Found>,
    /// Rows that both have, and that differ.
    pairs: Vec<Pair>,
    /// Files that both have, and that differ.
    files: Vec<(String, Vec<FieldChange>)>,
}

/// What only one of the versions has.
pub(super) struct Found {
    /// The id, or the path of a file.
    pub(super) id: String,
    /// Where a record is.
    pub(super) at: Option<At>,
    /// Whether it turned out to have moved.
    pub(super) taken: bool,
}

/// A split of records of one of the versions.
pub(super) struct Half<'v, 's> {
    pub(super) view: &'v View<'s>,
    pub(super) split: &'v VisibleSplit,
    pub(super) rows: SplitRows,
}

/// A row of the one version that was not met in the other yet.
struct Seen {
    digest: Digest,
    at: At,
    order: usize,
}

type Files = HashMap<String, (u64, String)>;

impl<'v, 's> Compared<'v, 's> {
    /// Compares the splits of that name.
    pub(super) fn of(
        session: &Session,
        a: Option<&'v View<'s>>,
        b: Option<&'v View<'s>>,
        name: String,
    ) -> Outcome<Compared<'v, 's>> {
        let find = |view: Option<&'v View<'s>>| {
            let view = view?;
            Some((view, view.splits.iter().find(|split| split.doc.name == name)?))
        };
        let (a, b) = (find(a), find(b));
        let mut compared = Compared {
            name: name.as_str().into(),
            left: None,
            right: None,
            added: Vec::new(),
            removed: Vec::new(),
            pairs: Vec::new(),
            files: Vec::new(),
        };
        if let (Some((_, a)), Some((_, b))) = (a, b)
            && (&a.doc.root, a.doc.files, &a.labels) == (&b.doc.root, b.doc.files, &b.labels)
        {
            return Ok(compared);
        }
        compared.compare_files(files_of(session, a)?, files_of(session, b)?);
        compared.left = half(a)?;
        compared.right = half(b)?;
        compared.compare_rows()?;
        Ok(compared)
    }

    fn compare_files(&mut self, a: Vec<(String, (u64, String))>, b: Vec<(String, (u64, String))>) {
        let found = |id: String| Found { id, at: None, taken: false };
        let mut known: Files = a.iter().cloned().collect();
        for (path, (size, sha256)) in b {
            match known.remove(&path) {
                None => self.added.push(found(path)),
                Some((old_size, old_sha256)) => {
                    let field = |name: &str, before: String, after: String| {
                        (before != after).then(|| FieldChange {
                            name: name.to_owned(),
                            before: Some(before),
                            after: Some(after),
                        })
                    };
                    let size = field("size", old_size.to_string(), size.to_string());
                    let fields: Vec<_> = size.into_iter().chain(field("sha256", old_sha256, sha256)).collect();
                    if !fields.is_empty() {
                        self.files.push((path, fields));
                    }
                }
            }
        }
        self.removed.extend(a.into_iter().map(|(path, _)| path).filter(|path| known.contains_key(path)).map(found));
    }

    fn compare_rows(&mut self) -> Outcome<()> {
        let (left, right) = (self.left.as_ref(), self.right.as_ref());
        let same_labels = left.zip(right).is_some_and(|(left, right)| left.split.labels == right.split.labels);
        let ids_only = left.is_none() || right.is_none();
        let print = Fingerprint { same_labels, ids_only };
        let common: HashSet<Digest> = match left.zip(right).filter(|_| same_labels) {
            Some((left, right)) => {
                let known: HashSet<Digest> = left.rows.chunks.iter().map(|(root, _)| *root).collect();
                right.rows.chunks.iter().map(|(root, _)| *root).filter(|root| known.contains(root)).collect()
            }
            None => HashSet::new(),
        };
        let mut seen: HashMap<Box<str>, Seen> = HashMap::new();
        if let Some(left) = left {
            left.each_row(&common, &print, |id, digest, at| {
                let order = seen.len();
                seen.insert(id.into(), Seen { digest, at, order });
            })?;
        }
        let (mut added, mut pairs) = (Vec::new(), Vec::new());
        if let Some(right) = right {
            right.each_row(&common, &print, |id, digest, at| match seen.remove(id) {
                None => added.push(Found { id: id.to_owned(), at: Some(at), taken: false }),
                Some(known) if known.digest == digest => {}
                Some(known) => pairs.push((known.at, at)),
            })?;
        }
        let mut removed: Vec<(Box<str>, Seen)> = seen.into_iter().collect();
        removed.sort_unstable_by_key(|(_, seen)| seen.order);
        let found = |(id, seen): (Box<str>, Seen)| Found { id: id.into(), at: Some(seen.at), taken: false };
        self.removed.extend(removed.into_iter().map(found));
        self.added.extend(added);
        self.pairs = pairs;
        Ok(())
    }

    /// Adds what changed in the records and files that both have.
    pub(super) fn changes(&self, values: bool, changed: &mut Vec<Changed>) -> Outcome<()> {
        for (id, fields) in &self.files {
            let field = |field: &FieldChange| FieldChange {
                name: field.name.clone(),
                before: field.before.clone().filter(|_| values),
                after: field.after.clone().filter(|_| values),
            };
            let fields = fields.iter().map(field).collect();
            changed.push(Changed { id: id.clone(), split: self.name.clone(), fields });
        }
        changes_between(self, self, &self.pairs, values, changed)
    }
}

/// Adds what changed from rows of the one version to rows of the other.
pub(super) fn changes_between(
    from: &Compared<'_, '_>,
    to: &Compared<'_, '_>,
    pairs: &[Pair],
    values: bool,
    changed: &mut Vec<Changed>,
) -> Outcome<()> {
    let Some((left, right)) = from.left.as_ref().zip(to.right.as_ref()) else { return Ok(()) };
    details(left, right, pairs, values, |id, fields| {
        changed.push(Changed { id: id.to_owned(), split: to.name.clone(), fields });
    })
}

fn half<'v, 's>(found: Option<(&'v View<'s>, &'v VisibleSplit)>) -> Outcome<Option<Half<'v, 's>>> {
    match found.filter(|(_, split)| !split.doc.files) {
        Some((view, split)) => Ok(Some(Half { view, split, rows: view.rows(split)? })),
        None => Ok(None),
    }
}

fn files_of(session: &Session, found: Option<(&View<'_>, &VisibleSplit)>) -> Outcome<Vec<(String, (u64, String))>> {
    let Some((view, split)) = found.filter(|(_, split)| split.doc.files) else { return Ok(Vec::new()) };
    let files = crate::files::load(&session.store, &view.resolved.dataset.id, &split.doc)?;
    Ok(files.files.into_iter().map(|file| (file.path, (file.size, file.sha256))).collect())
}

impl Half<'_, '_> {
    /// Hands out the rows of all chunks but some, in order.
    fn each_row(
        &self,
        but: &HashSet<Digest>,
        print: &Fingerprint,
        mut take: impl FnMut(&str, Digest, At),
    ) -> Outcome<()> {
        let wanted = self.rows.chunks.iter().enumerate().filter(|(_, (root, _))| !but.contains(root));
        let reading = self.view.reading(self.split);
        let mut bytes = Vec::new();
        for run in self.rows.runs_of(wanted.map(|(index, _)| index))? {
            let pack = &self.rows.packs[run.pack].1;
            let groups = match print.ids_only {
                true => vec![reading.own_group(pack, &run.rows, true)?],
                false => reading.groups(pack, &run.rows)?,
            };
            let batch = Batch::of(groups);
            for (index, row) in run.rows.iter().cloned().flatten().enumerate() {
                let digest = print.of(&batch, index, &mut bytes)?;
                take(batch.id(index), digest, At { pack: run.pack, row });
            }
        }
        Ok(())
    }
}

/// What rows are compared by: a digest over what can be seen of them.
struct Fingerprint {
    /// Whether a field has the same label on both sides, so that its group's bytes can be taken as they are.
    same_labels: bool,
    /// Whether there is nothing to compare with.
    ids_only: bool,
}

impl Fingerprint {
    fn of(&self, batch: &Batch, row: usize, bytes: &mut Vec<u8>) -> Result<Digest, StoreError> {
        bytes.clear();
        if self.same_labels && !self.ids_only {
            for group in batch.groups() {
                let start = bytes.len();
                group.canonical(row, bytes);
                if bytes.len() > start {
                    bytes.push(0);
                    bytes.extend_from_slice(group.label().name().as_bytes());
                    bytes.push(0);
                }
            }
        } else if !self.ids_only {
            canonical::write_object(&batch.record(row)?.fields, bytes);
        }
        Ok(sha256(bytes))
    }
}
