//! Everything sealed in a store that the caller may see, as texts to search for.
//!
//! *Invariant:* every look is logged before; what is open in the newest version of a dataset is no secret.

use std::collections::{BTreeSet, HashMap, HashSet};

use heldset_core::canonical;
use heldset_core::digest::Digest;
use heldset_core::value::Value;
use heldset_core::visibility::{Grant, Label, Policy, SplitLabels, decide};
use heldset_store::documents::{AuditDoc, DatasetDoc, PackDoc, SplitDoc};
use heldset_store::pack::Group;
use heldset_store::{DatasetKeys, StoreError};

use super::needles::{Needles, SHORTEST};
use crate::files;
use crate::log;
use crate::refusal::Outcome;
use crate::resolve::{datasets, policy_of, versions};
use crate::rows::{Reading, SplitRows};
use crate::session::Session;

/// What kind of thing is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretKind {
    /// The text of a cell, or in one.
    Text,
    /// A file.
    File,
    /// The mark of a sealed split.
    Canary,
}

/// Something sealed: what it is of, and not what it says.
#[derive(Clone)]
pub(super) struct Secret {
    pub(super) kind: SecretKind,
    pub(super) dataset: String,
    pub(super) split: String,
    /// The record, or the path of the file.
    pub(super) record: Option<String>,
    pub(super) field: Option<String>,
    /// How many more records have the same text.
    pub(super) more: u64,
}

/// All secrets of a store.
#[derive(Default)]
pub(super) struct Secrets {
    pub(super) all: Vec<Secret>,
    pub(super) needles: Needles,
    /// Sealed files, by their digests.
    pub(super) files: HashMap<[u8; 32], u32>,
    open: HashSet<u32>,
}

/// A split with the labels it had in some version, and what the caller may look at.
struct Known<'k> {
    dataset: &'k DatasetDoc,
    split: &'k str,
    labels: Vec<(SplitLabels, Grant)>,
    keys: Option<&'k DatasetKeys>,
}

impl Secrets {
    /// Gathers them from all datasets.
    pub(super) fn gather(session: &Session) -> Outcome<Secrets> {
        let mut secrets = Secrets::default();
        let datasets = datasets(&session.store)?;
        for dataset in &datasets {
            secrets.add_dataset(session, dataset)?;
        }
        secrets.needles.ready();
        for dataset in &datasets {
            secrets.drop_open(session, dataset)?;
        }
        let open = std::mem::take(&mut secrets.open);
        secrets.needles.retain(|secret| !open.contains(&secret));
        Ok(secrets)
    }

