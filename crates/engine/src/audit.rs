//! `audit`: who looked at what, signed checkpoints of the log, and the check that all of it is still there.
//!
//! *Invariant:* a checkpoint covers every entry before it; the log is read, never changed.

use std::collections::{BTreeSet, HashMap};

use heldset_core::audit::{AuditError, Checkpoint, verify as verify_log};
use heldset_core::merkle::Tree;
use heldset_core::value::{Object, Value};
use heldset_store::StoreError;
use heldset_store::documents::{AuditDoc, AuditHeadDoc, Document, audit_head_key, audit_key};
use heldset_store::{Signed, is_signed, public_key, sign};

use crate::log::{head_of, tree_of};
use crate::refusal::Outcome;
use crate::resolve::{find_dataset, versions};
use crate::session::Session;
use crate::verify::shown;
use crate::view::hidden_splits;

/// An entry with its number.
pub struct Entry {
    /// Its number, from 0.
    pub number: u64,
    /// What it says.
    pub entry: AuditDoc,
}

impl Entry {
    /// The entry as a record: its number as id, and what it says.
    pub fn record(&self) -> (String, Object<'static>) {
        let entry = &self.entry;
        let texts = |texts: &[String]| Value::Array(texts.iter().map(|text| Value::from(text.clone())).collect());
        let mut record = Object::new();
        for (name, text) in [
            ("time", &entry.time),
            ("who", &entry.who),
            ("audience", &entry.audience),
            ("place", &entry.place),
            ("purpose", &entry.purpose),
            ("dataset", &entry.dataset),
            ("version", &entry.version),
        ] {
            record.set(name, Value::from(text.clone()));
        }
        record.set("splits", texts(&entry.splits));
        record.set("labels", texts(&entry.labels));
        record.set("rows", Value::Number(heldset_core::number::Number::from_u64(entry.rows)));
        record.set("allowed", Value::Bool(entry.allowed));
        if let Some(note) = &entry.note {
            record.set("note", Value::from(note.clone()));
        }
        (format!("{:08}", self.number), record)
    }
}

/// A checkpoint with its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    /// What the log held.
    pub checkpoint: Checkpoint,
    /// The signature over it.
    pub signed: Signed,
}

/// What the check of the log found.
pub struct Checked {
    /// How many entries there are.
    pub entries: u64,
    /// The head of the tree over them, in hex.
    pub root: String,
    /// What is wrong.
    pub problems: Vec<String>,
}

/// The newest entries, the newest last: of one dataset, or of all; as many as asked for.
pub fn entries(session: &Session, dataset: Option<&str>, limit: Option<usize>) -> Outcome<Vec<Entry>> {
    session.must_manage("audit")?;
    let (mut entries, mut hidden) = (Vec::new(), HashMap::new());
    for (key, bytes) in session.store.catalog().scan("audit", "")? {
        let what = format!("catalog: audit/{key}");
        let number = key.parse().map_err(|_| StoreError::damaged(what.as_str()))?;
        let mut entry = AuditDoc::from_bytes(&bytes, &what)?;
        if dataset.is_none_or(|slug| entry.dataset == slug) {
            hide_splits(session, &mut entry, &mut hidden)?;
            entries.push(Entry { number, entry });
        }
    }
    let first = limit.map_or(0, |limit| entries.len().saturating_sub(limit));
    Ok(entries.split_off(first))
}

/// What the log holds now, signed.
pub fn checkpoint(session: &Session) -> Outcome<SignedCheckpoint> {
    let store = &session.store;
    let head: Option<AuditHeadDoc> = store.document(&audit_head_key())?;
    let tree = tree_of(&head.unwrap_or_default())?;
    let checkpoint = Checkpoint::of(store.id(), &tree, &session.clock.now());
    let signed = sign(store.keys(), store.entropy(), &checkpoint.signed_bytes())?;
    Ok(SignedCheckpoint { checkpoint, signed })
}

