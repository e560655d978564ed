//! `scrub`: every entry and every object of the store, read and compared with what it should be.
//!
//! *Invariant:* one problem does not hide the others; what is sealed is opened only to see that it opens.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use heldset_store::documents::{Document, FileAt, FilesDoc, ObjectDoc, PackDoc};
use heldset_store::{Address, DatasetKeys, Key, Store, StoreError, StoreHead, unseal};

use crate::Listener;
use crate::refusal::Outcome;
use crate::session::Session;
use crate::verify::shown;

/// What a scrub found.
pub struct Scrubbed {
    /// How many objects were read.
    pub objects: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// What is damaged or missing.
    pub problems: Vec<Damage>,
    /// How many objects nothing refers to.
    pub orphans: u64,
}

/// Something damaged or missing.
pub struct Damage {
    /// Where: a file, or an entry of the catalogue.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// An object that a document names.
pub(crate) struct Named {
    /// The id of the dataset.
    pub(crate) dataset: String,
    /// What the document says of it.
    pub(crate) object: ObjectDoc,
}

/// Reads everything.
pub fn scrub(session: &Session, listener: &mut dyn Listener) -> Outcome<Scrubbed> {
    session.must_manage("scrub")?;
    let _held = session.store.hold()?;
    let store = &session.store;
    let mut problems: Vec<Damage> = Vec::new();
    if let Some(folder) = store.folder() {
        problems.extend(StoreHead::load(folder.path()).err().map(Damage::of));
    }
    problems.extend(store.catalog().check().into_iter().map(Damage::of));
    let named = named(store, &mut problems)?;
    let listed = store.objects().list()?;
    let keys = keys_of(store, &named);
    problems.extend(absent(store, &named, &listed));
    problems.extend(read_all(store, &named, &listed, &keys, listener));
    problems.sort_by(|a, b| (&a.path, &a.problem).cmp(&(&b.path, &b.problem)));
    problems.dedup_by(|a, b| a.path == b.path);
    Ok(Scrubbed {
        objects: listed.len() as u64,
        bytes: listed.iter().map(|(_, size)| size).sum(),
        problems,
        orphans: listed.iter().filter(|(address, _)| !named.contains_key(address)).count() as u64,
    })
}

impl Damage {
    fn of(error: StoreError) -> Self {
        let problem = match &error {
            StoreError::Damaged { .. } => "it is damaged".to_owned(),
            StoreError::Missing { .. } => "it is missing".to_owned(),
            other => other.to_string(),
        };
        let path = match error {
            StoreError::Damaged { what } | StoreError::Missing { what } => shown(&what),
            StoreError::Io { path, .. } | StoreError::ReadOnly { path } => path,
            _ => "the store".to_owned(),
        };
        Damage { path, problem }
    }
}

/// Every object that a document names, by address. Documents that cannot be read are told.
pub(crate) fn named(store: &Store, problems: &mut Vec<Damage>) -> Result<BTreeMap<Address, Vec<Named>>, StoreError> {
    named_but(store, &BTreeSet::new(), problems)
}

/// The same as if some documents were gone.
pub(crate) fn named_but(
    store: &Store,
    gone: &BTreeSet<Key>,
    problems: &mut Vec<Damage>,
) -> Result<BTreeMap<Address, Vec<Named>>, StoreError> {
    let mut named: BTreeMap<Address, Vec<Named>> = BTreeMap::new();
    for space in ["pack", "files", "run-pack"] {
        let entries = match store.catalog().scan(space, "") {
            Ok(entries) => entries,
            Err(error @ StoreError::Damaged { .. }) => {
                problems.push(Damage::of(error));
                continue;
            }
            Err(error) => return Err(error),
        };
        for (key, bytes) in entries {
            if gone.contains(&Key::new(space, key.as_str())) {
                continue;
            }
            let what = format!("catalog: {}", shown(&format!("{space}/{key}")));
            match objects_of(space, &bytes, &what) {
                Err(error) => problems.push(Damage::of(error)),
                Ok(objects) => {
                    let dataset = key.split('\n').next().unwrap_or_default();
                    for object in objects {
                        match object.address.parse() {
                            Ok(address) => {
                                named.entry(address).or_default().push(Named { dataset: dataset.to_owned(), object });
                            }
                            Err(_) => problems.push(Damage::of(StoreError::damaged(what.as_str()))),
                        }
                    }
                }
            }
        }
    }
    Ok(named)
}

fn objects_of(space: &str, bytes: &[u8], what: &str) -> Result<Vec<ObjectDoc>, StoreError> {
    if space != "files" {
        let pack = PackDoc::from_bytes(bytes, what)?;
        return Ok(pack.objects.into_iter().chain([pack.ids]).collect());
    }
    let files = FilesDoc::from_bytes(bytes, what)?;
    let objects = files.files.into_iter().filter_map(|file| match file.at {
        FileAt::Objects(objects) => Some(objects),
        FileAt::Pinned(_) => None,
    });
    Ok(objects.flatten().collect())
}

/// The keys that are here. One that cannot be read is for `doctor` to tell.
fn keys_of(store: &Store, named: &BTreeMap<Address, Vec<Named>>) -> BTreeMap<String, DatasetKeys> {
    let mut keys = BTreeMap::new();
    for dataset in named.values().flatten().map(|named| &named.dataset) {
        if !keys.contains_key(dataset)
            && let Ok(Some(found)) = store.keys().load(dataset)
        {
            keys.insert(dataset.clone(), found);
        }
    }
    keys
}

/// Objects that are named and not there, or of another size.
fn absent(store: &Store, named: &BTreeMap<Address, Vec<Named>>, listed: &[(Address, u64)]) -> Vec<Damage> {
    let mut found = Vec::new();
    for (address, uses) in named {
        let path = store.objects().path_of(address);
        match listed.binary_search_by_key(address, |(address, _)| *address) {
            Err(_) => found.push(Damage { path, problem: "it is missing".to_owned() }),
            Ok(at) => {
                let size = listed[at].1;
                if let Some(other) = uses.iter().find(|named| named.object.size != size) {
                    let problem = format!("it has {size} bytes, not {}", other.object.size);
                    found.push(Damage { path, problem });
                }
            }
        }
    }
    found
}

/// Reads every object whole, on all cores.
fn read_all(
    store: &Store,
    named: &BTreeMap<Address, Vec<Named>>,
    listed: &[(Address, u64)],
    keys: &BTreeMap<String, DatasetKeys>,
    listener: &mut dyn Listener,
) -> Vec<Damage> {
    let (next, (send, receive)) = (&AtomicUsize::new(0), channel());
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(listed.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            scope.spawn(move || {
                while let Some((address, size)) = listed.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let uses = named.get(address).map_or(&[][..], Vec::as_slice);
                    if send.send((read_one(store, address, uses, keys), *size)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let (mut done, mut found) = (0, Vec::new());
        for (count, (damage, size)) in (1..).zip(receive) {
            done += size;
            listener.progress(done, count);
            found.extend(damage);
        }
        found
    })
}

fn read_one(store: &Store, address: &Address, uses: &[Named], keys: &BTreeMap<String, DatasetKeys>) -> Option<Damage> {
    let bytes = match store.objects().get(address) {
        Ok(bytes) => bytes,
        Err(error) => return Some(Damage::of(error)),
    };
    let path = store.objects().path_of(address);
    for Named { dataset, object } in uses.iter().filter(|named| named.object.checks.is_none()) {
        let Some(keys) = keys.get(dataset) else { continue };
        match unseal(bytes.clone(), keys, dataset, &object.label, &path) {
            Ok(_) | Err(StoreError::NoKey { .. }) => {}
            Err(_) => return Some(Damage { path, problem: "it does not open with the dataset's key".to_owned() }),
        }
    }
    None
}