    fn add_dataset(&mut self, session: &Session, dataset: &DatasetDoc) -> Outcome<()> {
        log_look(session, dataset)?;
        let keys = session.store.keys().load(&dataset.id)?;
        let mut splits: Vec<(String, Vec<(SplitLabels, Grant)>)> = Vec::new();
        let mut seen = HashSet::new();
        for version in versions(&session.store, dataset)? {
            let policy = policy_of(&version)?;
            let grant = decide(&policy, session.viewer, session.viewer.place());
            for doc in &version.splits {
                let labels = policy.in_split(&doc.name)?;
                if doc.files && !labels.own().is_open() && grant.covers(labels.own()) && seen.insert(doc.root.clone()) {
                    let (store, keys) = (&session.store, keys.as_ref());
                    let reading = Reading { store, keys, dataset: &dataset.id, labels: &labels, grant: &grant };
                    let files = files::load(store, &dataset.id, doc)?.files;
                    for file in files.into_iter().filter(|file| file.size >= SHORTEST as u64) {
                        let digest = files::read(&reading, &file, &mut |_| Ok(()))?;
                        self.add_file(dataset, &doc.name, &file.path, &digest);
                    }
                }
                match splits.iter_mut().find(|(name, _)| *name == doc.name) {
                    Some((_, known)) => known.push((labels, grant.clone())),
                    None => splits.push((doc.name.clone(), vec![(labels, grant.clone())])),
                }
            }
        }
        for (split, labels) in splits {
            let sealed =
                |(labels, _): &(SplitLabels, Grant)| labels.sealed().next().is_some() || !labels.own().is_open();
            if let Some(canary) = dataset.canaries.get(&split).filter(|_| labels.iter().any(sealed)) {
                let secret = self.secret(SecretKind::Canary, dataset, &split, None, None);
                self.needles.add(canary.as_bytes(), secret);
            }
            let known = Known { dataset, split: &split, labels, keys: keys.as_ref() };
            for (_, pack) in SplitRows::known(&session.store, &dataset.id, &split)?.packs {
                self.add_pack(session, &known, &pack)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, dataset: &DatasetDoc, split: &str, path: &str, digest: &Digest) {
        let secret = self.secret(SecretKind::File, dataset, split, Some(path.to_owned()), None);
        self.files.entry(*digest.as_bytes()).or_insert(secret);
    }

    fn add_pack(&mut self, session: &Session, known: &Known<'_>, pack: &PackDoc) -> Outcome<()> {
        let sealed: Vec<_> = pack.objects.iter().filter(|object| object.checks.is_none()).collect();
        let mut ids: Option<Group> = None;
        for object in sealed {
            let Some((label, grant)) = known.label(&object.label) else { continue };
            let (store, dataset) = (&session.store, known.dataset.id.as_str());
            let group = store.group(object, dataset, known.keys, label, &[], false)?;
            let group = group.open(grant).map_err(StoreError::internal)?;
            if group.rows() > 0 && group.id(0).is_none() && ids.is_none() {
                ids = known.ids(session, pack)?;
            }
            for row in 0..group.rows() {
                let id = group.id(row).or_else(|| ids.as_ref().and_then(|ids| ids.id(row)));
                for (field, value) in group.fields(row).iter() {
                    self.add_value(known, (id, field), value);
                }
            }
        }
        Ok(())
    }

    fn add_value(&mut self, known: &Known<'_>, place: (Option<&str>, &str), value: &Value<'_>) {
        each_text(value, &mut |text| {
            if text.chars().take(SHORTEST).count() < SHORTEST {
                return;
            }
            let next = self.all.len() as u32;
            if let Some(secret) = self.needles.add(text.as_bytes(), next) {
                self.all[secret as usize].more += 1;
                return;
            }
            let (record, field) = (place.0.map(str::to_owned), Some(place.1.to_owned()));
            let secret = self.secret(SecretKind::Text, known.dataset, known.split, record, field);
            for form in escaped(text) {
                self.needles.add(form.as_bytes(), secret);
            }
        });
    }

    fn secret(
        &mut self,
        kind: SecretKind,
        dataset: &DatasetDoc,
        split: &str,
        record: Option<String>,
        field: Option<String>,
    ) -> u32 {
        let (dataset, split) = (dataset.slug.clone(), split.to_owned());
        self.all.push(Secret { kind, dataset, split, record, field, more: 0 });
        self.all.len() as u32 - 1
    }

    /// Notes the secrets that stand in open cells of the newest version.
    fn drop_open(&mut self, session: &Session, dataset: &DatasetDoc) -> Outcome<()> {
        let version = crate::resolve::version(&session.store, dataset, dataset.head)?;
        let policy = policy_of(&version)?;
        let grant = decide(&policy, session.viewer, session.viewer.place());
        for doc in &version.splits {
            if doc.files {
                self.drop_files(session, dataset, doc, &policy)?;
                continue;
            }
            let rows = SplitRows::load(&session.store, &dataset.id, doc)?;
            let labels = policy.in_split(&doc.name)?;
            let packs: BTreeSet<usize> = rows.runs()?.iter().map(|run| run.pack).collect();
            for pack in packs {
                let pack = &rows.packs[pack].1;
                for object in pack.objects.iter().filter(|object| object.checks.is_some()) {
                    let label = std::iter::once(labels.own()).chain(labels.labels());
                    let Some(label) = label.into_iter().find(|label| label.name() == object.label) else { continue };
                    if grant.covers(label) {
                        let group = session.store.group(object, &dataset.id, None, label, &[], false)?;
                        self.drop_texts(&group.open(&grant).map_err(StoreError::internal)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// Forgets the files of an open split.
    fn drop_files(&mut self, session: &Session, dataset: &DatasetDoc, doc: &SplitDoc, policy: &Policy) -> Outcome<()> {
        if policy.in_split(&doc.name)?.own().is_open() {
            for file in files::load(&session.store, &dataset.id, doc)?.files {
                self.files.remove(files::entry_of(&file)?.sha256.as_bytes());
            }
        }
        Ok(())
    }

    fn drop_texts(&mut self, group: &Group) {
        let (mut search, open) = (self.needles.search(), &mut self.open);
        let mut note = |secret: u32, _: u64| {
            open.insert(secret);
        };
        for row in 0..group.rows() {
            for (_, value) in group.fields(row).iter() {
                each_text(value, &mut |text| {
                    search.push(text.as_bytes(), &mut note);
                    search.push(&[0], &mut note);
                });
            }
        }
        search.finish(&mut note);
    }
}

impl Known<'_> {
    /// The label of that name that the caller may look at.
    fn label(&self, name: &str) -> Option<(&Label, &Grant)> {
        let mut all = self.labels.iter().flat_map(|(labels, grant)| {
            std::iter::once(labels.own()).chain(labels.labels()).map(move |label| (label, grant))
        });
        all.find(|(label, grant)| label.name() == name && grant.covers(label))
    }

    /// The group with the ids of a pack, if the caller may look at it.
    fn ids(&self, session: &Session, pack: &PackDoc) -> Outcome<Option<Group>> {
        for (labels, grant) in &self.labels {
            let own = labels.own();
            let Some(object) = pack.objects.iter().find(|object| object.label == own.name()) else { continue };
            if grant.covers(own) {
                let group = session.store.group(object, &self.dataset.id, self.keys, own, &[], true)?;
                let group = group.open(grant).map_err(StoreError::internal)?;
                if group.rows() == 0 || group.id(0).is_some() {
                    return Ok(Some(group));
                }
            }
        }
        Ok(None)
    }
}

/// Every text in a value.
fn each_text(value: &Value<'_>, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, take)),
        Value::Object(object) => object.iter().for_each(|(_, value)| each_text(value, take)),
        _ => {}
    }
}

/// The text as it stands inside JSON: as short as can be, and with nothing but ASCII.
fn escaped(text: &str) -> Vec<String> {
    let mut short = Vec::new();
    canonical::write_text(text, &mut short);
    let short = String::from_utf8(short).unwrap_or_default();
    let short = short.get(1..short.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let mut ascii = String::with_capacity(short.len());
    for one in short.chars() {
        if one.is_ascii() {
            ascii.push(one);
        } else {
            let mut units = [0; 2];
            for unit in one.encode_utf16(&mut units) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    let mut forms = vec![short, ascii];
    forms.dedup();
    forms.retain(|form| form != text);
    forms
}

fn log_look(session: &Session, dataset: &DatasetDoc) -> Outcome<()> {
    let version = crate::resolve::version(&session.store, dataset, dataset.head)?;
    let policy = policy_of(&version)?;
    let mut labels = BTreeSet::new();
    for split in &version.splits {
        let of_split = policy.in_split(&split.name)?;
        let all = std::iter::once(of_split.own()).chain(of_split.labels());
        let seen = all.filter(|label| !label.is_open() && session.viewer.sees(label));
        labels.extend(seen.map(|label| label.name().to_owned()));
    }
    let entry = AuditDoc {
        time: session.clock.now(),
        who: session.user.clone(),
        audience: session.viewer.name().to_owned(),
        place: session.viewer.place().name().to_owned(),
        purpose: "scan".to_owned(),
        dataset: dataset.slug.clone(),
        version: version.digest.clone(),
        splits: version.splits.iter().map(|split| split.name.clone()).collect(),
        labels: labels.into_iter().collect(),
        rows: version.splits.iter().map(|split| split.rows).sum(),
        allowed: true,
        note: None,
    };
    Ok(log::append(session, &entry, true)?)
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_text_has_the_forms_that_json_gives_it() {
        assert!(escaped("plain text").is_empty());
        assert_eq!(escaped("a\n\"b\""), ["a\\n\\\"b\\\""]);
        assert_eq!(escaped("é\t"), ["é\\t", "\\u00e9\\t"]);
        assert_eq!(escaped("😀"), ["\\ud83d\\ude00"]);
    }
}