/// Takes out the names of splits that the caller may not know.
fn hide_splits(session: &Session, entry: &mut AuditDoc, hidden: &mut HashMap<String, BTreeSet<String>>) -> Outcome<()> {
    if entry.splits.is_empty() {
        return Ok(());
    }
    if !hidden.contains_key(&entry.dataset) {
        let names = match find_dataset(&session.store, &entry.dataset)? {
            Some(dataset) => hidden_splits(session, &versions(&session.store, &dataset)?)?,
            None => BTreeSet::new(),
        };
        hidden.insert(entry.dataset.clone(), names);
    }
    let names = &hidden[&entry.dataset];
    entry.splits.retain(|split| !names.contains(split));
    Ok(())
}

/// [`checkpoint`] for those who keep the store.
pub fn checkpoint_for(session: &Session) -> Outcome<SignedCheckpoint> {
    session.must_manage("audit")?;
    checkpoint(session)
}

/// Checks the log by itself and against checkpoints, each with the name it is told by.
pub fn verify(session: &Session, checkpoints: &[(String, SignedCheckpoint)]) -> Outcome<Checked> {
    session.must_manage("audit")?;
    let store = &session.store;
    let (log, head) = match read_log(session) {
        Ok(read) => read,
        Err(StoreError::Damaged { what } | StoreError::Missing { what }) => {
            let problem = format!("`{}` is damaged", shown(&what));
            return Ok(Checked { entries: 0, root: String::new(), problems: vec![problem] });
        }
        Err(error) => return Err(error.into()),
    };
    let mut problems = Vec::new();
    for (number, (key, _)) in (0..).zip(&log) {
        if *key != audit_key(number).key {
            problems.push(format!("entry {number} is missing"));
            break;
        }
    }
    let mut tree = Tree::new();
    log.iter().for_each(|(_, bytes)| tree.push_entry(bytes));
    if head_of(&tree) != head {
        let (found, said) = (tree.size(), head.size);
        problems.push(format!("the log has {found} entries that are not the {said} its head stands for"));
    }
    let known = public_key(store.keys())?;
    for (name, signed) in checkpoints {
        problems.extend(signed.problem(known.as_deref()).map(|why| format!("checkpoint `{name}`: {why}")));
        let entries = log.iter().map(|(_, bytes)| bytes);
        let agrees = verify_log(store.id(), entries, std::slice::from_ref(&signed.checkpoint));
        problems.extend(agrees.err().map(|error| format!("checkpoint `{name}`: {error}")));
    }
    Ok(Checked { entries: tree.size(), root: tree.head().hex(), problems })
}

type Log = Vec<(String, Vec<u8>)>;

/// All entries and the head at one moment: a head that did not move while they were read.
fn read_log(session: &Session) -> Result<(Log, AuditHeadDoc), StoreError> {
    let store = &session.store;
    loop {
        let before: Option<AuditHeadDoc> = store.document(&audit_head_key())?;
        let log = store.catalog().scan("audit", "")?;
        let after: Option<AuditHeadDoc> = store.document(&audit_head_key())?;
        if before == after {
            return Ok((log, before.unwrap_or_default()));
        }
    }
}

impl SignedCheckpoint {
    /// The checkpoint as people keep it.
    pub fn to_value(&self) -> Value<'_> {
        let Value::Object(mut object) = self.checkpoint.to_value() else { return Value::Null };
        object.set("signature", Value::from(self.signed.signature.as_str()));
        object.set("public_key", Value::from(self.signed.public_key.as_str()));
        Value::Object(object)
    }

    /// Reads a checkpoint.
    pub fn from_value(value: &Value<'_>) -> Result<Self, AuditError> {
        let members = value.as_object().ok_or(AuditError::Shape("checkpoint"))?;
        let text = |key| members.get(key).and_then(Value::as_str).ok_or(AuditError::Shape(key)).map(str::to_owned);
        let signed = Signed { signature: text("signature")?, public_key: text("public_key")? };
        let mut inner: Object<'_> = members.clone();
        inner.remove("signature");
        inner.remove("public_key");
        Ok(SignedCheckpoint { checkpoint: Checkpoint::from_value(&Value::Object(inner))?, signed })
    }

    /// What is wrong with the signature.
    fn problem(&self, known: Option<&str>) -> Option<&'static str> {
        if !is_signed(&self.checkpoint.signed_bytes(), &self.signed) {
            return Some("the signature does not fit");
        }
        let other = known.is_some_and(|known| known != self.signed.public_key);
        other.then_some("it is signed by another key than this store's")
    }
}
